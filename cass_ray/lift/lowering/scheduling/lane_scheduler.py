"""Independent scheduling of the lanes of a warp, for kernels in which they wait for each other
(``convergence.forward_progress``).

In rounds each lane runs up to where its turn ends: in a loop that waits, at a barrier of the block,
or where lanes of its warp reconverge; lanes whose turns begin at one place run together. What waits
for others begins its next turn when each of them has come, has ended, or, at ``BSYNC``, has
yielded. When no lane can go on, the wave goes to the barrier of the block.
"""

from __future__ import annotations

from enum import IntEnum

from cass_ray.lift.convergence.forward_progress import LaneSchedule
from cass_ray.lift.errors import LiftError
from cass_ray.lift.llvm.builder import FALSE, TRUE, IRBuilder, Value, i32
from cass_ray.lift.lowering.registers import RegisterFile
from cass_ray.lift.lowering.scheduling.warp_scheduler import ENDED_PLACE, WarpScheduler
from cass_ray.lift.lowering.target import WAIT_FOR_LDS, WARP_LANES, LiftTarget


class LaneState(IntEnum):
    """What a lane waits for whose turn has ended."""

    NOTHING = 0
    YIELDED = 1
    BARRIER = 2
    """All threads of the block."""
    WARP = 3
    """The lanes of a mask, each at some ``WARPSYNC`` with it."""
    REGION = 4
    """The lanes that came to a ``BSSY`` together, at its ``BSYNC``."""
    COLLECTIVE = 5
    """The lanes of a mask, all at one collective."""
    COLLECTIVE_OF_MASK = 6
    """This is COLLECTIVE, but lanes with one mask do not wait for lanes with another one."""


_PLACE, _STATE, _MASK, _BEHIND = (
    Value("ptr addrspace(5)", f"%turn.{name}") for name in ("place", "state", "mask", "behind")
)
_AT, _IS = Value("i32", "%turn.at"), Value("i32", "%turn.is")
_LIVES = Value("i1", "%turn.lives")
_GOES = Value("i1", "%turn.goes")
_LEFT, _HERE = "%turn.left_then", "%turn.here_then"
_NUMBER = Value("i32", "%turn.number")
_WARP_SHIFT = Value("i64", "%turn.shift")
_SECOND = "%turn.second"
_ERROR = 'call void asm sideeffect "s_trap 2", ""()'


class LaneScheduler(WarpScheduler):
    """Writes where a lane stops, and what lets all of them go on."""

    def __init__(
        self, ir: IRBuilder, registers: RegisterFile, target: LiftTarget, schedule: LaneSchedule
    ) -> None:
        super().__init__(ir, registers)
        self.schedule = schedule
        self._target = target
        self._has_masks = False
        self._has_masked_collectives = False
        self._behind: dict[str, list[str]] = {}
        """Blocks with collectives, and where lanes go on behind them."""
        self._regions: dict[int, str] = {}
        """Places behind ``BSYNC``, and the convergence barriers at which they are."""
        self.exited_barriers: set[str] = set()
        """Convergence barriers that lanes may leave: what they keep of it is 0 then."""
        self.restored_barriers: set[str] = set()
        """Barriers that calls save and restore."""

    def pause(self, label: str, *, at_barrier: bool, yields: bool = False) -> None:
        """End the turn; the next one begins at ``label``, a block that knows no registers.

        ``yields``: lanes that wait for this one at ``BSYNC`` go on without it.
        """
        state = LaneState.YIELDED if yields else LaneState.NOTHING
        self._stop(label, LaneState.BARRIER if at_barrier else state)

    def wait_at_warpsync(self, label: str, mask: Value) -> None:
        """Go on at ``label`` when the lanes of ``mask`` have come here, or to another
        ``WARPSYNC``."""
        self._wait_for(mask)
        self._stop(label, LaneState.WARP)

    def wait_at_collective(
        self, collective: str, mask: Value, behind: str, *, of_mask_alone: bool
    ) -> None:
        """Go on at ``collective`` when all lanes of ``mask`` do, and then at ``behind``.

        Both are labels; the block ``collective`` ends with :meth:`go_on_apart`.
        ``of_mask_alone``: without lanes that come with another mask.
        """
        self._wait_for(mask)
        self._has_masked_collectives = self._has_masked_collectives or of_mask_alone
        targets = self._behind.setdefault(collective, [])
        if behind not in targets:
            targets.append(behind)
        self._ir.store(i32(targets.index(behind)), _BEHIND, 4)
        self._stop(
            collective, LaneState.COLLECTIVE_OF_MASK if of_mask_alone else LaneState.COLLECTIVE
        )

    def _wait_for(self, mask: Value) -> None:
        self._has_masks = True
        self._ir.store(mask, _MASK, 4)

    def go_on_apart(self, collective: str) -> None:
        """End the block ``collective``: each lane goes on behind where it came from."""
        self._registers.flush()
        self._ir.line(f"br {collective}.behind")

    def wait_at_bsync(self, label: str, barrier: str) -> None:
        """Go on at ``label`` when the lanes have come that the convergence ``barrier`` is for."""
        self._registers.read(barrier, "i32")  # as the choice does: the mask is not dead before
        self._regions[self._stop(label, LaneState.REGION)] = barrier

    def _stop(self, label: str, state: LaneState) -> int:
        place = self._keep(label)
        self._ir.store(i32(place), _PLACE, 4)
        self._ir.store(i32(state), _STATE, 4)
        self._ir.line("br label %turn.next")
        return place

    def frame(self, entry: str, beginning: str) -> list[str]:
        """The lines of the kernel's beginning; what comes next is written behind its blocks.

        ``entry``: the label of the kernel's first block.
        """
        del beginning
        if mixed := self.exited_barriers & self.restored_barriers:
            raise LiftError(
                f"lanes of a warp wait for each other, and leave {', '.join(sorted(mixed))}, which"
                " a function saves: who then waits for whom is not known"
            )
        self._ir.enter(None)
        self._write_choice()
        self._write_round(entry)
        self._write_idle()
        self._write_edges_from_collectives()
        variables = (_PLACE, _STATE, _MASK, *([_BEHIND] if self._behind else []))
        return [
            *(f"  {each.name} = alloca i32, addrspace(5)" for each in variables),
            *(f"  store i32 0, {each}" for each in variables),
            *(self._warp() if self._target.pairs_warps else ()),
            "  br label %turn",
        ]

    def _warp(self) -> list[str]:
        """Which warp of its wave the lane is in, and where that is in a mask."""
        self._ir.declarations |= {
            "declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)",
            "declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)",
        }
        return [
            "  %turn.low = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)",
            "  %turn.lane = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %turn.low)",
            "  %turn.warp = lshr i32 %turn.lane, 5",
            "  %turn.half = and i32 %turn.lane, 32",
            f"  {_WARP_SHIFT.name} = zext i32 %turn.half to i64",
        ]

    def _write_choice(self) -> None:
        """Block ``turn``: which lanes can go on."""
        ir = self._ir
        ir.label("turn")
        ir.line(f"{_AT.name} = load i32, {_PLACE}")
        ir.line(f"{_IS.name} = load i32, {_STATE}")
        ir.line(f"%turn.lives = icmp ne {_AT}, {ENDED_PLACE}")
        alive = self._lanes(_LIVES)
        goes = ir.both(_LIVES, ir.icmp("ne", _IS, i32(LaneState.BARRIER)))
        if self._has_masks:
            mask = ir.load("i32", _MASK, 4)
            here = self._write_arrivals(mask)
            missing = ir.op("and", ir.op("and", mask, alive), ir.invert(here))
            goes = ir.both(goes, ir.icmp("eq", missing, i32(0)))
        goes = ir.both(goes, ir.invert(self._waits_in_region(alive)))
        if self._has_masked_collectives:
            goes = self._with_one_mask(goes, mask)
        ir.line(f"{_GOES.name} = select {goes}, i1 true, i1 false")
        ir.line(f"br {self._some(goes)}, label %turn.round, label %turn.idle")

    def _write_arrivals(self, mask: Value) -> Value:
        """Loop ``turn.masks``: the lanes that wait with the same mask, at the same collective.

        Each round is for those with which the first one waits of the lanes of the wave that are
        left.
        """
        ir, kind = self._ir, f"i{self._target.wave_lanes}"
        of_mask_alone = self._waiting(LaneState.COLLECTIVE_OF_MASK)
        collectives = ir.either(self._waiting(LaneState.COLLECTIVE), of_mask_alone)
        waits = ir.either(collectives, self._waiting(LaneState.WARP))
        at = ir.select(collectives, _AT, i32(ENDED_PLACE))
        waiting = self._lanes_of_wave(waits)
        ir.line(
            f"br {ir.icmp('ne', waiting, Value(kind, '0'))}, label %turn.masks, label %turn.met"
        )
        ir.label("turn.masks")
        left, here = Value(kind, "%turn.left"), Value("i32", "%turn.here")
        ir.line(f"{left.name} = phi {kind} [ {waiting.name}, %turn ], [ {_LEFT}, %turn.masks ]")
        ir.line(f"{here.name} = phi i32 [ 0, %turn ], [ {_HERE}, %turn.masks ]")
        first = ir.call(kind, f"llvm.cttz.{kind}", left, FALSE)
        first = ir.cast("trunc", first, "i32")
        same = ir.both(waits, self._is_in_warp_of(first))
        for word in (mask, at):
            of_first = ir.call("i32", "llvm.amdgcn.readlane.i32", word, first)
            same = ir.both(same, ir.icmp("eq", word, of_first))
        lanes = self._lanes_of_wave(same)
        ir.line(f"{_HERE} = select {same}, {self._in_own_warp(lanes)}, {here}")
        ir.line(f"{_LEFT} = and {left}, {ir.invert(lanes).name}")
        more = ir.icmp("ne", Value(kind, _LEFT), Value(kind, "0"))
        ir.line(f"br {more}, label %turn.masks, label %turn.met")
        ir.label("turn.met")
        return ir.result("i32", f"phi i32 [ 0, %turn ], [ {_HERE}, %turn.masks ]")

    def _is_in_warp_of(self, lane: Value) -> Value:
        """Whether the lane is in the warp of another one of its wave."""
        if not self._target.pairs_warps:
            return TRUE
        warp = self._ir.op("lshr", lane, i32(WARP_LANES.bit_length() - 1))
        return self._ir.icmp("eq", Value("i32", "%turn.warp"), warp)

    def _with_one_mask(self, goes: Value, mask: Value) -> Value:
        """``goes``, but of the lanes that go alone for those alone whose mask the first one has."""
        ir = self._ir
        of_mask_alone = self._waiting(LaneState.COLLECTIVE_OF_MASK)
        first = ir.call("i32", "llvm.cttz.i32", self._lanes(ir.both(goes, of_mask_alone)), FALSE)
        first = ir.op("and", first, i32(WARP_LANES - 1))
        if self._target.pairs_warps:
            first = ir.op("or", first, Value("i32", "%turn.half"))
        of_first = ir.call("i32", "llvm.amdgcn.ds.bpermute", ir.op("shl", first, i32(2)), mask)
        return ir.both(goes, ir.either(ir.invert(of_mask_alone), ir.icmp("eq", mask, of_first)))

    def _waits_in_region(self, alive: Value) -> Value:
        """Whether the lane is at a ``BSYNC`` to which others have to come; ``alive``: a mask.

        Who goes on is taken out of the masks of the others: they do not wait for it where they come
        there later. So is, for those that are there, who has yielded since: it may wait for them.
        """
        ir = self._ir
        waits = FALSE
        yielded = self._lanes(self._waiting(LaneState.YIELDED)) if self._regions else i32(0)
        in_region = self._waiting(LaneState.REGION)
        for barrier in sorted(set(self._regions.values())):
            variable = Value("ptr addrspace(5)", f"%{barrier}")
            mask = ir.load("i32", variable, 4)
            excused = yielded
            if barrier in self.exited_barriers:
                left = self._lanes(ir.icmp("eq", mask, i32(0)))
                excused = ir.op("or", excused, left)
            awaited = ir.op("and", mask, ir.invert(excused))
            is_at, here = FALSE, i32(0)
            for place in (n for n, name in sorted(self._regions.items()) if name == barrier):
                is_here = ir.both(in_region, ir.icmp("eq", _AT, i32(place)))
                is_at = ir.either(is_at, is_here)
                here = ir.select(is_here, self._lanes(is_here), here)
            missing = ir.op("and", ir.op("and", awaited, alive), ir.invert(here))
            goes = ir.both(is_at, ir.icmp("eq", missing, i32(0)))
            waits = ir.either(waits, ir.both(is_at, ir.invert(goes)))
            others = ir.invert(self._lanes(goes))
            ir.store(ir.op("and", ir.select(is_at, awaited, mask), others), variable, 4)
        return waits

    def _waiting(self, state: LaneState) -> Value:
        return self._ir.both(_LIVES, self._ir.icmp("eq", _IS, i32(state)))

    def _lanes(self, condition: Value) -> Value:
        """The lanes of the own warp in which ``condition`` holds."""
        return self._in_own_warp(self._lanes_of_wave(condition))

    def _in_own_warp(self, lanes: Value) -> Value:
        """The lanes of the own warp, of a mask of the wave's lanes."""
        if self._target.pairs_warps:
            lanes = self._ir.op("lshr", lanes, _WARP_SHIFT)
        return self._ir.cast("trunc", lanes, "i32")

    def _lanes_of_wave(self, condition: Value) -> Value:
        kind = f"i{self._target.wave_lanes}"
        return self._ir.call(kind, f"llvm.amdgcn.ballot.{kind}", condition)

    def _some(self, condition: Value) -> Value:
        """Whether ``condition`` holds in some lane of the wave."""
        lanes = self._lanes_of_wave(condition)
        return self._ir.icmp("ne", lanes, Value(lanes.type, "0"))

    def _write_round(self, entry: str) -> None:
        """Blocks ``turn.round`` to ``turn.next``: those lanes go on, one warp after the other.

        The assembly keeps LLVM from making one turn of two.
        """
        ir = self._ir
        goes = _GOES
        ir.label("turn.round")
        if self._target.pairs_warps:
            before = "turn.met" if self._has_masks else "turn"
            targets = f"[ 0, %{before} ], [ {_SECOND}, %turn.next ]"
            ir.line(f"%turn.number = phi i32 {targets}")
            goes = ir.both(goes, ir.icmp("eq", Value("i32", "%turn.warp"), _NUMBER))
        ir.line(f"br {goes}, label %turn.own, label %turn.next")
        ir.label("turn.own")
        ir.store(i32(LaneState.NOTHING), _STATE, 4)
        ir.store(i32(0), _MASK, 4)
        ir.line(f"switch {_AT}, label %turn.nowhere [ {self._cases(entry)} ]")
        ir.label("turn.nowhere")
        ir.line("unreachable")
        ir.label("turn.next")
        if self._target.pairs_warps:
            ir.line(f'{_SECOND} = call i32 asm sideeffect "s_mov_b32 $0, 1", "=s"()')
            first = ir.icmp("eq", _NUMBER, i32(0))
            ir.line(f"br {first}, label %turn.round, label %turn")
        else:
            ir.line("br label %turn")

    def _write_edges_from_collectives(self) -> None:
        """Blocks that follow those with collectives."""
        ir = self._ir
        for collective, targets in self._behind.items():
            ir.label(f"{collective.removeprefix('label %')}.behind")
            number = ir.load("i32", _BEHIND, 4)
            cases = " ".join(f"{i32(n)}, {way}" for n, way in enumerate(targets))
            ir.line(f"switch {number}, label %turn.nowhere [ {cases} ]")

    def _write_idle(self) -> None:
        """No lane can go on: to the barrier, or to the end.

        Lanes that wait for each other in a circle end the program with an error.
        """
        ir = self._ir
        ir.label("turn.idle")
        at_barrier = self._waiting(LaneState.BARRIER)
        ir.line(f"br {self._some(at_barrier)}, label %turn.meet, label %turn.still")
        ir.label("turn.meet")
        ir.line('fence syncscope("workgroup") release')
        if self._target.pairs_warps:
            ir.call_void("llvm.amdgcn.s.waitcnt", i32(WAIT_FOR_LDS))
        ir.call_void("llvm.amdgcn.s.barrier")
        ir.line('fence syncscope("workgroup") acquire')
        ir.store(ir.select(at_barrier, i32(LaneState.NOTHING), _IS), _STATE, 4)
        ir.line("br label %turn")
        ir.label("turn.still")
        ir.line(f"br {self._some(_LIVES)}, label %turn.error, label %turn.over")
        ir.label("turn.error")
        ir.line(_ERROR)
        ir.line("br label %turn.over")
        ir.label("turn.over")
        ir.line("ret void")
