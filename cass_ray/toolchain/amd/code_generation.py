"""clang as a code generator: LLVM IR of device code to assembly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.amd import link
from cass_ray.toolchain.resident.runs import run
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.process import Completed, Limits
from cass_ray.toolchain.unit import CompileFailure, Unit, classify, forbidden_read


def generate(
    command: Sequence[str],
    unit: Unit,
    ir: str,
    flags: Sequence[str],
    visible: Sequence[Path],
    limits: Limits,
) -> Completed:
    """The clang ``command`` run on the LLVM IR of ``unit``'s device code: assembly on stdout.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    target = ["-target", link.AMDGPU_TARGET, "-nogpulib", *flags, "-x", "ir", "device.ll"]
    with private_folder() as folder:
        (folder / "device.ll").write_text(ir)
        view = View(read_only=tuple(visible), writable=(folder,))
        completed = run([*command, *target, "-S", "-o", "-"], cwd=folder, limits=limits, view=view)
    if not completed.ok:
        raise classify(completed, unit, "clang (device code)")
    if path := forbidden_read(completed.stdout_text, unit):
        message = f"the assembler is told to read {path}, outside the source tree"
        raise CompileFailure(Reason.FORBIDDEN_INCLUDE, message, "clang (device code)")
    return completed
