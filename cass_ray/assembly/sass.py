"""SASS, Nvidia's machine code as text: what ``cuobjdump -sass`` and ``nvdisasm`` print.

``parse`` reads either tool's listing (with or without encodings) and ``normalize`` writes the form
that assembly models read and that data sets hold::

    .target sm_89

    Function : _Z5scaleIfEvPT_S0_i
    MOV R1, c[0x0][0x28]
    @P0 BRA .L_0
    …
    .L_0:
    EXIT

One instruction a line; encodings, addresses, comments, padding and terminators are gone. cuobjdump
writes branch targets as offsets and nvdisasm as labels: both become labels numbered in address
order within their function, so that one cubin gives one text through either tool. What cuobjdump
does not print stays different: the targets of jump tables, and the symbols of unlinked relocations.
A return address that code loads as a constant before a call (``MOV R4, 0x40``) stays a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

INSTRUCTION_BYTES = 16
"""Size of an instruction since sm_70; addresses of a listing without them count in it."""


class SassInstruction(NamedTuple):
    """One instruction; ``text`` is canonical (``@!P0 BRA .L_2``), ``encoding`` little end first."""

    address: int
    text: str
    encoding: tuple[int, ...] = ()

    @property
    def predicate(self) -> str:
        """The guard (``@!P0``), or the empty string."""
        return self.text.split(" ", 1)[0] if self.text.startswith("@") else ""

    @property
    def _unguarded(self) -> str:
        return self.text.split(" ", 1)[1] if self.text.startswith("@") else self.text

    @property
    def mnemonic(self) -> str:
        """Opcode with modifiers, ``IMAD.MOV.U32``."""
        return self._unguarded.split(" ", 1)[0]

    @property
    def opcode(self) -> str:
        """Opcode without modifiers, ``IMAD``."""
        return self.mnemonic.split(".", 1)[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        """What follows the opcode, ``("MOV", "U32")``."""
        return tuple(self.mnemonic.split(".")[1:])

    @property
    def operands(self) -> tuple[str, ...]:
        """Operands in order; commas inside brackets do not separate."""
        _, _, rest = self._unguarded.partition(" ")
        if not rest:
            return ()
        parts = _BRACKETED_COMMAS.sub(lambda match: match[0].replace(",", "\0"), rest).split(",")
        return tuple(part.replace("\0", ",").strip() for part in parts)


@dataclass(frozen=True, slots=True)
class SassFunction:
    """One code section: a kernel with the subroutines in it, or a separate device function."""

    name: str
    """Mangled name."""
    architecture: str
    """``sm_89``, or the empty string when the listing does not say."""
    instructions: list[SassInstruction]
    labels: dict[str, int]
    """Canonical label -> address, in address order; only labels that some instruction names."""
    subroutines: dict[str, int] = field(default_factory=dict)
    """Symbols inside the section (nvdisasm only), such as ``$kernel$_Z6helperfi`` -> address."""
    is_kernel: bool = True
    """False where the listing says that this is no entry point (nvdisasm only)."""

    def render(self) -> str:
        """The canonical text of this function, newline-terminated."""
        header = "Function" if self.is_kernel else "Device function"
        lines = [f"{header} : {self.name}"]
        if not self.labels:
            lines += [instruction.text for instruction in self.instructions]
        else:
            at = {address: label for label, address in self.labels.items()}
            for address, text, _ in self.instructions:
                if address in at:
                    lines.append(at[address] + ":")
                lines.append(text)
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class SassListing:
    """What nvdisasm or cuobjdump printed of one file: its functions in order."""

    functions: list[SassFunction]
    sections: dict[str, str] = field(default_factory=dict)
    """Name -> text of the data sections (nvdisasm without ``-c``): constant banks, globals, …"""

    @property
    def architectures(self) -> list[str]:
        """Architectures in order of appearance."""
        return list(dict.fromkeys(f.architecture for f in self.functions if f.architecture))

    @property
    def kernels(self) -> list[str]:
        """Mangled names of the entry points (all functions of a cuobjdump listing)."""
        return [function.name for function in self.functions if function.is_kernel]

    @property
    def instruction_count(self) -> int:
        """Instructions of all functions, alignment padding included."""
        return sum(len(function.instructions) for function in self.functions)

    def render(self) -> str:
        """The canonical text; empty when there is no function."""
        parts = []
        architecture = ""
        for function in self.functions:
            if function.architecture != architecture:
                architecture = function.architecture
                parts.append(f".target {architecture}\n")
            parts.append(function.render())
        return "\n".join(parts)


_HEADER = re.compile(
    r"^[ \t]*(?:"
    r"(?P<prefix>Device function|Function)[ \t]*:[ \t]*(?P<function>\S+)"
    r"|\.section[ \t]+(?P<section>[^\s,]+)"
    r"|\.target[ \t]+(?P<target>sm_\w+)"
    r")[^\n]*$",
    re.MULTILINE,
)

_STATEMENT = re.compile(
    r"^[ \t]*(?:"
    # an instruction: [/*0040*/] [{] [@P0] OPCODE.MODIFIERS OPERANDS [;] [/* encoding */ …]
    r"(?:/\*([0-9a-f]{4,})\*/[ \t]*)?(?:\{[ \t]*)?"
    r"((?:@!?U?P\w+[ \t]+)?[A-Z][A-Z0-9_]*(?![a-z])[^;/\n]*)"
    r"(?:;[^/\n]*(?:/\* (0x[0-9a-f]{16}) \*/(?:\n[ \t]+/\* (0x[0-9a-f]{16}) \*/)?)?)?"
    # or a label on its own line
    r"|([.$\w@]+):[ \t]*$)",
    re.MULTILINE,
)

_ENTRY = re.compile(r'^[ \t]*\.other[ \t]+(\S+?),[ \t]*@"[^"\n]*STO_CUDA_ENTRY', re.MULTILINE)
_ANNOTATION = re.compile(r'\(\*"(BRANCH_TARGETS )?([^"]*)"\*\)')
_SPACES = re.compile(r"[ \t]{2,}|\t")
_SYMBOL = re.compile(r"`\(([^()\s]+)\)|(?<![\w$.])\.L_\w+")
_BRACKETED_COMMAS = re.compile(r"[\[(][^\[(\]),]*+,[^\[(\])]*+[\])]")

# Instructions whose last hexadecimal operand is an offset from the start of the function. Absolute
# calls and jumps are absent: an unlinked listing shows 0x0 for them.
_DIRECT_TARGET = re.compile(
    r"^(?:@!?U?P\w+ )?(?:BRA|BSSY|CALL\.REL|RET\.REL|WARPSYNC\.COLLECTIVE|LEPC|SSY|PBK|PCNT|CAL)\b"
    r".*?(?<![\w\[])(0x[0-9a-f]+)$"
)
# Indirect branches: the offset counts from the next instruction.
_RELATIVE_TARGET = re.compile(r"^(?:@!?U?P\w+ )?BRXU?\b.*?(?<![\w\[])(-?0x[0-9a-f]+)(?= \(|$)")


def parse(text: str) -> SassListing:
    """Read a listing of ``cuobjdump -sass`` or ``nvdisasm``, or normalized text.

    Text without a function gives an empty listing; lines that are no code are skipped.
    """
    functions: list[SassFunction] = []
    sections: dict[str, str] = {}
    architecture = ""
    for header, body in _chunks(text):
        section = header["section"]
        if header["target"]:
            architecture = header["target"]
        elif header["function"]:
            is_kernel = header["prefix"] == "Function"
            functions.append(_function(header["function"], architecture, body, is_kernel))
        elif section.startswith(".text."):
            name = section.removeprefix(".text.")
            is_kernel = name in _ENTRY.findall(body)
            functions.append(_function(name, architecture, body, is_kernel))
        else:
            sections[section] = body.strip("\n")
    return SassListing(functions, sections)


def normalize(text: str) -> str:
    """The canonical text of a listing; idempotent, and empty when there is no function in it."""
    return parse(text).render()


def kernel_names(text: str) -> list[str]:
    """Mangled names of the entry points (all functions of a cuobjdump listing), code not read."""
    names: list[str] = []
    for header, body in _chunks(text):
        section = header["section"] or ""
        if header["prefix"] == "Function":
            names.append(header["function"])
        elif section.startswith(".text.") and section[6:] in _ENTRY.findall(body):
            names.append(section[6:])
    return list(dict.fromkeys(names))


def functions(text: str) -> dict[str, str]:
    """Mangled name -> canonical text, of every function of a listing."""
    return {function.name: function.render() for function in parse(text).functions}


def _chunks(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Every header with the text up to the next one."""
    header: re.Match[str] | None = None
    for following in _HEADER.finditer(text):
        if header is not None:
            yield header, text[header.end() : following.start()]
        header = following
    if header is not None:
        yield header, text[header.end() :]


def _function(name: str, architecture: str, body: str, is_kernel: bool) -> SassFunction:
    instructions: list[SassInstruction] = []
    symbols: dict[str, int] = {}
    pending: list[str] = []
    has_addresses = True
    address = 0
    for written_address, statement, low, high, label in _STATEMENT.findall(body):
        if label:
            pending.append(label)
            continue
        if written_address:
            address = int(written_address, 16)
        else:
            has_addresses = False
        for symbol in pending:
            symbols[symbol] = address
        pending.clear()
        encoding = (int(low, 16), int(high, 16)) if high else (int(low, 16),) if low else ()
        instructions.append(SassInstruction(address, _canonical_spacing(statement), encoding))
        address += INSTRUCTION_BYTES
    instructions, labels = _relabel(instructions, symbols, has_addresses)
    subroutines = {s: a for s, a in symbols.items() if s.startswith("$")}
    return SassFunction(name, architecture, instructions, labels, subroutines, is_kernel)


def _canonical_spacing(statement: str) -> str:
    """``statement`` with single spaces; jump targets kept as ``(.L_x_1, .L_x_2)``."""
    if '"' in statement:
        statement = _ANNOTATION.sub(
            lambda note: f"({note[2].replace(',', ', ')})" if note[1] else "", statement
        )
    statement = statement.strip()
    if "  " in statement or "\t" in statement:
        statement = _SPACES.sub(" ", statement)
    return statement


def _relabel(
    instructions: list[SassInstruction], symbols: dict[str, int], has_addresses: bool
) -> tuple[list[SassInstruction], dict[str, int]]:
    """Name every branch target ``.L_0``, ``.L_1``, … in address order, whatever named it before.

    Offsets are read only where the listing carries addresses; elsewhere they cannot be trusted.
    """
    addresses = {instruction.address for instruction in instructions}
    references: list[tuple[int, list[tuple[int, int, int]]]] = []
    for index, instruction in enumerate(instructions):
        uses = list(_references(instruction, symbols, has_addresses))
        if uses:
            kept = [reference for reference in uses if reference[2] in addresses]
            references.append((index, kept))
    targets = sorted({target for _, uses in references for _, _, target in uses})
    names = {target: f".L_{number}" for number, target in enumerate(targets)}
    relabelled = list(instructions)
    for index, uses in references:
        written = instructions[index].text
        pieces, position = [], 0
        for start, end, target in sorted(uses):
            pieces += [written[position:start], names[target]]
            position = end
        text = "".join([*pieces, written[position:]])
        text = _SYMBOL.sub(lambda symbol: symbol[1] or symbol[0], text)
        relabelled[index] = instructions[index]._replace(text=text)
    return relabelled, {name: target for target, name in names.items()}


def _references(
    instruction: SassInstruction, symbols: dict[str, int], has_addresses: bool
) -> Iterator[tuple[int, int, int]]:
    """Spans of ``instruction.text`` that name a code address, with that address (-1: elsewhere)."""
    address, text, _ = instruction
    relative = _RELATIVE_TARGET.match(text) if has_addresses and "BRX" in text else None
    if relative:
        yield *relative.span(1), address + INSTRUCTION_BYTES + int(relative[1], 16)
    if "`" in text or ".L_" in text:
        for symbol in _SYMBOL.finditer(text):
            yield *symbol.span(), symbols.get(symbol[1] or symbol[0], -1)
    elif has_addresses and not relative:
        direct = _DIRECT_TARGET.match(text)
        if direct:
            yield *direct.span(1), int(direct[1], 16)
