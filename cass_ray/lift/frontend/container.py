"""Cubins in files: a cubin itself, a fat binary, or a host program with fat binaries in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend import cubin as reading
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.outputs import read_written
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, run

_EM_CUDA = 190
_FILE = "device.bin"


@dataclass(frozen=True)
class FoundCubin:
    """A cubin and where it was: the file's own name, or the member that cuobjdump calls it."""

    name: str
    architecture: int
    """80 for sm_80; 0 for one that cannot be lifted."""
    data: bytes


def cubins_in(path: Path, toolchain: NvidiaToolchain) -> list[FoundCubin]:
    """All cubins in a file, in its order.

    Raises :class:`LiftError` when there is none, with cuobjdump's message where it has one.
    """
    data = path.read_bytes()
    if _is_cubin(data):
        return [_found(path.name, data)]
    with private_folder() as folder:
        (folder / _FILE).write_bytes(data)
        view = View(read_only=toolchain.visible(), writable=(folder,))
        command: list[str | Path] = [toolchain.cuobjdump, "-xelf", "all", _FILE]
        done = run(command, cwd=folder, limits=COMPILE_LIMITS, view=view)
        extracted = sorted(each for each in folder.iterdir() if each.name != _FILE)
        read = ((each.name, read_written(each, COMPILE_LIMITS.file_bytes)) for each in extracted)
        cubins = [_found(name, content) for name, content in read if content is not None]
    if not cubins:
        message = done.stderr_text.strip() or done.stdout_text.strip() or "no device code"
        raise LiftError(f"no cubin in it: {message.replace(str(folder / _FILE), path.name)}")
    return cubins


def best_cubins(cubins: list[FoundCubin]) -> list[FoundCubin]:
    """Return those with kernels of the architecture whose instructions are known best.

    Raises :class:`LiftError` for none.
    """
    with_code = [each for each in cubins if each.architecture and _has_kernels(each)]
    if not with_code:
        names = ", ".join(each.name for each in cubins)
        supported = ", ".join(f"sm_{number}" for number in reading.SUPPORTED)
        raise LiftError(f"no cubin with kernels for {supported} among {names}")
    best = min((each.architecture for each in with_code), key=reading.PREFERRED.index)
    return [each for each in with_code if each.architecture == best]


def _has_kernels(cubin: FoundCubin) -> bool:
    return bool(reading.kernel_names(Cubin.parse(cubin.data)))


def _is_cubin(data: bytes) -> bool:
    return data[:4] == b"\x7fELF" and int.from_bytes(data[18:20], "little") == _EM_CUDA


def _found(name: str, data: bytes) -> FoundCubin:
    try:
        return FoundCubin(name, reading.architecture(Cubin.parse(data)), data)
    except (CubinError, LiftError):
        return FoundCubin(name, 0, data)
