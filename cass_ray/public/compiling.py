"""``cass_ray.compile_file``."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE, DEFAULT_NVIDIA_ARCHITECTURE
from cass_ray.execute.backends.base import Assembly
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.opencl.locate import find_opencl_amd, find_opencl_nvidia
from cass_ray.toolchain.unit import Unit


def compile_file(path: Path | str, arch: str | None = None) -> Assembly:
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
    arch = arch or (
        DEFAULT_AMD_ARCHITECTURE if source.suffix == ".hip" else DEFAULT_NVIDIA_ARCHITECTURE
    )
    unit = Unit(source.parent, PurePosixPath(source.name))
    match source.suffix, arch[:3]:
        case ".cu", "sm_":
            nvidia = find_nvidia()
            pair = nvidia.compile(unit, [arch])
            return Assembly(pair.host_assembly, *nvidia.disassemble([pair.cubins[arch]]))
        case ".hip", "gfx":
            made = find_amd().compile(unit, arch)
            return Assembly(made.host_assembly, made.device_assembly)
        case ".cl", "sm_":
            compiler = find_opencl_nvidia()
            cubin = compiler.compile(unit, [arch]).cubins[arch]
            return Assembly("", *compiler.nvidia.disassemble([cubin]))
        case ".cl", "gfx":
            return Assembly("", find_opencl_amd().compile(unit, arch).device_assembly)
    raise ValueError(
        f"{source.name} for {arch}: give a .cu file for sm_…, a .hip file for gfx…, "
        "or a .cl file for either"
    )
