"""LLVM IR to RDNA3 assembly, by LLVM's AMDGPU backend in the sandbox."""

from __future__ import annotations

from pathlib import Path

from cass_ray.lift.errors import CompilerFailure
from cass_ray.toolchain.amd import AmdToolchain
from cass_ray.toolchain.isolation import View, private_folder
from cass_ray.toolchain.process import COMPILE_LIMITS, Limits, run

_FLAGS = (
    "-x",
    "ir",
    "-target",
    "amdgcn-amd-amdhsa",
    "-mcode-object-version=5",
    "-nogpulib",
    "-O3",
    "-ffp-contract=off",
    "-fno-discard-value-names",
    "-w",
)


def assembly(
    toolchain: AmdToolchain, module: str, architecture: str, limits: Limits = COMPILE_LIMITS
) -> str:
    """RDNA3 assembly of an LLVM module. Raises :class:`CompilerFailure`."""
    with private_folder() as folder:
        (folder / "lifted.ll").write_text(module)
        command: list[str | Path] = [
            toolchain.clang,
            *_FLAGS,
            f"-mcpu={architecture}",
            "-S",
            "lifted.ll",
            "-o",
            "-",
        ]
        view = View(read_only=toolchain.visible(), writable=(folder,))
        done = run(command, cwd=folder, limits=limits, view=view)
    if not done.ok:
        message = done.stderr_text.strip()[-2000:] or done.outcome.value
        raise CompilerFailure(f"LLVM refused the lifted code: {message}")
    return done.stdout_text
