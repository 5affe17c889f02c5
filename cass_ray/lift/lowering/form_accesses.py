"""What instructions read and write, by their form: the one table that analyses and lowering share.

Nobody writes it down. A form is lowered once, with registers of its own for each operand, and what
its semantics touch then is touched, under other names, by every instruction of the form. Its key is
what nvdisasm prints, without the numbers of registers and predicates. Instructions whose semantics
ask where they are (of convergence, above all) are each lowered by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, lru_cache
from itertools import count as count_from
from typing import Any

from cass_ray.lift.analysis.liveness import CodePlace, RegisterAccess
from cass_ray.lift.convergence.mask_groups import MaskGroups
from cass_ray.lift.convergence.schedule import WaveSchedule
from cass_ray.lift.frontend.code import CodeSection
from cass_ray.lift.frontend.instruction import DecodedInstruction
from cass_ray.lift.frontend.operands import Predicate, Register
from cass_ray.lift.llvm.builder import Value
from cass_ray.lift.lowering.context import LoweringContext
from cass_ray.lift.lowering.environment import KernelEnvironment
from cass_ray.lift.lowering.table import Semantics
from cass_ray.lift.lowering.target import WARP_LANES

_NUMBERED = re.compile(r"(?<!desc\[)\b(U?[RP])(\d+)\b")
"""A register or predicate; the one of a memory descriptor is not read."""
_NAME = re.compile(r"(U?[RP])(\d+)(.*)")
_MOST_FORMS = 1 << 16
"""That a process keeps of one kind of kernel."""
_OF_KERNEL = frozenset({"BAR", "WARPGROUP"})
"""What these do depends on the other barriers of the kernel, too."""
_APART = 1000
"""The distance of operands' own registers: more than an operand has registers."""


@dataclass(frozen=True)
class _Touched:
    """The register ``distance`` behind the one of an operand."""

    file: str
    operand: int
    distance: int
    suffix: str


@dataclass(frozen=True)
class _Form:
    """What a form reads and writes."""

    reads: tuple[_Touched | str, ...]
    """Registers of operands, and others by their names."""
    writes: tuple[_Touched | str, ...]
    constants: tuple[_Touched | str, ...]
    labels: int


@dataclass(frozen=True)
class InstructionFacts:
    """What is known of one instruction by itself."""

    access: RegisterAccess
    constants: Set[str]
    """Predicates that it sets to true or false whatever it reads."""
    labels: int
    """Blocks of LLVM that it begins."""


class _FormContext(LoweringContext):
    """Where an instruction is lowered to see what it touches."""

    asks_place = False
    """Whether its semantics depend on where it is."""

    def place(self, i: DecodedInstruction) -> CodePlace:
        self.asks_place = True
        return super().place(i)

    def mask_groups(self) -> MaskGroups | None:
        self.asks_place = True
        return super().mask_groups()

    def code_address(self, i: DecodedInstruction) -> Value:
        self.asks_place = True
        return super().code_address(i)


class FormAccesses:
    """The table for one kernel: forms that other kernels of its kind had are there already."""

    def __init__(self, environment: KernelEnvironment, schedule: WaveSchedule) -> None:
        self._context = _FormContext(environment, schedule)
        self._forms = _forms_of(_kind_of(environment, schedule))

    def of(
        self, code: CodeSection, i: DecodedInstruction, semantics: Semantics
    ) -> InstructionFacts:
        """What ``i`` of ``code`` touches. Raises what ``semantics`` raises."""
        if i.opcode in _OF_KERNEL:
            return self._lowered(code, i, semantics)
        guard = guard_of(i)
        printed = [_numbers_apart(each) for each in i.printed]
        if guard is not None:
            printed.insert(0, _numbers_apart(guard[0]))
        key = i.mnemonic, guard and guard[1], *[text for text, _ in printed]
        form = self._forms.get(key)
        if form is None and key not in self._forms:
            if len(self._forms) >= _MOST_FORMS:  # literals are part of the key
                self._forms.clear()
            count = sum(len(numbers) for _, numbers in printed)
            form = self._forms[key] = self._form(code, i, semantics, count)
        if form is None:
            return self._lowered(code, i, semantics)
        numbers = [number for _, numbers in printed for number in numbers]
        reads, writes = _names(form.reads, numbers), _names(form.writes, numbers)
        constants = _names(form.constants, numbers) if form.constants else frozenset[str]()
        return InstructionFacts(RegisterAccess(guard, reads, writes), constants, form.labels)

    def _form(
        self, code: CodeSection, i: DecodedInstruction, semantics: Semantics, count: int
    ) -> _Form | None:
        """The form of ``i``, in which ``count`` registers are printed; None if what it touches does
        not follow from its text alone."""
        numbers = count_from(_APART, _APART)
        guard, operands = _apart((i.guard, i.operands), numbers)
        if next(numbers) != (count + 1) * _APART:
            return None
        renamed = replace(i, guard=guard, operands=operands)
        try:
            facts = self._lowered(code, renamed, semantics)
        except Exception:  # whatever it is, ``i`` itself raises it with its own registers
            return None
        if self._context.asks_place:
            return None
        reads, writes, constants = (
            tuple(map(_touched, names))
            for names in (facts.access.reads, facts.access.writes, facts.constants)
        )
        return _Form(reads, writes, constants, facts.labels)

    def _lowered(
        self, code: CodeSection, i: DecodedInstruction, semantics: Semantics
    ) -> InstructionFacts:
        context, access = self._context, RegisterAccess(guard_of(i))
        context.asks_place = False
        context.registers.begin_block("form")
        before = context.ir.labels
        with context.lowering(code, access, i):
            semantics(context, i)
        context.ir.lines.clear()
        constants = context.registers.constants() & access.writes
        return InstructionFacts(access, constants, context.ir.labels - before)


def guard_of(i: DecodedInstruction) -> tuple[str, bool] | None:
    """An instruction's guard as analyses have it."""
    return (i.guard.name, i.guard.inverted) if i.guard else None


def _kind_of(environment: KernelEnvironment, schedule: WaveSchedule) -> tuple[Hashable, ...]:
    """What semantics ask of a kernel; parameters, data and fences change no more than values."""
    kernel, target = environment.kernel, environment.target
    return (
        target.name,
        target.multiplies_floats_natively,
        schedule.warps is not None,
        schedule.lanes is not None,
        environment.uses_handles,
        environment.in_cluster,
        environment.uses_tensor_memory,
        environment.flushes_denormals,
        kernel.architecture,
        kernel.cluster,
        kernel.max_threads <= WARP_LANES,
    )


@cache
def _forms_of(kind: tuple[Hashable, ...]) -> dict[tuple[str | bool | None, ...], _Form | None]:
    """The forms of kernels of one kind: a process lowers each once."""
    del kind
    return {}


@lru_cache(maxsize=65536)
def _numbers_apart(printed: str) -> tuple[str, tuple[int, ...]]:
    """An operand without the numbers of its registers, and these."""
    numbers = tuple(int(number) for _, number in _NUMBERED.findall(printed))
    return _NUMBERED.sub(r"\1", printed), numbers


def _names(touched: tuple[_Touched | str, ...], numbers: list[int]) -> set[str]:
    return {
        each
        if isinstance(each, str)
        else f"{each.file}{numbers[each.operand] + each.distance}{each.suffix}"
        for each in touched
    }


def _touched(name: str) -> _Touched | str:
    match = _NAME.fullmatch(name)
    if match is None or int(match[2]) < _APART // 2:
        return name
    number = (int(match[2]) + _APART // 2) // _APART
    return _Touched(match[1], number - 1, int(match[2]) - number * _APART, match[3])


def _apart(value: Any, numbers: Iterator[int]) -> Any:
    """An operand, or what is in one, with registers that are numbered anew in the order of the
    text."""
    if isinstance(value, Register | Predicate):
        return value if value.index is None else replace(value, index=next(numbers))
    if isinstance(value, tuple):
        return type(value)(_apart(each, numbers) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {each.name: _apart(getattr(value, each.name), numbers) for each in fields(value)}
        return replace(value, **parts)
    return value
