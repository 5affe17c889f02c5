"""Whether scalars that LLVM has spilled to lanes have their vector registers to themselves.

Before LLVM 20 such a register may hold other values, too, and each can then overwrite the other in
lanes that do not run (:mod:`cass_ray.toolchain.amd.workarounds`). That cannot happen to a register
which a function uses for one such store of scalars and for nothing else, as is read off the
assembly, function by function:

* ``v_writelane`` and ``v_readlane`` of constant lanes write scalars to it and read them from it;
* LLVM begins to use it once at most, so that it is not two such stores at different times;
* a function that is called saves it, before all else and with the lanes that do not run, and has it
  back where it returns: its caller may have values in those lanes. A kernel has no caller;
* no other instruction names it, alone or in a range.

What is not understood counts as a register that is shared. What calls overwrite is not looked at:
LLVM goes by whole registers there, whether or not lanes run.

This file is also a program, which needs nothing but Python: in builds of projects a copy of it is
called (:mod:`cass_ray.toolchain.amd.compiler_driver`).
"""

from __future__ import annotations

import enum
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

_BEGINS = re.compile(r"; implicit-def: \$vgpr(\d+)\b")
"""Where LLVM begins to use a register, of which no lane has a value yet."""
_ANY_WRITE = "v_writelane"
_WRITE = re.compile(r"v_writelane_b32(?:_e64)? v(\d+), (?!v\d)[-\w]+, \d+")
_READ = re.compile(r"v_readlane_b32(?:_e64)? \w+, v(\d+), \d+")
_SAVE = re.compile(
    r"scratch_store_(?:dword|b32) off, v(\d+), \w+(?: offset:\d+)?"
    r"|buffer_store_dword v(\d+), off, s\[\d+:\d+\], \w+(?: offset:\d+)?"
)
_RESTORE = re.compile(
    r"scratch_load_(?:dword|b32) v(\d+), off, \w+(?: offset:\d+)?"
    r"|buffer_load_dword v(\d+), off, s\[\d+:\d+\], \w+(?: offset:\d+)?"
)
_VECTOR_REGISTERS = re.compile(r"(?<![\w.$@])v(?:(\d+)\b|\[([^]]*)\])")
_RANGE = re.compile(r"(\d+)(?::(\d+))?")
_BY_INDEX = re.compile(r"v_movrel|v_mov\w*rel|s_set_gpr_idx")
"""Instructions that take vector registers by a number that is not in the text."""

_NAME = re.compile(r'^\t\.type\t("[^"]*"|[^,\s]+),@function', re.MULTILINE)
_KERNEL = re.compile(r'^\t\.amdhsa_kernel ("[^"]*"|\S+)', re.MULTILINE)
_END = re.compile(r"^\.Lfunc_end\d+:", re.MULTILINE)
_LABEL = re.compile(r'(?:"[^"]*"|[\w.$@]+):$')
_OF_DEBUGGERS = re.compile(r"\.L(?:tmp|func_begin)\d+:$")
"""Labels that no branch goes to."""

_TO_ALL = re.compile(r"s_or_saveexec_b\d+ \S+, -1|s_mov_b64 exec, -1|s_mov_b32 exec_lo, -1")
_TO_OTHERS = re.compile(r"s_xor_saveexec_b\d+ \S+, -1")
_CHANGES_LANES = re.compile(r"\w*saveexec\w* |v_cmpx|\w+ exec\b|\w+ exec_(?:lo|hi)\b")

_FIRST_KEPT, _KEPT_EACH = 40, 16
"""Functions save, for their callers, the first 8 of each 16 vector registers from v40 on."""


UNKNOWN = -1
"""Instead of a register's number."""


class _Lanes(enum.Enum):
    """Which lanes an instruction is executed for."""

    OWN = enum.auto()
    """Those that run."""
    OTHERS = enum.auto()
    """Those that do not."""
    ALL = enum.auto()


@dataclass(frozen=True)
class SharedRegister:
    """A vector register of which it is not known that spilled scalars have it to themselves."""

    function: str
    register: int
    why: str
    """An instruction, or what was not found."""


@dataclass(frozen=True)
class _Function:
    name: str
    text: str
    called: bool
    """Whether there is a caller: not a kernel."""

    @cached_property
    def instructions(self) -> list[str]:
        """With single spaces, without comments; labels end with a colon."""
        texts = (" ".join(line.partition(";")[0].split()) for line in self.text.splitlines())
        return [text for text in texts if text and (text[0] != "." or _LABEL.fullmatch(text))]

    @cached_property
    def writes(self) -> list[str]:
        """The instructions that write one lane."""
        return [text for text in self.instructions if text.startswith(_ANY_WRITE)]


def shared_registers(assembly: str) -> Iterator[SharedRegister]:
    """Each register of spilled scalars that may hold something else; none: all is well."""
    if _ANY_WRITE not in assembly:
        return
    functions = [each for each in _functions(assembly) if _ANY_WRITE in each.text]
    if sum(len(function.writes) for function in functions) != assembly.count(_ANY_WRITE):
        yield SharedRegister("", UNKNOWN, "a write to a lane outside of functions")
    for function in functions:
        yield from _shared(function)


def _functions(assembly: str) -> Iterator[_Function]:
    kernels = set(_KERNEL.findall(assembly))
    for text in _END.split(assembly)[:-1]:
        names = list(_NAME.finditer(text))
        if names:
            yield _Function(names[-1][1], text[names[-1].end() :], names[-1][1] not in kernels)


def _shared(function: _Function) -> Iterator[SharedRegister]:
    understood = [match for text in function.writes if (match := _WRITE.fullmatch(text))]
    if len(understood) != len(function.writes):
        yield SharedRegister(function.name, UNKNOWN, "a write to a lane that is not a constant")
    registers = {int(match[1]) for match in understood}
    starts = Counter(int(register) for register in _BEGINS.findall(function.text))
    for register in sorted(registers):
        if starts[register] > 1:
            yield SharedRegister(function.name, register, "begun more than once")
    yield from _Reading(function, registers).shared()


@dataclass
class _Reading:
    """One function's instructions, in their order, and what is known between two of them."""

    function: _Function
    registers: set[int]
    """Those of spilled scalars."""
    lanes: _Lanes = _Lanes.OWN
    in_entry: bool = True
    """Whether no label has come: each call comes by here."""
    saved: set[int] = field(default_factory=set)
    restored: set[int] = field(default_factory=set)
    """Since the last label, and not written since."""

    def shared(self) -> Iterator[SharedRegister]:
        for text in self.function.instructions:
            if _LABEL.fullmatch(text):
                if not _OF_DEBUGGERS.fullmatch(text) and text[:-1] != self.function.name:
                    self._at_label()
                continue
            for register in sorted(self._misused(text)):
                yield SharedRegister(self.function.name, register, text)
            self._follow_lanes(text)

    def _at_label(self) -> None:
        self.lanes, self.in_entry = _Lanes.OWN, False
        self.restored.clear()

    def _misused(self, text: str) -> Iterable[int]:
        """The registers of which this instruction shows that they may be shared."""
        if _BY_INDEX.match(text):
            return self.registers
        if self.function.called and text.startswith("s_setpc_b64 "):
            return self.registers - self.restored
        named = _named(text)
        if named is None:
            return self.registers
        touched = named & self.registers
        return () if not touched or self._is_theirs(text) else touched

    def _is_theirs(self, text: str) -> bool:
        """Whether an instruction that names one of the registers is of a use that is theirs."""
        if match := _WRITE.fullmatch(text) or _READ.fullmatch(text):
            register = int(match[1])
            if text.startswith(_ANY_WRITE):
                self.restored.discard(register)
            return not self.function.called or register in self.saved
        if match := _SAVE.fullmatch(text):
            register = int(match[1] or match[2])
            fits = self.in_entry and register not in self.saved and self._reaches_callers(register)
            self.saved.add(register)
            return fits
        if match := _RESTORE.fullmatch(text):
            register = int(match[1] or match[2])
            self.restored.add(register)
            return register in self.saved and self._reaches_callers(register)
        return False

    def _reaches_callers(self, register: int) -> bool:
        """Whether all lanes in which a caller may have a value take part now."""
        is_callee_saved = (
            register >= _FIRST_KEPT and (register - _FIRST_KEPT) % _KEPT_EACH < _KEPT_EACH // 2
        )
        needed = {_Lanes.ALL} if is_callee_saved else {_Lanes.ALL, _Lanes.OTHERS}
        return self.function.called and self.lanes in needed

    def _follow_lanes(self, text: str) -> None:
        if _TO_ALL.fullmatch(text):
            self.lanes = _Lanes.ALL
        elif _TO_OTHERS.fullmatch(text):
            self.lanes = _Lanes.OTHERS if self.lanes is _Lanes.OWN else _Lanes.OWN
        elif _CHANGES_LANES.match(text):
            self.lanes = _Lanes.OWN


def _named(text: str) -> set[int] | None:
    """The vector registers that an instruction names; None if their numbers are not in it."""
    registers: set[int] = set()
    for single, numbers in _VECTOR_REGISTERS.findall(text):
        if single:
            registers.add(int(single))
            continue
        bounds = _RANGE.fullmatch(numbers)
        if bounds is None:
            return None
        registers.update(range(int(bounds[1]), int(bounds[2] or bounds[1]) + 1))
    return registers


def main(arguments: list[str]) -> int:
    """Say which registers are shared in the assembly ``arguments[0]``; 1 if there are any."""
    text = Path(arguments[0]).read_text(encoding="utf-8", errors="surrogateescape")
    registers = list(shared_registers(text))
    for shared in registers:
        print(ascii(shared))
    return 1 if registers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
