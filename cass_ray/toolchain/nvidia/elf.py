"""The ELF side of cubins: read one, and write one file with the code of many."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cass_ray.toolchain.elf import (
    BinaryReader,
    DamagedFile,
    ElfSection,
    FileHeader,
    read_header,
    read_sections,
)

_FILE = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATIONS = {4: struct.Struct("<QQq"), 9: struct.Struct("<QQ")}  # SHT_RELA, SHT_REL

_SYMTAB, _STRTAB = 2, 3
_INFO_IS_SECTION = 0x40
_FIRST_RESERVED_SECTION = 0xFF00
# In sh_info of a code section, below its number of registers.
_BITS_OF_SYMBOL = 24
_SYMBOL_OF_CODE = (1 << _BITS_OF_SYMBOL) - 1
_ALIGNMENT = 128

_MARK = re.compile(r"\$cubin\d+\$")

# What code does not refer to. .nv.info (unlike .nv.info.KERNEL) and .nv.callgraph hold symbol
# indices, which merging changes.
_LEFT_OUT = (".debug_", ".nv_debug", ".note", ".nv.callgraph", ".nv.rel.action", ".nv.capmerc")


class CubinError(ValueError):
    """Bytes that are not a cubin."""


@dataclass(frozen=True)
class CubinSection(ElfSection):
    """A section of a cubin."""

    @property
    def is_code(self) -> bool:
        return self.name.startswith(".text.")

    @property
    def registers(self) -> int:
        """How many each thread of this code has."""
        return self.info >> _BITS_OF_SYMBOL if self.is_code else 0


class ElfSymbol(NamedTuple):
    """One symbol (``Elf64_Sym``)."""

    name: str
    info: int
    other: int
    section: int
    value: int
    size: int

    @property
    def is_local(self) -> bool:
        return self.info >> 4 == 0


@dataclass(frozen=True)
class Cubin:
    """A parsed cubin; ``symtab`` is the index of its symbol table."""

    machine: FileHeader
    sections: list[CubinSection]
    symbols: list[ElfSymbol]
    symtab: int

    @classmethod
    def parse(cls, data: bytes) -> Cubin:
        """Raises :class:`CubinError`."""
        try:
            return _parse(data)
        except DamagedFile as error:
            raise CubinError(f"damaged cubin: {error}") from error

    @property
    def code_sections(self) -> list[CubinSection]:
        """The sections that hold instructions."""
        return [section for section in self.sections if section.is_code]


def _parse(data: bytes) -> Cubin:
    machine = read_header(data)
    sections = [CubinSection(**vars(section)) for section in read_sections(data)]
    tables = [index for index, section in enumerate(sections) if section.kind == _SYMTAB]
    if not tables:
        raise DamagedFile("no table of symbols")
    symtab = tables[0]
    if sections[symtab].link >= len(sections):
        raise DamagedFile("symbols without names")
    strings = BinaryReader(sections[sections[symtab].link].data)
    symbols = [
        ElfSymbol(strings.text(name), *rest)
        for name, *rest in BinaryReader(sections[symtab].data).table(_SYMBOL)
    ]
    _check(sections, symbols)
    return Cubin(machine, sections, symbols, symtab)


def _check(sections: list[CubinSection], symbols: list[ElfSymbol]) -> None:
    """Check indices that readers of a cubin follow without a check of their own."""
    for symbol in symbols:
        if len(sections) <= symbol.section < _FIRST_RESERVED_SECTION:
            raise DamagedFile(f"symbol {symbol.name!r} in a section that is not there")
    for section in sections:
        if section.is_code and section.info & _SYMBOL_OF_CODE >= len(symbols):
            raise DamagedFile(f"{section.name} belongs to a symbol that is not there")
        if section.kind in _RELOCATIONS:
            if section.info >= len(sections) or sections[section.info].kind in _RELOCATIONS:
                raise DamagedFile(f"{section.name} relocates no section of code or data")
            for _, info, *_ in BinaryReader(section.data).table(_RELOCATIONS[section.kind]):
                if info >> 32 >= len(symbols):
                    raise DamagedFile(f"{section.name} refers to a symbol that is not there")


def merge(cubins: Sequence[Cubin]) -> bytes:
    """One file with the code of ``cubins``, which must be of one machine, in their order.

    Code, constants, relocations and symbols are all there; debug information and tables that code
    does not refer to are not. Names get a mark (:func:`without_marks`) that tells the cubins apart.
    """
    cubins = [_marked(cubin, f"$cubin{number}$") for number, cubin in enumerate(cubins)]
    section_indices = [_kept(cubin) for cubin in cubins]
    symtab = 1 + sum(map(len, section_indices))
    section_maps = []
    first = 1
    for indices in section_indices:
        section_maps.append({old: first + new for new, old in enumerate(indices)})
        first += len(indices)
    symbols, symbol_maps = _merged_symbols(cubins, section_maps)
    sections = [CubinSection("", 0, 0, 0, 0, 0, 0, 0, 0, b"")]
    for cubin, indices, of_section, of_symbol in zip(
        cubins, section_indices, section_maps, symbol_maps, strict=True
    ):
        links = {**of_section, cubin.symtab: symtab}
        sections += [_moved(cubin.sections[i], links, of_symbol) for i in indices]
    strings = _StringTable()
    entries = b"".join(_SYMBOL.pack(strings.add(s.name), *s[1:]) for s in symbols)
    local = sum(symbol.is_local for symbol in symbols)
    sections.append(
        CubinSection(".symtab", _SYMTAB, 0, 0, len(entries), symtab + 1, local, 8, 24, entries)
    )
    sections.append(_string_section(".strtab", strings))
    return _image(cubins[0].machine, sections)


def without_marks(text: str) -> str:
    """``text`` about a merged file with the names as they are in the cubins."""
    return _MARK.sub("", text)


def _marked(cubin: Cubin, mark: str) -> Cubin:
    """``cubin`` with ``mark`` at the end of all symbols and of the sections named after them."""
    owners = tuple(section.name.removeprefix(".text") for section in cubin.code_sections)
    sections = [
        replace(section, name=section.name + mark) if section.name.endswith(owners) else section
        for section in cubin.sections
    ]
    symbols = [s._replace(name=s.name + mark) if s.name else s for s in cubin.symbols]
    return replace(cubin, sections=sections, symbols=symbols)


def _kept(cubin: Cubin) -> list[int]:
    """Indices of the sections to merge; a relocation section goes with what it relocates."""

    def is_kept(section: CubinSection) -> bool:
        if section.kind in (0, _SYMTAB, _STRTAB) or section.name == ".nv.info":
            return False
        if section.kind in _RELOCATIONS:
            return is_kept(cubin.sections[section.info])
        return not section.name.startswith(_LEFT_OUT)

    return [index for index, section in enumerate(cubin.sections) if is_kept(section)]


def _merged_symbols(
    cubins: Sequence[Cubin], section_maps: Sequence[dict[int, int]]
) -> tuple[list[ElfSymbol], list[dict[int, int]]]:
    """All symbols, local ones first as ELF wants it, and the new index of each cubin's old ones."""
    symbols = [ElfSymbol("", 0, 0, 0, 0, 0)]
    maps: list[dict[int, int]] = [{0: 0} for _ in cubins]
    for is_local in (True, False):
        for cubin, of_section, of_symbol in zip(cubins, section_maps, maps, strict=True):
            for index, symbol in enumerate(cubin.symbols[1:], start=1):
                if symbol.is_local is is_local:
                    of_symbol[index] = len(symbols)
                    section = symbol.section
                    if section < _FIRST_RESERVED_SECTION:
                        section = of_section.get(section, 0)
                    symbols.append(symbol._replace(section=section))
    return symbols, maps


def _moved(section: CubinSection, links: dict[int, int], of_symbol: dict[int, int]) -> CubinSection:
    """``section`` with the new indices of the sections and symbols that it refers to."""
    info = section.info
    if section.kind in _RELOCATIONS or section.flags & _INFO_IS_SECTION:
        info = links.get(info, 0)
    elif section.is_code:
        info = info & ~_SYMBOL_OF_CODE | of_symbol[info & _SYMBOL_OF_CODE]
    data = section.data
    if layout := _RELOCATIONS.get(section.kind):
        data = b"".join(
            layout.pack(offset, of_symbol[info >> 32] << 32 | info & 0xFFFFFFFF, *addend)
            for offset, info, *addend in layout.iter_unpack(data)
        )
    return replace(section, link=links.get(section.link, 0), info=info, data=data)


class _StringTable:
    """Strings with their offsets; equal strings are kept once."""

    def __init__(self) -> None:
        self._offsets: dict[str, int] = {"": 0}
        self.data = bytearray(b"\0")

    def add(self, text: str) -> int:
        if text not in self._offsets:
            self._offsets[text] = len(self.data)
            self.data += text.encode("utf-8", "surrogateescape") + b"\0"
        return self._offsets[text]


def _string_section(name: str, strings: _StringTable) -> CubinSection:
    data = bytes(strings.data)
    return CubinSection(name, _STRTAB, 0, 0, len(data), 0, 0, 1, 0, data)


def _image(machine: FileHeader, sections: list[CubinSection]) -> bytes:
    """The file: header, contents, section headers. It has no segments."""
    names = _StringTable()
    name_offsets = [names.add(section.name) for section in sections]
    name_offsets.append(names.add(".shstrtab"))
    sections = [*sections, _string_section(".shstrtab", names)]
    image = bytearray(_FILE.size)
    headers = bytearray()
    for section, name in zip(sections, name_offsets, strict=True):
        image += b"\0" * (-len(image) % _ALIGNMENT)
        headers += _SECTION.pack(
            name,
            section.kind,
            section.flags,
            section.address,
            len(image),
            section.size,
            section.link,
            section.info,
            section.alignment,
            section.entry_size,
        )
        image += section.data
    image += b"\0" * (-len(image) % _ALIGNMENT)
    _FILE.pack_into(
        image,
        0,
        *machine[:4],
        0,  # entry point
        0,  # segment headers
        len(image),
        machine.flags,
        _FILE.size,
        0,
        0,
        _SECTION.size,
        len(sections),
        len(sections) - 1,
    )
    return bytes(image + headers)
