"""Bounds-checked reading of binary files that anybody may have made, and 64-bit ELF files on it.

A file's own offsets and sizes are never trusted: what leads out of the file, and tables whose
content is larger than the file, are a :class:`DamagedFile`, never another exception and never
memory out of proportion to the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little endian

_FILE = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NOBITS = 8
_EMPTY_OF_CUDA = frozenset({_NOBITS, 0x70000007, 0x7000000A})
"""``.nv.global`` and ``.nv.shared.…`` of separate compilation (``nvcc -rdc=true``) have kinds of
their own, as readelf shows; no data lies in the file for them either."""
_EM_CUDA = 190


class DamagedFile(ValueError):
    """The bytes are not what they say they are."""


@dataclass(frozen=True)
class BinaryReader:
    """Reads from ``data``; everything that is not inside raises :class:`DamagedFile`."""

    data: bytes

    def fields(self, layout: struct.Struct, offset: int = 0) -> tuple[Any, ...]:
        """The values of ``layout`` at ``offset``."""
        self._check(offset, layout.size)
        return layout.unpack_from(self.data, offset)

    def table(self, layout: struct.Struct) -> Iterator[tuple[Any, ...]]:
        """The values of one ``layout`` after another; the last must be whole."""
        if len(self.data) % layout.size:
            raise DamagedFile(f"a table of {len(self.data)} bytes with entries of {layout.size}")
        return layout.iter_unpack(self.data)

    def part(self, offset: int, size: int) -> bytes:
        """``size`` bytes at ``offset``."""
        self._check(offset, size)
        return self.data[offset : offset + size]

    def text(self, offset: int) -> str:
        """The text at ``offset``, up to the next NUL."""
        end = self.data.find(b"\0", offset) if 0 <= offset < len(self.data) else -1
        if end < 0:
            raise DamagedFile(f"a name at {offset:#x} without an end")
        return self.data[offset:end].decode("utf-8", "surrogateescape")

    def _check(self, offset: int, size: int) -> None:
        if offset < 0 or size < 0 or offset + size > len(self.data):
            raise DamagedFile(f"{size} bytes at {offset:#x} of {len(self.data)}")


class FileHeader(NamedTuple):
    """What the header of an ELF file says of its kind (``Elf64_Ehdr``)."""

    identification: bytes
    kind: int
    machine: int
    version: int
    flags: int


@dataclass(frozen=True)
class ElfSection:
    """One section with the fields of its header (``Elf64_Shdr``); those without content in the
    file (NOBITS and the like) hold no data."""

    name: str
    kind: int
    flags: int
    address: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int
    data: bytes


def read_header(data: bytes) -> FileHeader:
    """Raises :class:`DamagedFile`, also for what is no 64-bit, little-endian ELF file."""
    if not data.startswith(MAGIC):
        raise DamagedFile("not a 64-bit ELF file")
    identification, kind, machine, version, _, _, _, flags = BinaryReader(data).fields(_FILE)[:8]
    return FileHeader(identification, kind, machine, version, flags)


def read_sections(data: bytes) -> list[ElfSection]:
    """All sections in order. Raises :class:`DamagedFile`.

    Together they hold no more than twice the file: a few kilobytes that name one region thousands
    of times are refused. Twice, because cubins for sm_100 and later with debug information name
    its regions as ``.debug_…`` and as ``.nv.merc.debug_…``.
    """
    read_header(data)
    reader = BinaryReader(data)
    header = reader.fields(_FILE)
    offset, entry_size, count, names_index = header[6], *header[11:14]
    if not count:
        return []
    if entry_size < _SECTION.size or names_index >= count:
        raise DamagedFile("the table of sections is not one")
    raw = [reader.fields(_SECTION, offset + index * entry_size) for index in range(count)]
    empty = _EMPTY_OF_CUDA if header[2] == _EM_CUDA else frozenset({_NOBITS})
    if sum(entry[5] for entry in raw if entry[1] not in empty) > 2 * len(data):
        raise DamagedFile("sections overlap")
    contents = [b"" if entry[1] in empty else reader.part(entry[4], entry[5]) for entry in raw]
    names = BinaryReader(contents[names_index])
    return [_section(names, *both) for both in zip(raw, contents, strict=True)]


def _section(names: BinaryReader, entry: tuple[Any, ...], content: bytes) -> ElfSection:
    name, kind, flags, address, _, size, link, info, alignment, entry_size = entry
    fields = (kind, flags, address, size, link, info, alignment, entry_size)
    return ElfSection(names.text(name) if names.data else "", *fields, content)
