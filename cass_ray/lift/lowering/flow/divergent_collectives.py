"""Collectives to which lanes come by several instructions (``convergence.warp_collectives``).

Each is lifted once. Independently scheduled lanes keep where they came from, stop in front of it,
do it when those of their mask have come to it, and go on behind where they came from.
"""

from __future__ import annotations

from cass_ray.lift.analysis.kernel_graph import TOGETHER, CallPlace
from cass_ray.lift.convergence.warp_collectives import collective_behind
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.blocks import runs_of
from cass_ray.lift.frontend.code import INSTRUCTION_BYTES
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.lowering.flow.block_bodies import InstructionLowering
from cass_ray.lift.lowering.flow.walk import KernelWalk
from cass_ray.lift.lowering.semantics.convergence import reconvergence_mask, stop_at_warpsync


class DivergentCollectives:
    """Lowers the collectives of a kernel whose lanes are scheduled independently, for one walk of
    it."""

    def __init__(self, walk: KernelWalk, body: InstructionLowering) -> None:
        self._walk = walk
        self._body = body
        self._places: dict[tuple[str | int, ...], CallPlace] = {}

    def wait(self, place: CallPlace, i: DecodedInstruction, following: CallPlace) -> None:
        """Lift the ``WARPSYNC`` that ends the current block."""
        context, lane_scheduler = self._walk.context, self._walk.context.lane_scheduler
        assert lane_scheduler is not None
        behind = self._behind(place, i)
        if not behind:
            stop_at_warpsync(context, i, self._walk.goto(following))
            return
        stack, function, address = following
        is_collective = i.has("COLLECTIVE")  # the same registers wherever it is
        key = tuple(each.text for each in behind) if is_collective else (function, address)
        collective = self._places.setdefault(key, (TOGETHER, function, address))
        after = stack, function, behind[-1].address + INSTRUCTION_BYTES
        lane_scheduler.wait_at_collective(
            self._walk.goto(collective),
            reconvergence_mask(context, i),
            self._walk.goto_from(collective, after),
            # Behind others ptxas takes the lanes of the mask out of what a vote or a match gives.
            of_mask_alone=is_collective or i.has("EXCLUSIVE"),
        )

    def lower(self, place: CallPlace) -> int:
        """Lift the collective at ``place``; the number of its instructions."""
        walk, lane_scheduler = self._walk, self._walk.context.lane_scheduler
        assert lane_scheduler is not None
        code = walk.code_at(place)
        before = code.instructions[code.position[place[2]] - 1]
        behind = self._behind(place, before)
        walk.current.accesses = []
        for guard, run in runs_of(behind):
            self._body.run(code, guard, run)
        lane_scheduler.go_on_apart(f"label %{walk.label(place)}")
        return len(behind)

    def _behind(self, place: CallPlace, i: DecodedInstruction) -> list[DecodedInstruction]:
        code = self._walk.code_at(place)
        behind = collective_behind(code, code.position[i.address])
        if any(self._body.polls(code, each) for each in behind):
            raise LiftError(
                f"{code.name}: lanes that reconverge at {i.address:#x} wait for others before their"
                " collective, and may come to that collective by other instructions, too"
            )
        return behind
