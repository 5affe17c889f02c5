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
DRIVER_LIBRARY = b"libcuda.so.1"
_DRIVER_MARKS = (DRIVER_LIBRARY, b"cudaGetDriverEntryPoint", b"cudaLibraryLoad")
"""What programs have that may load code: the driver's name, or the runtime's ways to it."""
# Names of the runtime's own symbols, which a static copy leaves in the file.
_STATIC_MARKS = (b"cudaGetExportTable", b"cudart_static")
_STATIC_MESSAGE = (
    "linked with the static CUDA runtime, nvcc's default, which calls the Nvidia driver "
    "itself; link it again with `nvcc -cudart shared` (CMake: CUDA_RUNTIME_LIBRARY Shared)"
)


@dataclass(frozen=True)
class Executable:
    """What ``cass run-binary`` needs to know of a program.

    ``runtime`` is the major version of its CUDA runtime (``libcudart.so.13``), None for a program
    of the driver interface alone; ``libraries`` are the other Nvidia libraries that it needs.
    """

    path: Path
    runtime: int | None
    containers: tuple[FatBinaryContainer, ...]
    libraries: tuple[str, ...]
    loads_code: bool = False
    """Whether it may load device code while it runs, by the driver interface."""


def read_executable(path: Path) -> Executable:
    """Read ``path``.

    Raises:
        PortError: not an x86-64 executable with device code or of the driver interface, or one that
            is not linked to a shared CUDA runtime of a version that there is a library for.
    """
    data = path.read_bytes()
    sections = _sections(data, path)
    device = sections.get(".nv_fatbin")
    needed = _needed(sections, path)
    runtimes = [int(match[1]) for name in needed if (match := _RUNTIME.match(name))]
    loads_code = any(mark in data for mark in _DRIVER_MARKS)
    if device is None and not loads_code:
        raise PortError(f"{path} holds no CUDA device code (no section .nv_fatbin)")
    # nvcc's code registers what it has with the runtime: where that is not needed, it is inside.
    if not runtimes and (device is not None or any(mark in data for mark in _STATIC_MARKS)):
        raise PortError(f"{path}: {_STATIC_MESSAGE}")
    if runtimes and runtimes[0] not in _SUPPORTED:
        raise PortError(
            f"{path} needs libcudart.so.{runtimes[0]}; there is one for CUDA 12 and 13: build the "
            "program with either"
        )
    others = tuple(name for name in needed if _is_nvidia(name))
    runtime = runtimes[0] if runtimes else None
    return Executable(path, runtime, tuple(containers(device or b"")), others, loads_code)


def read_without_libraries(path: Path) -> Executable:
    """As :func:`read_executable`, of a program that needs the CUDA runtime and no more.

    Raises :class:`PortError` too where it needs another of Nvidia's libraries.
    """
    executable = read_executable(path)
    if executable.libraries:
        names = ", ".join(executable.libraries)
        raise PortError(f"it needs {names}, which lifted programs do not have")
    return executable


def _is_nvidia(name: str) -> bool:
    if _RUNTIME.match(name) or name == DRIVER_LIBRARY.decode():
        return False
    return name.startswith(("libcu", "libnv", "libnpp"))


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
