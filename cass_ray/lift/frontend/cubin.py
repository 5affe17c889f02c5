"""What a cubin says about its kernels beside their code: parameters, sizes, limits."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from cass_ray.architectures import NVIDIA_TARGETS
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.driver_words import DriverWords, driver_words
from cass_ray.toolchain.elf import BinaryReader, DamagedFile
from cass_ray.toolchain.nvidia.elf import Cubin, CubinSection

PREFERRED = (90, 89, 88, 87, 86, 80, 120, 121, 100, 103, 110, 75)
"""Architectures of one program's machine code, the one first whose instructions are known best."""
SUPPORTED = tuple(target.number for target in NVIDIA_TARGETS)

# Attributes of .nv.info and .nv.info.KERNEL (EIATTR_*).
_PARAM_CBANK, _FRAME_SIZE, _MIN_STACK_SIZE, _KPARAM_INFO = 0x0A, 0x11, 0x12, 0x17
_MAX_THREADS, _REQUIRED_THREADS, _CLUSTER = 0x05, 0x10, 0x3D
_SIZED = 4  # format EIFMT_SVAL: a 16-bit size, then that many bytes
_ENTRY = 0x10  # STO_CUDA_ENTRY in st_other
_TARGETS = frozenset({0x3A, 0x4B})
"""Relocations of the target in a call or jump: R_CUDA_ABS47_34, R_CUDA_ABS55_16_34."""
_RELOCATIONS = {4: struct.Struct("<QQq"), 9: struct.Struct("<QQ")}  # SHT_RELA, SHT_REL
# Values of these attributes.
_KPARAM, _CBANK = struct.Struct("<IHHI"), struct.Struct("<IHH")
_TWO_WORDS, _THREE_WORDS = struct.Struct("<II"), struct.Struct("<III")
_MANAGED = 0x04  # STO_CUDA_MANAGED
_FUNCTION, _OBJECT = 2, 1
_RESERVED_SHARED = 0x400
_MOST_THREADS, _WARP_LANES = 1024, 32
_REGISTERS, _PARTITIONS, _REGISTER_UNIT = 1 << 16, 4, 256
"""A multiprocessor's registers, its partitions with a quarter of them each, and the unit in which a
warp gets them (CUDA's occupancy calculator, for all of sm_75 to sm_121)."""
_UNKNOWN_SIZE = 1 << 24
"""Sizes from here on stand for one that the compiler does not know."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter: byte offset in the parameter block, and size."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """A kernel's resources; sizes and offsets in bytes."""

    name: str
    parameters: tuple[Parameter, ...]
    parameter_base: int
    """Offset of the parameters in constant bank 0."""
    frame_size: int
    shared_size: int
    """Static shared memory, the kilobyte that sm_90 reserves included."""
    max_threads: int
    required_threads: int
    """Exact number of threads of a block, where the kernel demands one; else 0."""
    driver: DriverWords
    """What the driver puts in front of the parameters."""
    architecture: int
    """80 for sm_80."""
    cluster: tuple[int, int, int] | None = None
    """Blocks of a cluster along each axis, where the kernel itself asks for clusters."""

    @property
    def cluster_blocks(self) -> int:
        """Blocks of a cluster, 1 where the kernel does not ask for clusters."""
        return math.prod(self.cluster or (1,))

    @property
    def reserved_shared(self) -> int:
        """Bytes at the start of shared memory that programs leave alone; part of the static
        size."""
        return _RESERVED_SHARED if self.architecture >= 90 else 0


def architecture(cubin: Cubin) -> int:
    """80 for sm_80. Raises :class:`LiftError` for machines that the table does not describe."""
    flags = cubin.machine.flags
    for number in (flags >> 8 & 0xFF, flags & 0xFF):
        if number in SUPPORTED:
            return number
    supported = ", ".join(f"sm_{number}" for number in SUPPORTED)
    raise LiftError(f"not a cubin for one of {supported} (ELF flags {flags:#x})")


def parameter_base(number: int) -> int:
    """Where parameters begin in bank 0 on sm_``number``, in bytes."""
    return 0x380 if number >= 100 else 0x210 if number >= 90 else 0x160


def kernel_names(cubin: Cubin) -> list[str]:
    """Mangled names of the entry points, in the order of the symbol table."""
    return [s.name for s in cubin.symbols if s.info & 15 == _FUNCTION and s.other & _ENTRY]


def variable_names(cubin: Cubin) -> list[str]:
    """Names of device and constant variables."""
    return [s.name for s in cubin.symbols if s.info & 15 == _OBJECT and s.section and s.name]


def managed_names(cubin: Cubin) -> list[str]:
    """Names of the variables declared ``__managed__``."""
    return [s.name for s in cubin.symbols if s.info & 15 == _OBJECT and s.other & _MANAGED]


def kernel_info(cubin: Cubin, name: str) -> KernelInfo:
    """Resources of the kernel ``name``. Raises :class:`LiftError` for damaged attributes."""
    try:
        return _kernel_info(cubin, name)
    except DamagedFile as error:
        raise LiftError(f"{name}: damaged attributes of the kernel: {error}") from error


def _kernel_info(cubin: Cubin, name: str) -> KernelInfo:
    number = architecture(cubin)
    base = parameter_base(number)
    sections = {each.name: each for each in reversed(cubin.sections)}
    code, shared = sections.get(f".text.{name}"), sections.get(f".nv.shared.{name}")
    max_threads = threads_by_registers(code.registers if code else 0)
    required_threads = 0
    cluster: tuple[int, int, int] | None = None
    parameters: list[tuple[int, Parameter]] = []
    for attribute, value in _attributes(sections.get(f".nv.info.{name}")):
        if attribute == _KPARAM_INFO:
            _, ordinal, offset, fields = BinaryReader(value).fields(_KPARAM)
            parameters.append((ordinal, Parameter(offset, fields >> 18 & 0x3FFF)))
        elif attribute == _PARAM_CBANK:
            _, base, _ = BinaryReader(value).fields(_CBANK)
        elif attribute in (_MAX_THREADS, _REQUIRED_THREADS):
            x, y, z = BinaryReader(value).fields(_THREE_WORDS)
            if attribute == _REQUIRED_THREADS:
                required_threads = min(_MOST_THREADS, x * y * z)
            max_threads = min(max_threads, x * y * z)
        elif attribute == _CLUSTER:
            x, y, z = BinaryReader(value).fields(_THREE_WORDS)
            cluster = x, y, z
    frame = 0
    for attribute, value in _attributes(sections.get(".nv.info")):
        if attribute in (_FRAME_SIZE, _MIN_STACK_SIZE):
            symbol, size = BinaryReader(value).fields(_TWO_WORDS)
            if (
                symbol < len(cubin.symbols)
                and cubin.symbols[symbol].name == name
                and size < _UNKNOWN_SIZE
            ):
                frame = max(frame, size)
    return KernelInfo(
        name,
        tuple(parameter for _, parameter in sorted(parameters, key=lambda item: item[0])),
        base,
        frame,
        shared.size if shared else 0,
        max(max_threads, required_threads),
        required_threads,
        driver_words(number),
        number,
        cluster,
    )


def threads_by_registers(count: int) -> int:
    """The largest block of threads with ``count`` registers each; launches of more fail."""
    if not count:
        return _MOST_THREADS
    units = -(-count * _WARP_LANES // _REGISTER_UNIT)
    warps = _REGISTERS // _PARTITIONS // (units * _REGISTER_UNIT) * _PARTITIONS
    return min(_MOST_THREADS, warps * _WARP_LANES)


def subroutines(cubin: Cubin) -> dict[str, dict[str, int]]:
    """Function symbols inside code sections: name of the section's function -> name -> address."""
    entries: dict[str, dict[str, int]] = {}
    for symbol in cubin.symbols:
        if symbol.info & 15 != _FUNCTION or not 0 < symbol.section < len(cubin.sections):
            continue
        owner = cubin.sections[symbol.section].name.removeprefix(".text.")
        if symbol.name != owner:
            entries.setdefault(owner, {})[symbol.name] = symbol.value
    return entries


def system_functions(cubin: Cubin) -> list[str]:
    """Functions that code refers to and the cubin does not define."""
    return [
        s.name for s in cubin.symbols if s.name and not s.section and s.info & 15 in (0, _FUNCTION)
    ]


def referred_symbols(cubin: Cubin) -> frozenset[str] | None:
    """Symbols whose addresses data and code have, by relocations; None for a cubin without any.

    A function that is called through a pointer is among them, one that is called by name is not:
    the target of a call or jump is no value in the program. An offset from a symbol is a place in
    a function, such as where a call returns to.
    """
    symbols: set[str] = set()
    tables = [s for s in cubin.sections if s.kind in _RELOCATIONS and "debug" not in s.name]
    for table in tables:
        for _, info, *added in _RELOCATIONS[table.kind].iter_unpack(table.data):
            if info & 0xFFFFFFFF not in _TARGETS and not any(added):
                symbols.add(cubin.symbols[info >> 32].name)
    return frozenset(symbols) if tables else None


def _attributes(section: CubinSection | None) -> Iterator[tuple[int, bytes]]:
    data, position = section.data if section else b"", 0
    while position + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, position)
        position += 4
        if form == _SIZED:
            yield attribute, data[position : position + size]
            position += size
        else:
            yield attribute, size.to_bytes(2, "little")
