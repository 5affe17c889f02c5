"""What surrounds a kernel: constant banks, launch dimensions, shared and local memory."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.llvm.builder import Value, i32, i64

if TYPE_CHECKING:
    from cass_ray.lift.frontend.code import Program
    from cass_ray.lift.frontend.cubin import KernelInfo
    from cass_ray.lift.llvm.globals import DeviceData
    from cass_ray.lift.lowering.context import Thread

INVARIANT = ", !invariant.load !0"
_GROUP_SIZE = {0x0: 12, 0x4: 14, 0x8: 16}  # hidden_group_size_* in the implicit arguments, 16 bits
_GROUP_COUNT = {0xC: 0, 0x10: 4, 0x14: 8}  # hidden_block_count_*, 32 bits
SHARED_WINDOW = (0x18, 0x1C)
"""Offsets in bank 0 of the generic address of shared memory."""
_LOCAL_WINDOW, _STACK_SIZE = (0x20, 0x24), 0x28
_SYMBOL_HALF = re.compile(
    r"(?:fun@)?(?P<half>32@lo|32@hi|32@)\(\(?(?P<symbol>[^\s()]+)"
    r"(?: \+ (?P<offset>[^\s()]+))?\)?\)"
)


@dataclass(frozen=True)
class Environment:
    """Constant banks and memory layout of one kernel."""

    kernel: KernelInfo
    data: DeviceData
    program: Program
    shared_shift: int
    """Added to shared addresses: LDS in front of the kernel's own, for BAR.RED."""
    flushes_denormals: bool = False
    """Whether single-precision arithmetic of the whole kernel flushes denormal numbers."""
    uses_handles: bool = False
    """Whether the kernel has textures or surfaces: SASS needs only the low words of their handles,
    HIP's are addresses."""

    def constant(self, thread: Thread, bank: int, offset: int, index: Value | None) -> Value:
        """The 32-bit word at ``c[bank][offset + index]``."""
        if index is not None and index.number is not None:
            offset, index = offset + index.number & 0xFFFFFFFF, None
        if bank == 0 and index is None and offset < self.kernel.parameter_base:
            return self._driver_word(thread, offset)
        if bank == 4:
            word = self._address_word(thread, offset, index)
            if word is not None:
                return word
        if bank == 2 and index is None:
            return i32(self._literal_word(thread, bank, offset))
        pointer = self.pointer(thread, bank, offset, index)
        word = thread.load("i32", pointer, 4, note=INVARIANT)
        if self.uses_handles:
            above = thread.load("i32", thread.offset(pointer, i64(4)), 4, note=INVARIANT)
            thread.upper_words[word.name] = above
        return word

    def _address_word(self, thread: Thread, offset: int, index: Value | None) -> Value | None:
        """A half of an address in bank 4 that is no constant for LLVM, or a number of code."""
        if index is not None:
            if any(self.data.managed_pointer(name) for name in self.data.bank4_symbols.values()):
                raise UnknownForm(f"c[0x4][{offset:#x}]", "indexed, with managed variables in it")
            return None
        symbol = self.data.bank4_symbols.get(offset & ~7)
        if symbol is None:
            return None
        number = self.program.code_number(symbol)
        if number is not None:
            return i32(number >> 32 if offset & 4 else number)
        address = self._managed_address(thread, symbol, self.data.bank4_addends[offset & ~7])
        if address is None:
            return None
        return thread.high(address) if offset & 4 else thread.low(address)

    def _managed_address(self, thread: Thread, symbol: str, added: int) -> Value | None:
        place = self.data.managed_pointer(symbol)
        if place is None:
            return None
        return thread.op("add", thread.load("i64", place, 8, note=INVARIANT), i64(added))

    def pointer(self, thread: Thread, bank: int, offset: int, index: Value | None) -> Value:
        """Where ``c[bank][offset + index]`` is, in address space 4."""
        if bank == 0:
            if offset < self.kernel.parameter_base:
                raise UnknownForm(f"c[0x0][{offset:#x}]", "an indexed driver constant")
            base = thread.call("ptr addrspace(4)", "llvm.amdgcn.kernarg.segment.ptr")
            offset -= self.kernel.parameter_base
        else:
            base = self.data.bank(bank, self.kernel.name)
        if index is None:
            return thread.offset(base, i64(offset))
        distance = thread.op("add", index, i32(offset))
        return thread.offset(base, thread.cast("zext", distance, "i64"))

    def _driver_word(self, thread: Thread, offset: int) -> Value:
        """What the driver puts in front of the parameters."""
        if offset in _GROUP_SIZE or offset in _GROUP_COUNT:
            base = thread.call("ptr addrspace(4)", "llvm.amdgcn.implicitarg.ptr")
            if offset in _GROUP_COUNT:
                place = thread.offset(base, i64(_GROUP_COUNT[offset]))
                return thread.load("i32", place, 4, note=INVARIANT)
            place = thread.offset(base, i64(_GROUP_SIZE[offset]))
            return thread.cast("zext", thread.load("i16", place, 2, note=INVARIANT), "i32")
        if offset == _STACK_SIZE:
            return i32(self.kernel.frame_size)
        if offset in SHARED_WINDOW:
            # The low word counts from the start of LDS, as shared addresses do.
            if offset == SHARED_WINDOW[0]:
                return i32(self.shared_shift)
            return self.shared_window(thread)
        if offset in _LOCAL_WINDOW:
            address = self.local_window(thread)
            return thread.low(address) if offset == _LOCAL_WINDOW[0] else thread.high(address)
        if offset in self.kernel.grid_workspace_words:
            address = self.data.grid_workspace()
            is_low = offset == self.kernel.grid_workspace_words[0]
            return thread.low(address) if is_low else thread.high(address)
        if offset in self.kernel.descriptor_words:
            return i32(0)
        raise UnknownForm(f"c[0x0][{offset:#x}]", "a driver constant of unknown meaning")

    def shared_window(self, thread: Thread) -> Value:
        """High word of generic addresses of shared memory; the low word is the LDS address."""
        lds = Value("ptr addrspace(3)", "inttoptr (i32 16 to ptr addrspace(3))")
        return thread.high(thread.cast("ptrtoint", thread.cast("addrspacecast", lds, "ptr"), "i64"))

    def local_window(self, thread: Thread) -> Value:
        """Generic address of the start of the thread's frame."""
        generic = thread.cast("addrspacecast", Value("ptr addrspace(5)", "%frame"), "ptr")
        return thread.cast("ptrtoint", generic, "i64")

    def symbol(self, thread: Thread, text: str) -> Value | None:
        """Half of a symbol's address, as a relocated literal has it; None for other names.

        Code has numbers for addresses: what is loaded from ``FUNCTION + .L_3@srel`` is compared
        with them, never used to load.
        """
        match = _SYMBOL_HALF.fullmatch(text.replace("`", ""))
        if match is None:
            return None
        symbol, added = match["symbol"], match["offset"] or "0"
        is_high = match["half"] == "32@hi"
        number = self.program.code_number(symbol, added)
        if number is not None:
            return i32(number >> 32 if is_high else number)
        if not added.startswith("0"):
            return None
        address = self._managed_address(thread, symbol, int(added, 16))
        if address is None:
            address = self.data.address(symbol, int(added, 16))
        if address is None:
            return None
        return thread.high(address) if is_high else thread.low(address)

    def _literal_word(self, thread: Thread, bank: int, offset: int) -> int:
        """The word at ``c[bank][offset]``, which is known now."""
        content = self.data.content(bank, self.kernel.name)
        if content is None or offset + 4 > len(content):
            raise UnknownForm(f"c[{bank:#x}][{offset:#x}]", "not in the cubin")
        word: int = struct.unpack_from("<I", content, offset)[0]
        return word
