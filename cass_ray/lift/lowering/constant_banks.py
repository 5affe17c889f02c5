"""Constant banks as a kernel reads them: parameters, launch dimensions, windows, addresses."""

from __future__ import annotations

import re
import struct

from cass_ray.lift.errors import UnknownForm
from cass_ray.lift.llvm.builder import IRBuilder, Value, float_bits, i32, i64
from cass_ray.lift.llvm.notes import INVARIANT, UP_TO_MOST_THREADS
from cass_ray.lift.lowering.arguments import COPY, argument_layout
from cass_ray.lift.lowering.cluster_launch import (
    BLOCK_WORDS,
    BYTES_WORD,
    CLUSTER_WORDS,
    launch_parameter,
)
from cass_ray.lift.lowering.environment import KernelEnvironment
from cass_ray.lift.lowering.handles import HandleWords

KERNEL_ARGUMENTS = Value("ptr addrspace(4)", "%kernarg")
"""Where they are, in a kernel and in functions that it calls."""
_IMPLICIT_ARGUMENTS = Value("ptr addrspace(4)", "%implicit")
"""Where AMD's runtime puts what it adds to them, in a kernel."""
_GROUP_SIZE = {0: 12, 4: 14, 8: 16}  # hidden_group_size_* in the implicit arguments, 16 bits
_GROUP_COUNT = {0: 0, 4: 4, 8: 8}  # hidden_block_count_*, 32 bits
_GRID_SYNCHRONIZATION = 88
"""hidden_multigrid_sync_arg: zero but in cooperative launches (``__ockl_grid_is_valid``)."""
_IMPLICIT_BYTES = 96  # up to the end of these
_SINGLE_ONE = 0x3F800000
_HALVES = (0, 4)
"""Offsets of the two words of an address."""
_SYMBOL_HALF = re.compile(
    r"(?:fun@)?(?P<half>32@lo|32@hi|32@)\(\(?(?P<symbol>[^\s()]+)"
    r"(?: \+ (?P<offset>[^\s()]+))?\)?\)"
)


class ConstantBanks:
    """Writes reads of ``c[bank][offset]`` and of relocated symbols for one kernel."""

    def __init__(self, environment: KernelEnvironment, ir: IRBuilder, handles: HandleWords) -> None:
        self._kernel = environment.kernel
        self._data = environment.data
        self._program = environment.program
        self._shared_shift = environment.shared_shift
        self._ir = ir
        self._handles = handles
        parameters = environment.kernel.parameters
        self._in_cluster = environment.in_cluster
        if environment.in_cluster:
            parameters = (*parameters, launch_parameter(environment.kernel))
        self.arguments = argument_layout(parameters)
        self._wide_parameters = {
            p.offset for p in environment.kernel.parameters if p.size == 8 and not p.offset % 8
        }
        self._needed: set[Value] = set()
        """What :meth:`beginning` has to compute."""
        self.needs_copy = False
        """Whether addresses are made of parameters that do not lie as CUDA's do."""

    def word(self, bank: int, offset: int, index: Value | None = None) -> Value:
        """The 32-bit word at ``c[bank][offset + index]``."""
        if index is not None and index.number is not None:
            offset, index = offset + index.number & 0xFFFFFFFF, None
        if bank == 0 and index is None and offset < self._kernel.parameter_base:
            return self._driver_word(offset)
        if bank == 4:
            word = self._address_word(offset, index)
            if word is not None:
                return word
        if bank == 2 and index is None:
            return i32(self._literal_word(bank, offset))
        if bank == 0 and index is None and not self._handles.tracked:
            return self._parameter_word(offset)
        pointer = self.pointer(bank, offset, index)
        word = self._ir.load("i32", pointer, 4, note=INVARIANT)
        if self._handles.tracked:
            above = self._ir.load("i32", self._ir.offset(pointer, i64(4)), 4, note=INVARIANT)
            self._handles.set_above(word, above)
        return word

    def _parameter_word(self, offset: int) -> Value:
        """A word of the parameters; those of 64 bits are loaded whole, for both words are used."""
        start = offset & ~7
        if start - self._kernel.parameter_base not in self._wide_parameters:
            return self._ir.once(
                ("parameter", offset),
                lambda: self._ir.load("i32", self.pointer(0, offset, None), 4, note=INVARIANT),
            )
        whole = self._ir.once(
            ("parameter", start),
            lambda: self._ir.load("i64", self.pointer(0, start, None), 8, note=INVARIANT),
        )
        return self._ir.once(
            ("parameter word", offset), lambda: self._half(whole, is_high=offset != start)
        )

    def _address_word(self, offset: int, index: Value | None) -> Value | None:
        """A half of an address in bank 4, or of a number of code; None where it is neither."""
        if index is not None:
            if any(self._data.managed_pointer(name) for name in self._data.bank4_symbols.values()):
                raise UnknownForm(f"c[0x4][{offset:#x}]", "indexed, with managed variables in it")
            return None
        symbol = self._data.bank4_symbols.get(offset & ~7)
        if symbol is None:
            return None
        number = self._program.code_number(symbol)
        if number is not None:
            return i32(number >> 32 if offset & 4 else number)
        added = self._data.bank4_addends[offset & ~7]
        address = self._managed_address(symbol, added) or self._data.address(symbol, added)
        return None if address is None else self._half(address, is_high=bool(offset & 4))

    def _managed_address(self, symbol: str, added: int) -> Value | None:
        place = self._data.managed_pointer(symbol)
        if place is None:
            return None
        return self._ir.op("add", self._ir.load("i64", place, 8, note=INVARIANT), i64(added))

    def pointer(self, bank: int, offset: int, index: Value | None) -> Value:
        """Where ``c[bank][offset + index]`` is, in address space 4."""
        if bank == 0:
            if offset < self._kernel.parameter_base:
                raise UnknownForm(f"c[0x0][{offset:#x}]", "an indexed driver constant")
            base = self._kernel_arguments()
            offset -= self._kernel.parameter_base
            offset += self.arguments.shift_at(offset)
        else:
            base = self._data.bank(bank, self._kernel.name)
        if index is None:
            return self._ir.offset(base, i64(offset))
        distance = self._ir.op("add", index, i32(offset))
        return self._ir.offset(base, self._ir.cast("zext", distance, "i64"))

    def beginning(self, *, calls_functions: bool) -> list[str]:
        """Lines of the kernel's entry: where arguments are, and that LLVM may load them anywhere.

        It forgets that of a call which it moves.
        """
        places = (
            (KERNEL_ARGUMENTS, "kernarg.segment.ptr", self.arguments.size),
            (_IMPLICIT_ARGUMENTS, "implicitarg.ptr", _IMPLICIT_BYTES),
        )
        lines = []
        for place, intrinsic, size in places:
            if place in self._needed or (place == KERNEL_ARGUMENTS and calls_functions):
                self._ir.declarations.add(f"declare {place.type} @llvm.amdgcn.{intrinsic}()")
                attributes = f"align 8 dereferenceable({size}) " if size else ""
                call = f"call {attributes}{place.type} @llvm.amdgcn.{intrinsic}()"
                lines.append(f"  {place.name} = {call}")
        return lines

    def _kernel_arguments(self) -> Value:
        if self._ir.function is None:
            self._needed.add(KERNEL_ARGUMENTS)
        return KERNEL_ARGUMENTS

    def _implicit_arguments(self) -> Value:
        if self._ir.function is None:
            self._needed.add(_IMPLICIT_ARGUMENTS)
            return _IMPLICIT_ARGUMENTS
        name = "llvm.amdgcn.implicitarg.ptr"
        return self._ir.once(name, lambda: self._ir.call("ptr addrspace(4)", name))

    def _driver_word(self, offset: int) -> Value:
        """What the driver puts in front of the parameters."""
        driver = self._kernel.driver
        if offset - driver.block_size in _GROUP_SIZE:
            return self.block_size((offset - driver.block_size) // 4)
        if offset - driver.grid_size in _GROUP_COUNT:
            return self.grid_size((offset - driver.grid_size) // 4)
        if offset == driver.stack_size:
            return i32(self._kernel.frame_size)
        if driver.shared_window is not None and offset - driver.shared_window in _HALVES:
            return self.shared_window(is_high=offset != driver.shared_window)
        if offset - driver.local_window in _HALVES:
            return self._half(self._local_window(), is_high=offset != driver.local_window)
        if offset in driver.grid_workspace:
            address = self._grid_workspace()
            return self._half(address, is_high=offset == driver.grid_workspace[1])
        if offset - driver.descriptor in _HALVES:
            return i32(0)
        if offset - driver.constants in _HALVES:
            return self._half(self._data.constants_address(), is_high=offset != driver.constants)
        if offset - driver.parameters in _HALVES:
            return self._half(self._parameters_address(), is_high=offset != driver.parameters)
        if driver.clusters is not None and offset - driver.clusters in _GROUP_COUNT:
            return self._workgroups((offset - driver.clusters) // 4)
        if offset == driver.explicit_cluster:
            return i32(int(self._in_cluster or self._kernel.cluster is not None))
        word = self._word_of_cluster(offset)
        if word is not None:
            return word
        reason = driver.refused.get(offset, "a driver constant of unknown meaning")
        raise UnknownForm(f"c[0x0][{offset:#x}]", reason)

    def _word_of_cluster(self, offset: int) -> Value | None:
        """What the driver says of the size of clusters; None where ``offset`` has no such word."""
        driver = self._kernel.driver
        sizes = [self.cluster_size(axis) for axis in range(3)]
        if offset == driver.cluster_blocks:
            return self._ir.op("mul", self._ir.op("mul", sizes[0], sizes[1]), sizes[2])
        if driver.cluster_size is not None and offset - driver.cluster_size in _GROUP_COUNT:
            return sizes[(offset - driver.cluster_size) // 4]
        first = driver.cluster_reciprocals
        if first is not None and offset - first in _GROUP_COUNT:
            size = sizes[(offset - first) // 4]
            if size.number is not None:
                return i32(struct.unpack("<I", struct.pack("<f", 1 / size.number))[0])
            size = self._ir.cast("uitofp", size, "float")
            quotient = self._ir.op("fdiv", float_bits(_SINGLE_ONE), size)
            return self._ir.cast("bitcast", quotient, "i32")
        return None

    def _half(self, address: Value, *, is_high: bool) -> Value:
        return self._ir.high(address) if is_high else self._ir.low(address)

    def _parameters_address(self) -> Value:
        """The generic address that the driver gives for the kernel's parameters."""
        shift = self.arguments.common_shift
        if shift is None:
            self.needs_copy = True
            copy = self._ir.cast("addrspacecast", Value("ptr addrspace(5)", COPY), "ptr")
            start, shift = self._ir.cast("ptrtoint", copy, "i64"), 0
        else:
            base = self._kernel_arguments()
            start = self._ir.cast("ptrtoint", base, "i64")
        return self._ir.op("sub", start, i64(self._kernel.driver.parameters_distance - shift))

    def block_size(self, axis: int) -> Value:
        """Threads of a block along an axis, 0 to 2."""
        if self._in_cluster:
            return self._launch_word(BLOCK_WORDS + axis)
        base = self._implicit_arguments()
        place = self._ir.offset(base, i64(_GROUP_SIZE[4 * axis]))
        note = f"{UP_TO_MOST_THREADS}{INVARIANT}"
        return self._ir.cast("zext", self._ir.load("i16", place, 2, note=note), "i32")

    def grid_size(self, axis: int) -> Value:
        """Blocks of the grid along an axis, 0 to 2."""
        return self._ir.op("mul", self._workgroups(axis), self.cluster_size(axis))

    def cluster_size(self, axis: int) -> Value:
        """Blocks of a cluster along an axis, 0 to 2."""
        if not self._in_cluster:
            return i32(1)
        if self._kernel.cluster is not None:
            return i32(self._kernel.cluster[axis])
        return self._launch_word(CLUSTER_WORDS + axis)

    def block_bytes(self) -> Value:
        """What each block of a cluster has of LDS."""
        return self._launch_word(BYTES_WORD)

    def _launch_word(self, number: int) -> Value:
        """A word of the argument that comes with a launch of clusters."""
        place = self.launch_words + 4 * number
        return self._ir.once(
            ("launch word", number),
            lambda: self._ir.load(
                "i32", self._ir.offset(self._kernel_arguments(), i64(place)), 4, note=INVARIANT
            ),
        )

    @property
    def launch_words(self) -> int:
        """Where the arguments have what comes with a launch of clusters."""
        return self.arguments.parameters[-1].offset + self.arguments.shifts[-1]

    def _workgroups(self, axis: int) -> Value:
        base = self._implicit_arguments()
        place = self._ir.offset(base, i64(_GROUP_COUNT[4 * axis]))
        return self._ir.load("i32", place, 4, note=INVARIANT)

    def _grid_workspace(self) -> Value:
        """The address of the memory that ``grid.sync()`` counts in.

        Null where the launch is not cooperative: ``grid.is_valid()`` asks for that, ``grid.sync()``
        ends the program.
        """
        place = self._ir.offset(self._implicit_arguments(), i64(_GRID_SYNCHRONIZATION))
        workspace = self._ir.load("i64", place, 8, note=INVARIANT)
        is_cooperative = self._ir.icmp("ne", workspace, i64(0))
        return self._ir.select(is_cooperative, self._data.grid_workspace(), i64(0))

    def shared_window(self, *, is_high: bool) -> Value:
        """A word of the generic address of shared memory.

        The low word counts from the start of LDS, as shared addresses do.
        """
        if not is_high:
            return i32(0 if self._in_cluster else self._shared_shift)
        lds = Value("ptr addrspace(3)", "inttoptr (i32 16 to ptr addrspace(3))")
        return self._ir.high(
            self._ir.cast("ptrtoint", self._ir.cast("addrspacecast", lds, "ptr"), "i64")
        )

    def _local_window(self) -> Value:
        """Generic address of the start of the thread's frame."""
        generic = self._ir.cast("addrspacecast", Value("ptr addrspace(5)", "%frame"), "ptr")
        return self._ir.cast("ptrtoint", generic, "i64")

    def symbol(self, text: str) -> Value | None:
        """Half of a symbol's address, as a relocated literal has it; None for other names.

        Code has numbers for addresses: what is loaded from ``FUNCTION + .L_3@srel`` is compared
        with them, never used to load.
        """
        match = _SYMBOL_HALF.fullmatch(text.replace("`", ""))
        if match is None:
            return None
        symbol, added = match["symbol"], match["offset"] or "0"
        is_high = match["half"] == "32@hi"
        number = self._program.code_number(symbol, added)
        if number is not None:
            return i32(number >> 32 if is_high else number)
        if not added.startswith("0"):
            return None
        address = self._managed_address(symbol, int(added, 16))
        if address is None:
            address = self._data.address(symbol, int(added, 16))
        if address is None:
            return None
        return self._ir.high(address) if is_high else self._ir.low(address)

    def _literal_word(self, bank: int, offset: int) -> int:
        """The word at ``c[bank][offset]``, which is known now."""
        content = self._data.content(bank, self._kernel.name)
        if content is None or offset + 4 > len(content):
            raise UnknownForm(f"c[{bank:#x}][{offset:#x}]", "not in the cubin")
        word: int = struct.unpack_from("<I", content, offset)[0]
        return word
