"""Host assembly: x86-64 text in AT&T syntax, as GCC (``nvcc -Xcompiler -S``) and clang write it.

Beside functions and data this knows the symbols by which CUDA and HIP programs register their
device code at start-up, so that the program's own host code can be told from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple

from cass_ray.assembly import gnu

COMMENT = re.compile(r"#")


class HostLineKind(Enum):
    """What a line of host assembly is; only directives and instructions say something."""

    BLANK = auto()
    """Nothing, or a comment alone."""
    LABEL = auto()
    DIRECTIVE = auto()
    """A directive or an assignment."""
    INSTRUCTION = auto()


class HostLine(NamedTuple):
    """One line of text and what it is."""

    kind: HostLineKind
    text: str
    """The line as written, without its end."""
    label: str = ""
    mnemonic: str = ""
    """Directive or instruction; a prefix (``lock``, ``rep``) counts as part: ``rep stosq``."""

    @property
    def statement(self) -> str:
        """Mnemonic and operands without label and comment."""
        return gnu.statement(self.text, self.label, COMMENT)

    @property
    def operands(self) -> tuple[str, ...]:
        """Operands in order, destination last; ``8(%rsp,%rax,4)`` is one."""
        return gnu.split_operands(self.statement[len(self.mnemonic) :])


class Registration(Enum):
    """What a symbol does in registering device code."""

    CONSTRUCTOR = auto()
    """Runs before ``main`` and registers everything."""
    DESTRUCTOR = auto()
    LAUNCH_STUB = auto()
    """What a kernel launch calls on the host, with its static variables."""
    DEVICE_BINARY = auto()
    """The device code, its wrapper and handle."""
    RUNTIME = auto()
    """A function of the vendor's runtime that the others call."""


@dataclass(frozen=True, slots=True)
class HostFunction:
    """Code from its label to its ``.size``; a range of lines."""

    name: str
    lines: range


@dataclass(frozen=True)
class HostModule:
    """One file of x86-64 assembly, line by line; joined again it is the same text."""

    lines: list[HostLine]
    ending: str = "\n"
    """What follows the last line."""

    def render(self) -> str:
        """The text; equal to what was parsed unless lines were changed."""
        return "\n".join(line.text for line in self.lines) + self.ending

    @cached_property
    def functions(self) -> dict[str, HostFunction]:
        """Name -> function in order of appearance."""
        names = gnu.function_names(
            (x.mnemonic, x.operands) for x in self.lines if x.mnemonic == ".type"
        )
        ranges = gnu.function_ranges(
            names,
            (
                (x.label, x.mnemonic, x.statement if x.mnemonic == ".size" else "")
                for x in self.lines
            ),
        )
        return {name: HostFunction(name, lines) for name, lines in ranges.items()}

    @cached_property
    def variables(self) -> dict[str, gnu.DataObject]:
        return gnu.objects(
            (line.label, line.mnemonic, line.operands)
            for line in self.lines
            if line.label or line.mnemonic in gnu.OBJECT_DIRECTIVES
        )

    def instructions(self, function: HostFunction | None = None) -> Iterator[HostLine]:
        """Instructions of one function, or of the file."""
        lines = range(len(self.lines)) if function is None else function.lines
        return (
            line
            for line in map(self.lines.__getitem__, lines)
            if line.kind is HostLineKind.INSTRUCTION
        )

    def labels(self, function: HostFunction) -> dict[str, int]:
        """Label -> index of its line, inside ``function``."""
        return {self.lines[i].label: i for i in function.lines if self.lines[i].label}

    @cached_property
    def registration(self) -> dict[str, Registration]:
        """Symbols that register device code, defined here or called -> role, as they appear."""
        return registration_symbols("\n".join(line.text for line in self.lines))


_LINE = re.compile(
    r'[ \t]*(?:([\w.$@]+|"[^"]+"):(?=\s|$))?[ \t]*'
    r"((?:(?:lock|rep|repn?[ze]|notrack|data16|bnd|xacquire|xrelease)[ \t;]+)*[^\s;#]*)[ \t]*(=?)"
)

_REGISTRATION = re.compile(
    r"(?<![\w.$])(?:"
    r"(?P<CONSTRUCTOR>\w*__sti____cudaRegisterAll\w*|__hip_module_ctor|__hip_register_globals"
    r"|_GLOBAL__sub_I___cudaRegister\w*)"
    r"|(?P<DESTRUCTOR>\w*__cudaUnregisterBinaryUtil\w*|__hip_module_dtor)"
    r"|(?P<LAUNCH_STUB>\w*__device_stub__\w*)"
    r"|(?P<DEVICE_BINARY>fatbinData|\w*__fatDeviceText\w*|\w*__cudaFatCubinHandle\w*"
    r"|__hip_fatbin\w*|__hip_gpubin_handle\w*|__hip_cuid_\w*|__cudaPrelinkedFatbins)"
    r"|(?P<RUNTIME>__cuda(?:Register|Unregister|InitModule|PushCall|PopCall)\w*"
    r"|__hip(?:Register|Unregister|PushCall|PopCall)\w*)"
    r")(?:\.(?:cold|constprop|isra|part)(?:\.\d+)?)*(?![\w$])"
)

_BOOKKEEPING = re.compile(r"^[ \t]*\.(?:ident|loc|file|addrsig(?:_sym)?)\b[^\n]*\n?", re.MULTILINE)
_UNWIND = re.compile(r"^[ \t]*\.cfi_\w+[^\n]*\n?", re.MULTILINE)
_COMMENTED = re.compile(r"^[^\n#]*#[^\n]*\n?", re.MULTILINE)


def parse(text: str) -> HostModule:
    """Read an assembly file; rendering the result gives the text back."""
    ending = "\n" if text.endswith("\n") else ""
    body = text[: len(text) - len(ending)]
    return HostModule([_line(written) for written in body.split("\n")], ending)


def normalize(text: str, *, keep_unwind: bool = False, keep_comments: bool = True) -> str:
    """``text`` without source names and lines (``.file``, ``.loc``, ``.ident``, ``.addrsig``).

    Unwind tables (``.cfi_…``) go too unless ``keep_unwind``: a program that throws exceptions needs
    them to run. Idempotent.
    """
    text = _BOOKKEEPING.sub("", text)
    if not keep_unwind:
        text = _UNWIND.sub("", text)
    if not keep_comments:
        text = _COMMENTED.sub(_without_comment, text)
    return text


def _without_comment(match: re.Match[str]) -> str:
    """A line without its comment; nothing when the comment is all there is."""
    written = match[0].removesuffix("\n")
    kept = gnu.without_comment(written, COMMENT)
    if kept == written:
        return match[0]
    kept = kept.rstrip()
    return kept + "\n" * match[0].endswith("\n") if kept else ""


def _line(written: str) -> HostLine:
    match = _LINE.match(written)
    assert match is not None  # every part is optional
    label, mnemonic, equals = match.groups(default="")
    if not mnemonic:
        return HostLine(HostLineKind.LABEL if label else HostLineKind.BLANK, written, label)
    kind = HostLineKind.DIRECTIVE if mnemonic[0] == "." or equals else HostLineKind.INSTRUCTION
    return HostLine(kind, written, label, mnemonic)


def registration_symbols(text: str) -> dict[str, Registration]:
    """Symbols in ``text`` that register device code -> role, in order of appearance."""
    return {
        match[0]: Registration[match.lastgroup]
        for match in _REGISTRATION.finditer(text)
        if match.lastgroup
    }
