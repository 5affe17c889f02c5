"""Which processors a toolchain compiles HIP for."""

from __future__ import annotations

from cass_ray.architectures import NEWER_CLANG, amd_target
from cass_ray.toolchain.amd.clang import NEWER_CLANG_REMEDY
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.search_paths import ROCM_VARIABLES


def target_problem(toolchain: AmdToolchain, name: str) -> str:
    """Why HIP cannot be compiled for the processor ``name``, with the remedy; empty where it can.

    Raises ``ValueError`` for an unknown one.
    """
    target = amd_target(name)
    bitcode = toolchain.rocm_path / "amdgcn" / "bitcode"
    if (bitcode / f"oclc_isa_version_{name.removeprefix('gfx')}.bc").exists():
        return ""
    if target.needs == NEWER_CLANG:
        return f"{name} needs {target.needs}. {NEWER_CLANG_REMEDY}"
    return (
        f"{name} needs {target.needs}: install ROCm's rocm-device-libs and name the installation"
        f" in {ROCM_VARIABLES[0]}"
    )
