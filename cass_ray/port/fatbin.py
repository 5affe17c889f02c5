"""CUDA's fat binaries: the containers in an executable's ``.nv_fatbin`` section.

A container is a 16-byte header (magic, version, header size, content size) and entries, which are
cubins and PTX, mostly compressed. Their layout is undocumented: cuobjdump unpacks them.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cass_ray.port.errors import PortError
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.outputs import read_written
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, run

MAGIC = 0xBA55ED50
_HEADER = struct.Struct("<IHHQ")
_ALIGNMENT = 8
_ARCHITECTURE = re.compile(r"\.sm_(\d+)[af]?\.cubin$")
_TARGET = re.compile(rb"^\s*\.target\s+sm_(\d+)([af]?)", re.MULTILINE)


@dataclass(frozen=True)
class FatBinaryContainer:
    """One fat binary: ``data`` is all of it, header included."""

    data: bytes

    @property
    def key(self) -> str:
        """Names the container; ``runtime/registration.cpp`` computes the same."""
        return f"{zlib.crc32(self.data):08x}-{len(self.data)}"

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing: nvcc puts such a one before the PTX of a program."""
        return len(self.data) <= _HEADER.size


def containers(section: bytes) -> Iterator[FatBinaryContainer]:
    """The containers in ``section``, one after another. Raises :class:`PortError`."""
    position = 0
    while position + _HEADER.size <= len(section):
        magic, _, header, content = _HEADER.unpack_from(section, position)
        if magic != MAGIC:
            if section[position:].strip(b"\0"):
                raise PortError(f"no fat binary at offset {position:#x} of the device code section")
            return
        end = position + header + content
        if header < _HEADER.size or end > len(section):
            raise PortError(f"the fat binary at offset {position:#x} is cut short")
        yield FatBinaryContainer(section[position:end])
        position = -(-end // _ALIGNMENT) * _ALIGNMENT


def cubins(container: FatBinaryContainer, toolchain: NvidiaToolchain) -> dict[int, list[bytes]]:
    """Cubins by architecture (80 for sm_80), unpacked by cuobjdump in the sandbox.

    Raises :class:`PortError` with cuobjdump's message.
    """
    result: dict[int, list[bytes]] = {}
    for name, data in _extract(container, toolchain, "-xelf"):
        if matched := _ARCHITECTURE.search(name):
            result.setdefault(int(matched[1]), []).append(data)
    return result


def assembled(container: FatBinaryContainer, toolchain: NvidiaToolchain) -> dict[int, list[bytes]]:
    """Cubins of the container's PTX by architecture, by ptxas in the sandbox, as the driver would.

    Each is for the architecture that the PTX names. Empty where there is no PTX or no ptxas. Raises
    :class:`PortError` with the message of a tool.
    """
    result: dict[int, list[bytes]] = {}
    if not toolchain.nvcc.with_name("ptxas").exists():
        return result
    for name, text in _extract(container, toolchain, "-xptx"):
        number, cubin = assembled_ptx(text, toolchain, name)
        result.setdefault(number, []).append(cubin)
    return result


class NoPtxAssembler(PortError):
    """There is PTX, and no ptxas beside nvcc."""


def assembled_ptx(text: bytes, toolchain: NvidiaToolchain, name: str = "PTX") -> tuple[int, bytes]:
    """The architecture (80 for sm_80) and the cubin of a PTX text, by ptxas in the sandbox.

    It is the one that the PTX names, or the first later one that ptxas knows. Raises
    :class:`PortError` with the message of ptxas.
    """
    number, suffix = ptx_target(text, toolchain, name)
    return number, _assemble(text, f"sm_{number}{suffix}", toolchain)


def relocatable(text: bytes, toolchain: NvidiaToolchain, name: str, target: str = "") -> bytes:
    """A cubin of a PTX text for nvlink, for ``target`` or the architecture that the text names.

    Raises :class:`PortError` with the message of ptxas.
    """
    number, suffix = ptx_target(text, toolchain, name)
    return _assemble(text, target or f"sm_{number}{suffix}", toolchain, "-c")


def ptx_target(text: bytes, toolchain: NvidiaToolchain, name: str) -> tuple[int, str]:
    """What ptxas makes a PTX text for, 80 for sm_80, and the letter behind it (``a``), if any.

    Raises :class:`PortError` where the text names nothing, or where there is no ptxas.
    """
    target = _TARGET.search(text)
    if target is None:
        raise PortError(f"{name}: PTX that names no target")
    ptxas = toolchain.nvcc.with_name("ptxas")
    number, suffix = int(target[1]), target[2].decode()
    if not ptxas.exists():
        raise NoPtxAssembler(
            f"{name}: PTX is assembled by ptxas, which is not beside {toolchain.nvcc}: install "
            f"'cass-ray[nvidia]', or load what `ptxas -arch=sm_{number}{suffix} x.ptx -o x.cubin` "
            "makes elsewhere"
        )
    numbers = [int(each.removeprefix("sm_")) for each in toolchain.targets]
    if not suffix:
        number = min((each for each in numbers if each >= number), default=number)
    return number, suffix


def _assemble(text: bytes, architecture: str, toolchain: NvidiaToolchain, *flags: str) -> bytes:
    ptxas = toolchain.nvcc.with_name("ptxas")
    with private_folder() as folder:
        (folder / "device.ptx").write_bytes(text.rstrip(b"\0"))
        view = View(read_only=toolchain.visible(), writable=(folder,))
        command: list[str | Path] = [ptxas, *flags, f"-arch={architecture}", "device.ptx"]
        command += ["-o", "device.cubin"]
        done = run(command, cwd=folder, limits=COMPILE_LIMITS, view=view)
        cubin = (
            read_written(folder / "device.cubin", COMPILE_LIMITS.file_bytes) if done.ok else None
        )
        if cubin is None:
            raise PortError(f"ptxas: {done.stderr_text.strip() or done.outcome.value}")
        return cubin


def _extract(
    container: FatBinaryContainer, toolchain: NvidiaToolchain, option: str
) -> list[tuple[str, bytes]]:
    with private_folder() as folder:
        (folder / "device.fatbin").write_bytes(container.data)
        view = View(read_only=toolchain.visible(), writable=(folder,))
        command: list[str | Path] = [toolchain.cuobjdump, option, "all", "device.fatbin"]
        done = run(command, cwd=folder, limits=COMPILE_LIMITS, view=view)
        if not done.ok:
            raise PortError(f"cuobjdump: {done.stderr_text.strip() or done.outcome.value}")
        files = sorted(path for path in folder.iterdir() if path.name != "device.fatbin")
        read = ((path.name, read_written(path, COMPILE_LIMITS.file_bytes)) for path in files)
        return [(name, data) for name, data in read if data is not None]
