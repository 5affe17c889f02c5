"""Device variables and constant banks of a cubin as LLVM globals.

Bank 3 holds ``__constant__`` variables and bank 4 addresses of symbols. Each data section is one
global; variables are aliases into it under their CUDA names, so that a host finds them by name.
"""

from __future__ import annotations

import struct

from cass_ray.lift.errors import LiftError
from cass_ray.lift.ir import Value
from cass_ray.toolchain.nvidia_elf import Cubin, Section

_SECTIONS = {".nv.constant3": ("constants", 4), ".nv.global": ("zeroed", 1)}
_SECTIONS[".nv.global.init"] = ("initialised", 1)
_OBJECT = 1
_RELOCATION = {4: struct.Struct("<QQq"), 9: struct.Struct("<QQ")}  # SHT_RELA, SHT_REL


class DeviceData:
    """The data of one cubin; ``definitions`` is its IR."""

    def __init__(self, cubin: Cubin) -> None:
        self._cubin = cubin
        self._places: dict[str, tuple[str, int, int]] = {}
        self.bank4_symbols: dict[int, str] = {}
        """Offset in bank 4 -> the symbol whose address is there."""
        self.definitions: list[str] = []
        self._kernel_banks: set[str] = set()
        for index, section in enumerate(cubin.sections):
            if section.name in _SECTIONS and section.size:
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

    def content(self, bank: int, kernel: str) -> bytes | None:
        """The bytes of a bank that belongs to ``kernel``."""
        names = (f".nv.constant{bank}.{kernel}", f".nv.constant{bank}")
        return next((s.data for s in self._cubin.sections if s.name in names), None)

    def address(self, symbol: str, offset: int = 0) -> Value | None:
        """The address of a device variable; None when there is no such variable."""
        if symbol not in self._places:
            return None
        name, space, start = self._places[symbol]
        pointer = f"ptr addrspace({space})"
        place = f"getelementptr (i8, {pointer} @{name}, i64 {start + offset})"
        return Value("i64", f"ptrtoint ({pointer} {place} to i64)")

    def _define(self, index: int, section: Section) -> None:
        name, space = _SECTIONS[section.name]
        name = f"lifted.{name}"
        if self._relocations(section.name):
            raise LiftError(f"{section.name} holds addresses, which is not supported yet")
        pointer = f"ptr addrspace({space})"
        content = _bytes(section.data) if any(section.data) else "zeroinitializer"
        self.definitions.append(
            f"@{name} = protected addrspace({space}) externally_initialized global "
            f"[{section.size} x i8] {content}, align 256"
        )
        for symbol in self._cubin.symbols:
            if symbol.section != index or symbol.info & 15 != _OBJECT or not symbol.name:
                continue
            self._places[symbol.name] = (name, space, symbol.value)
            place = f"getelementptr (i8, {pointer} @{name}, i64 {symbol.value})"
            for spelling in _spellings(symbol.name):
                kind = f"[{max(symbol.size, 1)} x i8]"
                self.definitions.append(
                    f'@"{spelling}" = protected alias {kind}, {pointer} {place}'
                )

    def _define_bank4(self) -> None:
        data = next((s.data for s in self._cubin.sections if s.name == ".nv.constant4"), b"")
        if not data:
            return
        relocations = self._relocations(".nv.constant4")
        words = []
        for offset in range(0, len(data), 8):
            word = "i64 0"
            if offset in relocations:
                symbol, addend = relocations[offset]
                self.bank4_symbols[offset] = symbol
                own = struct.unpack_from("<q", data, offset)[0] if addend is None else addend
                if address := self.address(symbol, own):
                    word = str(address)
            words.append(word)
        kind = f"[{len(words)} x i64]"
        self.definitions.append(
            f"@lifted.addresses = internal addrspace(4) constant {kind} [{', '.join(words)}]"
        )

    def _relocations(self, section: str) -> dict[int, tuple[str, int | None]]:
        found: dict[int, tuple[str, int | None]] = {}
        for candidate in self._cubin.sections:
            layout = _RELOCATION.get(candidate.kind)
            if layout is None or candidate.name not in (f".rel{section}", f".rela{section}"):
                continue
            for offset, info, *addend in layout.iter_unpack(candidate.data):
                symbol = self._cubin.symbols[info >> 32].name
                found[offset] = (symbol, addend[0] if addend else None)
        return found


def _spellings(name: str) -> list[str]:
    """A variable's names: HIP mangles a ``static`` one where CUDA keeps it plain."""
    if name.startswith("$"):
        return []
    return [name] if name.startswith("_Z") else [name, f"_ZL{len(name)}{name}"]


def _bytes(data: bytes) -> str:
    return 'c"' + "".join(f"\\{byte:02x}" for byte in data) + '"'
