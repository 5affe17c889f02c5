"""An Nvidia executable with other device code for AMD than a lifting of its own.

What is replaced is one cubin, known by its bytes: the code object takes the place of exactly that
machine code, and the executable stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cass_ray.lift.frontend.cubin import architecture
from cass_ray.port.errors import PortError
from cass_ray.port.executable import read_executable, read_without_libraries
from cass_ray.port.fatbin import cubins
from cass_ray.port.lifting import LiftedContainer
from cass_ray.port.running import PortedExecutable
from cass_ray.toolchain.amd.bundle import bundle
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain


@dataclass(frozen=True)
class OriginalProgram:
    """A CUDA program as nvcc linked it, with the shared runtime.

    ``container`` names the fat binary with its kernels, ``capability`` is that of their machine
    code (80 for sm_80).
    """

    executable: bytes
    container: str
    capability: int


def read_original(path: Path, cubin: bytes, nvidia: NvidiaToolchain) -> OriginalProgram:
    """The program in ``path``, whose machine code is ``cubin``.

    Raises :class:`PortError` where it holds other machine code, or needs what lifted programs do
    not have.
    """
    executable = read_without_libraries(path)
    for container in executable.containers:
        if container.is_empty:
            continue
        members = [each for group in cubins(container, nvidia).values() for each in group]
        if cubin in members:
            capability = architecture(Cubin.parse(cubin))
            return OriginalProgram(path.read_bytes(), container.key, capability)
    raise PortError("no fat binary of the executable holds this machine code")


def with_device_code(
    path: Path, program: OriginalProgram, code_object: bytes, processor: str
) -> PortedExecutable:
    """``program``, which is in ``path``, with ``code_object`` for an AMD ``processor``."""
    fat_binary = bundle({processor: code_object})
    replaced = LiftedContainer(program.container, program.capability, fat_binary, (), {})
    return PortedExecutable(read_executable(path), (replaced,))
