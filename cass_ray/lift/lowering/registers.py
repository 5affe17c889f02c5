"""The registers and predicates of one SASS thread while its code becomes IR.

They live in allocas between blocks, which LLVM's mem2reg removes, and in a cache within a block, so
that a block loads each register once and stores it once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from cass_ray.lift.analysis.liveness import RegisterAccess
from cass_ray.lift.llvm.builder import FALSE, TRUE, IRBuilder, LlvmFunction, Value, i32
from cass_ray.lift.lowering.bit_scans import BitScans
from cass_ray.lift.lowering.divisions import Divisions
from cass_ray.lift.lowering.handles import HandleWords

_UPPER = ".upper"
"""A register's name with this is the variable of the high half of the handle that it holds."""


def word_of(name: str) -> str:
    """The register that the variable ``name`` belongs to."""
    return name.removesuffix(_UPPER)


class RegisterFile:
    """Values of registers, predicates and other variables of the thread, by name."""

    def __init__(self, ir: IRBuilder, handles: HandleWords, wave_lanes: int) -> None:
        self._ir = ir
        self._handles = handles
        self.divisions = Divisions(ir, wave_lanes)
        self.bit_scans = BitScans(ir)
        self._types_in: dict[LlvmFunction, dict[str, str]] = {}
        self._types = self._types_in.setdefault(None, {})
        """LLVM's types of what needs an alloca in the present function, by name."""
        self._cached: dict[str, Value] = {}
        self._written: set[str] = set()
        self.block_values: dict[tuple[object, ...], list[Value]] = {}
        """Values that may be used again where the registers that are cached now still are, by what
        they are of."""
        self._overlay: dict[str, Value] | None = None
        """Results so far of instructions that a guard may drop."""
        self._guard: Value | None = None
        """The guard that may drop them."""
        self._unneeded_unless: dict[str, Value] = {}
        """Guards without which nobody needs what a register holds."""
        self.access: RegisterAccess | None = None
        """Collects the names of what is read and written, while an instruction is lowered."""

    # Parts of the kernel's code

    def enter(self, function: LlvmFunction) -> None:
        """Go on in ``function``, with a new block."""
        self._types = self._types_in.setdefault(function, {})

    def types_in(self, function: LlvmFunction) -> Mapping[str, str]:
        """Name -> LLVM type, of every register that needs an alloca in ``function``."""
        return self._types_in.get(function, {})

    def declare_in(self, function: LlvmFunction, types: Mapping[str, str]) -> None:
        """Make allocas of these in ``function``, too."""
        self._types_in.setdefault(function, {}).update(types)

    def allocas(self, function: LlvmFunction) -> Iterable[str]:
        """The lines that make them."""
        for name, kind in sorted(self._types_in[function].items()):
            yield f"  %{name} = alloca {kind}, align 4, addrspace(5)"

    # One register

    def read(self, name: str, kind: str) -> Value:
        """The value of a register, whose LLVM type is ``kind``."""
        if self.access is not None:
            self.access.reads.add(name)
        if self._overlay is not None and name in self._overlay:
            return self._overlay[name]
        if name not in self._cached:
            self._types[name] = kind
            loaded = self._ir.result(kind, f"load {kind}, ptr addrspace(5) %{name}")
            self._cached[name] = loaded
            if self._has_upper_word(name):
                self._handles.set_above(loaded, self.read(f"{name}{_UPPER}", "i32"))
        return self._cached[name]

    def write(self, name: str, value: Value) -> None:
        """Change a register, and what is known of the word that belongs above its own."""
        self._put(name, value)
        if self._has_upper_word(name):
            self._put(f"{name}{_UPPER}", self._handles.above(value) or i32(0))

    def respell(self, name: str, old: Value, new: Value) -> None:
        """Give a register another spelling of the value ``old``; nothing if it holds another.

        That is no access: nothing is recorded.
        """
        overlay, access = self._overlay, self.access
        if overlay is not None and name not in overlay:
            # What the guard may drop may have parts that mean nothing where it does.
            if self._unneeded_unless.get(name) != self._guard:
                return
            self._overlay = None
        values = self._cached if self._overlay is None else self._overlay
        if values.get(name) == old:
            self.access = None
            self.write(name, new)
        self._overlay, self.access = overlay, access

    def _put(self, name: str, value: Value) -> None:
        if self.access is not None:
            self.access.writes.add(name)
        self._types[name] = value.type
        if self._overlay is not None:
            self._overlay[name] = value
            return
        self._cached[name] = value
        self._written.add(name)
        self._unneeded_unless.pop(name, None)

    def _has_upper_word(self, name: str) -> bool:
        return self._handles.tracked and "R" in name and not name.endswith(_UPPER)

    def constants(self) -> frozenset[str]:
        """Predicates that are known to be true, or false, here."""
        return frozenset(name for name, value in self._cached.items() if value in (TRUE, FALSE))

    def array(self, name: str, words: int) -> Value:
        """Memory of the thread; what it holds is for the instruction that asks alone."""
        self._types[name] = f"[{words} x i32]"
        return Value("ptr addrspace(5)", f"%{name}")

    # Scopes

    @contextmanager
    def dropping_results_unless(
        self, guard: Value, unneeded: frozenset[str], rounds: frozenset[str] = frozenset()
    ) -> Iterator[None]:
        """Inside, what is written to registers takes effect only where ``guard`` holds.

        Code inside reads its own results: what it makes of them is dropped with them. Registers
        that are ``unneeded`` where the guard does not hold get their results anyway. What goes to
        ``rounds`` is a number of rounds of a loop.
        """
        self._overlay, self._guard = {}, guard
        yield
        overlay, self._overlay = self._overlay, None
        for name, value in overlay.items():
            if name not in unneeded:
                before = self.read(name, value.type)
                merged = self._known(guard, value, before, is_small=name in rounds)
                self._put(name, merged or self._handles.select(guard, value, before))
            else:
                self._put(name, value)
                self._unneeded_unless[name] = guard

    def _known(self, guard: Value, value: Value, before: Value, *, is_small: bool) -> Value | None:
        steps = (guard, value, before)
        return (
            self.divisions.last_step(*steps, is_small=is_small)
            or self.divisions.by_zero(*steps, is_small=is_small)
            or self.bit_scans.last_step(*steps)
        )

    @contextmanager
    def skipped_unless(
        self, guard: Value, unneeded: frozenset[str] = frozenset(), *, keeps_values: bool = False
    ) -> Iterator[None]:
        """Inside, code runs only where ``guard`` holds.

        Where it does not, registers that are ``unneeded`` then hold nothing in particular. With
        ``keeps_values`` what is made inside is kept for those who ask where the same guard holds.
        """
        for name in sorted(unneeded):
            kind = "i1" if "P" in name else "i32"
            self.read(name, kind)  # what the code inside may read
            self._written.discard(name)
        self.flush()
        for name in sorted(unneeded):
            self._ir.line(f"store {self._cached[name].type} poison, ptr addrspace(5) %{name}")
        number = self._ir.fresh()
        self._ir.continue_in(f"test{number}")
        self._ir.line(f"br {guard}, label %do{number}, label %skip{number}")
        before, values_before = dict(self._cached), dict(self.block_values)
        self._ir.label(f"do{number}")
        yield
        changed = self._written | unneeded
        self.flush()
        self._ir.continue_in(f"done{number}")
        self._ir.line(f"br label %skip{number}")
        self._ir.label(f"skip{number}")
        self._cached = {name: value for name, value in before.items() if name not in changed}
        inside, self.block_values = self.block_values, values_before
        if keeps_values:
            for key in (each for each in inside if each not in values_before):
                self.block_values[key] = [self._kept(value, number) for value in inside[key]]

    def _kept(self, value: Value, number: int) -> Value:
        """What was made in part ``number`` of the code; without meaning where that was skipped."""
        if not value.name.startswith("%"):
            return value
        ways = f"[ {value.name}, %done{number} ], [ poison, %test{number} ]"
        return self._ir.result(value.type, f"phi {value.type} {ways}")

    @contextmanager
    def alternative(self, label: str) -> Iterator[None]:
        """Inside, write one of several blocks that follow the present one, with what it knows."""
        registers_before, values_before = dict(self._cached), dict(self.block_values)
        self._ir.label(label)
        yield
        self._cached, self.block_values = registers_before, values_before
        self._unneeded_unless.clear()

    # Blocks

    def begin_block(self, label: str) -> None:
        """Start a basic block; nothing is known about registers in it."""
        self._ir.label(label)
        self._cached.clear()
        self._written.clear()
        self._unneeded_unless.clear()
        self.block_values.clear()

    def flush(self) -> None:
        """Store the registers that this block has written."""
        for name in sorted(self._written):
            self._ir.line(f"store {self._cached[name]}, ptr addrspace(5) %{name}")
        self._written.clear()
