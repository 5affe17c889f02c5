"""``cass_ray.compile``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cass_ray.architectures import (
    DEFAULT_AMD_ARCHITECTURE,
    DEFAULT_NVIDIA_ARCHITECTURE,
    architecture_named,
)
from cass_ray.execute.backends.base import Assembly
from cass_ray.public.kernels import KernelCode, both_sides, kernels_of, one_side
from cass_ray.public.renderable import Renderable
from cass_ray.public.views import Mark, View
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.opencl.locate import find_opencl_amd, find_opencl_nvidia
from cass_ray.toolchain.unit import Unit


@dataclass(frozen=True, repr=False)
class CompileResult(Renderable, Assembly):
    """Both assembly texts of a program, ``host`` (x86-64) and ``device`` (for ``arch``)."""

    filename: str
    arch: str

    @property
    def kernels(self) -> dict[str, KernelCode]:
        """The device code of each kernel, by its mangled name."""
        return kernels_of(self.device, self.arch)

    def beside(self, other: CompileResult) -> SideBySide:
        """This program and another one, one of them Nvidia's, kernel by kernel.

        Raises :class:`ValueError` where both are of the same vendor.
        """
        if self.arch.startswith("sm_") == other.arch.startswith("sm_"):
            raise ValueError(f"one side for sm_…, one for gfx…: not {self.arch} and {other.arch}")
        return SideBySide(self, other) if self.arch.startswith("sm_") else SideBySide(other, self)

    def view(self) -> View:
        """Its kernels."""
        kernels = self.kernels
        said = f"{self.filename} for {self.arch}: {_number(kernels)}"
        return View(said, Mark.GOOD, list(one_side(kernels)))


@dataclass(frozen=True, repr=False)
class SideBySide(Renderable):
    """One program on both sides."""

    nvidia: CompileResult
    amd: CompileResult

    def view(self) -> View:
        """Kernel by kernel, as far as both sides have them."""
        captions = self.nvidia.arch, self.amd.arch
        ours, theirs = self.nvidia.kernels, self.amd.kernels
        said = f"{captions[0]}: {_number(ours)}, {captions[1]}: {_number(theirs)}"
        return View(said, Mark.PLAIN, list(both_sides(ours, theirs, captions)))


def _number(kernels: dict[str, KernelCode]) -> str:
    instructions = sum(code.instructions for code in kernels.values())
    return f"{len(kernels)} kernel(s), {instructions} instructions"


def compile(path: Path | str, arch: str | None = None) -> CompileResult:
    """Compile one file with the vendor's compiler, in the sandbox; both assembly texts.

    The suffix says the language: ``.cu`` (for ``sm_…``), ``.hip`` (for ``gfx…``) or ``.cl`` (for
    either, ``arch`` decides; its ``host`` is empty). The compiler sees the file's folder and
    nothing else beside itself. Optimization is as in the data set: for size.

    Raises:
        ValueError: the suffix or the pair of language and architecture is not one of these.
        CompileFailure: it does not compile; the compiler's message is in ``diagnostic``.
        ToolMissing: a compiler is not installed; the message says how to get it.
        IsolationUnavailableError: the sandbox does not work on this machine.
    """
    source = Path(path).resolve()
    arch = (architecture_named(arch) if arch else None) or (
        DEFAULT_AMD_ARCHITECTURE if source.suffix == ".hip" else DEFAULT_NVIDIA_ARCHITECTURE
    )
    host, device = _texts(source, arch)
    return CompileResult(host, device, source.name, arch)


def _texts(source: Path, arch: str) -> tuple[str, str]:
    unit = Unit(source.parent, PurePosixPath(source.name))
    match source.suffix, arch[:3]:
        case ".cu", "sm_":
            nvidia = find_nvidia(architectures=[arch])
            pair = nvidia.compile(unit, [arch])
            return pair.host_assembly, nvidia.disassemble([pair.cubins[arch]])[0]
        case ".hip", "gfx":
            result = find_amd().compile(unit, arch)
            return result.host_assembly, result.device_assembly
        case ".cl", "sm_":
            compiler = find_opencl_nvidia()
            cubin = compiler.compile(unit, [arch]).cubins[arch]
            return "", compiler.nvidia.disassemble([cubin])[0]
        case ".cl", "gfx":
            return "", find_opencl_amd().compile(unit, arch).device_assembly
    raise ValueError(
        f"{source.name} for {arch}: give a .cu file for sm_…, a .hip file for gfx…, "
        "or a .cl file for either"
    )
