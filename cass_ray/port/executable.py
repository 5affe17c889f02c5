"""An Nvidia executable: its device code and how it is linked to the CUDA runtime."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from cass_ray.port.errors import PortError
from cass_ray.port.fatbin import FatBinaryContainer, containers
from cass_ray.toolchain.elf import MAGIC, BinaryReader, DamagedFile, read_header, read_sections

_DYNAMIC = struct.Struct("<qQ")
_X86_64 = 62
_NEEDED = 1  # DT_NEEDED
_RUNTIME = re.compile(r"^libcudart\.so\.(\d+)")
_SUPPORTED = (12, 13)
# Names of the runtime's own messages and symbols, which a static copy leaves in the file.
_STATIC_MARKS = (b"cudaGetExportTable", b"cudart_static", b"libcuda.so.1")


@dataclass(frozen=True)
class Executable:
    """What ``cass port`` needs to know of a program.

    ``runtime`` is the major version of its CUDA runtime (``libcudart.so.13``), ``libraries`` the
    other Nvidia libraries that it needs.
    """

    path: Path
    runtime: int
    containers: tuple[FatBinaryContainer, ...]
    libraries: tuple[str, ...]


def read_executable(path: Path) -> Executable:
    """Read ``path``.

    Raises:
        PortError: not an x86-64 executable with device code, or one that is not linked to a shared
            CUDA runtime of a version that there is a library for.
    """
    data = path.read_bytes()
    sections = _sections(data, path)
    device = sections.get(".nv_fatbin")
    needed = _needed(sections, path)
    runtimes = [int(found[1]) for name in needed if (found := _RUNTIME.match(name))]
    if device is None:
        raise PortError(f"{path} holds no CUDA device code (no section .nv_fatbin)")
    if not runtimes:
        raise PortError(f"{path}: {_static_message(data)}")
    if runtimes[0] not in _SUPPORTED:
        raise PortError(
            f"{path} needs libcudart.so.{runtimes[0]}; there is one for CUDA 12 and 13: build the "
            "program with either"
        )
    others = tuple(name for name in needed if _is_nvidia(name))
    return Executable(path, runtimes[0], tuple(containers(device)), others)


def _static_message(data: bytes) -> str:
    if any(mark in data for mark in _STATIC_MARKS):
        return (
            "linked with the static CUDA runtime, nvcc's default, which calls the Nvidia driver "
            "itself; link it again with `nvcc -cudart shared` (CMake: CUDA_RUNTIME_LIBRARY Shared)"
        )
    return "needs no libcudart.so; it may use the CUDA driver interface, which is not supported"


def _is_nvidia(name: str) -> bool:
    prefixes = ("libcu", "libnv", "libnpp")
    return name.startswith(prefixes) and not _RUNTIME.match(name)


def _sections(data: bytes, path: Path) -> dict[str, bytes]:
    if not data.startswith(MAGIC):
        raise PortError(f"{path} is not a 64-bit executable (ELF)")
    try:
        if read_header(data).machine != _X86_64:
            raise PortError(f"{path} is for another processor than x86-64")
        return {section.name: section.data for section in read_sections(data)}
    except DamagedFile as error:
        raise PortError(f"{path} is a damaged ELF file: {error}") from error


def _needed(sections: dict[str, bytes], path: Path) -> list[str]:
    """Libraries that the dynamic linker must find."""
    strings = BinaryReader(sections.get(".dynstr", b""))
    try:
        entries = BinaryReader(sections.get(".dynamic", b"")).table(_DYNAMIC)
        return [strings.text(value) for tag, value in entries if tag == _NEEDED]
    except DamagedFile as error:
        raise PortError(f"{path} is a damaged ELF file: {error}") from error
