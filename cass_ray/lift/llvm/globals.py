"""Device variables and constant banks of a cubin as LLVM globals.

Bank 3 holds ``__constant__`` variables and bank 4 addresses of symbols. Each data section is one
global; variables are aliases into it under their CUDA names, so that a host finds them by name.

A ``__managed__`` variable ``v`` is two symbols in HIP: ``v.managed`` has the first value, ``v`` the
address that the runtime allots. A variable that is renamed to ``….managed`` becomes that.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import cached_property

from cass_ray.lift.errors import LiftError
from cass_ray.lift.llvm.builder import Value
from cass_ray.toolchain.nvidia.elf import Cubin, CubinSection

_SECTIONS = {
    ".nv.constant3": ("constants", 4),
    ".nv.global": ("zeroed", 1),
    ".nv.global.init": ("initialised", 1),
}
_WITH_CONTENT = (".nv.constant", ".nv.global.init")
_OBJECT = 1
_LITERAL = "$str"
"""What the symbols of string literals begin with."""
MANAGED_SUFFIX = ".managed"
_RELOCATION = {4: struct.Struct("<QQq"), 9: struct.Struct("<QQ")}  # SHT_RELA, SHT_REL
_ABSOLUTE = (2, 4)  # R_CUDA_64, R_CUDA_G64: a whole address

CodeNumber = Callable[[str], "int | None"]
"""Name of a function -> the number that stands for its address, or None."""


class DeviceData:
    """The data of one cubin; ``definitions`` is its IR."""

    def __init__(
        self, cubin: Cubin, code_number: CodeNumber, names: Mapping[str, str] | None = None
    ) -> None:
        """``names``: what a variable is to be called beside its own name."""
        self._cubin = cubin
        self._code_number = code_number
        self._names = names or {}
        self._places: dict[str, tuple[str, int, int]] = {}
        self._literals: dict[str, int] = {}
        """Addresses of string literals -> where they are in initialised data."""
        self.bank4_symbols: dict[int, str] = {}
        """Offset in bank 4 -> the symbol whose address is there."""
        self.bank4_addends: dict[int, int] = {}
        """Offset in bank 4 -> what is added to that address."""
        self.definitions: list[str] = []
        self.sizes: dict[str, int] = {}
        """Bytes of each variable by its names: LLVM gives an alias the size of what it is in."""
        self._kernel_banks: set[str] = set()
        present = [
            (index, section)
            for index, section in enumerate(cubin.sections)
            if section.name in _SECTIONS and section.size
        ]
        for index, section in present:
            self._place(index, section)
        for index, section in present:
            self._define(index, section)
        self._define_bank4()

    def bank(self, bank: int, kernel: str) -> Value:
        """The start of a constant bank other than 0."""
        if bank == 4:
            return Value("ptr addrspace(4)", "@lifted.addresses")
        if bank == 3:
            return Value("ptr addrspace(4)", "@lifted.constants")
        content = self.content(bank, kernel)
        if content is None:
            raise LiftError(f"{kernel}: constant bank {bank} is not in the cubin")
        name = f'@"lifted.bank{bank}.{kernel}"'
        if name not in self._kernel_banks:
            self._kernel_banks.add(name)
            kind = f"[{len(content)} x i8]"
            self.definitions.append(
                f"{name} = internal addrspace(4) constant {kind} {_bytes(content)}, align 16"
            )
        return Value("ptr addrspace(4)", name)

    @cached_property
    def words(self) -> frozenset[int]:
        """All aligned words of 32 bits in constant banks and initialised variables."""
        words: set[int] = set()
        for section in self._cubin.sections:
            if section.name.startswith(_WITH_CONTENT):
                aligned = section.data[: len(section.data) & ~3]
                words.update(word for (word,) in struct.iter_unpack("<I", aligned))
        return frozenset(words)

    def content(self, bank: int, kernel: str) -> bytes | None:
        """The bytes of a bank that belongs to ``kernel``."""
        names = (f".nv.constant{bank}.{kernel}", f".nv.constant{bank}")
        sections = {section.name: section.data for section in self._cubin.sections}
        return next((sections[name] for name in names if name in sections), None)

    def address(self, symbol: str, offset: int = 0) -> Value | None:
        """The address of a device variable; None when there is no such variable.

        Raises :class:`LiftError` for a managed one, whose address is not known before it runs.
        """
        if symbol not in self._places:
            return None
        if self.managed_pointer(symbol) is not None:
            raise LiftError(f"data refers to {symbol}, which is __managed__")
        name, space, start = self._places[symbol]
        pointer = f"ptr addrspace({space})"
        place = f"getelementptr (i8, {pointer} @{name}, i64 {start + offset})"
        address = Value("i64", f"ptrtoint ({pointer} {place} to i64)")
        if symbol.startswith(_LITERAL) and name == "lifted.initialised":
            self._literals[address.name] = start + offset
        return address

    def literal(self, address: Value) -> bytes | None:
        """The text of a string literal, without its end; None for other addresses.

        Such literals have no name in the program: nothing changes them.
        """
        start = self._literals.get(address.name)
        data = next((s.data for s in self._cubin.sections if s.name == ".nv.global.init"), b"")
        if start is None or b"\0" not in data[start:]:
            return None
        return data[start : data.index(b"\0", start)]

    def managed_pointer(self, symbol: str) -> Value | None:
        """Where the address of a managed variable will be; None for other symbols."""
        name = self._names.get(symbol, "")
        if symbol not in self._places or not name.endswith(MANAGED_SUFFIX):
            return None
        return Value("ptr addrspace(1)", f'@"{name.removesuffix(MANAGED_SUFFIX)}"')

    def grid_workspace(self) -> Value:
        """The address of the memory that ``grid.sync()`` counts in.

        Its barrier leaves the count as it was with the top bit flipped, so that zero at load time
        is enough; the driver has such memory for each launch, this is one for the module.
        """
        definition = (
            "@lifted.grid = internal addrspace(1) global [16 x i8] zeroinitializer, align 16"
        )
        if definition not in self.definitions:
            self.definitions.append(definition)
        return Value("i64", "ptrtoint (ptr addrspace(1) @lifted.grid to i64)")

    def constants_address(self) -> Value:
        """The address of bank 3; 0 where it is empty, for then no address lies in it."""
        if not any(s.name == ".nv.constant3" and s.size for s in self._cubin.sections):
            return Value("i64", "0")
        return Value("i64", "ptrtoint (ptr addrspace(4) @lifted.constants to i64)")

    def _place(self, index: int, section: CubinSection) -> None:
        name, space = _SECTIONS[section.name]
        for symbol in self._cubin.symbols:
            if symbol.section == index and symbol.info & 15 == _OBJECT and symbol.name:
                self._places[symbol.name] = (f"lifted.{name}", space, symbol.value)

    def _define(self, index: int, section: CubinSection) -> None:
        name, space = _SECTIONS[section.name]
        name = f"lifted.{name}"
        pointer = f"ptr addrspace({space})"
        kind, content = self._initializer(section)
        self.definitions.append(
            f"@{name} = protected addrspace({space}) externally_initialized global "
            f"{kind} {content}, align 256"
        )
        for symbol in self._cubin.symbols:
            if symbol.section != index or symbol.info & 15 != _OBJECT or not symbol.name:
                continue
            place = f"getelementptr (i8, {pointer} @{name}, i64 {symbol.value})"
            if pointer_to := self.managed_pointer(symbol.name):
                self.definitions.append(
                    f"{pointer_to.name} = protected addrspace(1) externally_initialized global "
                    "i64 0, align 8"
                )
            for spelling in self._spellings(symbol.name):
                self.sizes[spelling] = symbol.size
                size = f"[{max(symbol.size, 1)} x i8]"
                self.definitions.append(
                    f'@"{spelling}" = protected alias {size}, {pointer} {place}'
                )

    def _spellings(self, name: str) -> list[str]:
        """A variable's names: HIP mangles a ``static`` one where CUDA keeps it plain."""
        if name.startswith("$"):
            return []
        if self.managed_pointer(name) is not None:
            return [self._names[name]]
        spellings = [name, *filter(None, [self._names.get(name)])]
        if not name.startswith("_Z"):
            spellings.append(f"_ZL{len(name)}{name}")
        return list(dict.fromkeys(spellings))

    def _initializer(self, section: CubinSection) -> tuple[str, str]:
        """Type and content of a data section, with the addresses that relocations put into it."""
        relocations = self._relocations(section.name)
        if not relocations:
            kind = f"[{section.size} x i8]"
            return kind, _bytes(section.data) if any(section.data) else "zeroinitializer"
        kinds: list[str] = []
        values: list[str] = []
        position = 0
        for offset, (symbol, addend) in sorted(relocations.items()):
            if offset > position:
                kinds.append(f"[{offset - position} x i8]")
                values.append(f"{kinds[-1]} {_bytes(section.data[position:offset])}")
            own = struct.unpack_from("<q", section.data, offset)[0] if addend is None else addend
            kinds.append("i64")
            values.append(str(self._pointer(symbol, own)))
            position = offset + 8
        if rest := section.data[position:]:
            kinds.append(f"[{len(rest)} x i8]")
            values.append(f"{kinds[-1]} {_bytes(rest)}")
        return f"<{{{', '.join(kinds)}}}>", f"<{{{', '.join(values)}}}>"

    def _pointer(self, symbol: str, addend: int) -> Value:
        """The 64-bit word that a relocation puts into data."""
        if address := self.address(symbol, addend):
            return address
        number = self._code_number(symbol)
        if number is None:
            raise LiftError(f"data refers to {symbol}, which the cubin does not define")
        return Value("i64", str(number + addend))

    def _define_bank4(self) -> None:
        data = next((s.data for s in self._cubin.sections if s.name == ".nv.constant4"), b"")
        if not data:
            return
        relocations = self._relocations(".nv.constant4")
        words = []
        for offset in range(0, len(data), 8):
            own = int.from_bytes(data[offset : offset + 8], "little", signed=True)
            word = f"i64 {own}"
            if offset in relocations:
                symbol, addend = relocations[offset]
                added = own if addend is None else addend
                self.bank4_symbols[offset], self.bank4_addends[offset] = symbol, added
                is_managed = self.managed_pointer(symbol) is not None
                word = "i64 0" if is_managed else str(self._pointer(symbol, added))
            words.append(word)
        kind = f"[{len(words)} x i64]"
        self.definitions.append(
            f"@lifted.addresses = internal addrspace(4) constant {kind} [{', '.join(words)}]"
        )

    def _relocations(self, section: str) -> dict[int, tuple[str, int | None]]:
        relocations: dict[int, tuple[str, int | None]] = {}
        for candidate in self._cubin.sections:
            layout = _RELOCATION.get(candidate.kind)
            if layout is None or candidate.name not in (f".rel{section}", f".rela{section}"):
                continue
            for offset, info, *addend in layout.iter_unpack(candidate.data):
                symbol = self._cubin.symbols[info >> 32].name
                if info & 0xFFFFFFFF not in _ABSOLUTE:
                    raise LiftError(
                        f"{section}: relocation type {info & 0xFFFFFFFF} of {symbol} is unknown"
                    )
                relocations[offset] = (symbol, addend[0] if addend else None)
        return relocations


def _bytes(data: bytes) -> str:
    return 'c"' + "".join(f"\\{byte:02x}" for byte in data) + '"'
