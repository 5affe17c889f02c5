"""``cass translate --level assembly --direction hip-to-cuda``: RDNA3 to PTX, or to a cubin."""

from __future__ import annotations

import sys
from pathlib import Path

from cass_ray.architectures import (
    DEFAULT_AMD_ARCHITECTURE,
    DEFAULT_NVIDIA_ARCHITECTURE,
    NVIDIA_ARCHITECTURES,
    known_architecture,
)
from cass_ray.assembly import rdna3
from cass_ray.commands.program_options import gather_program
from cass_ray.commands.waiting import waiting
from cass_ray.execute.backends.base import unit_on_disk
from cass_ray.execute.targets import as_hip
from cass_ray.exit_codes import EXIT_FAILED, EXIT_TOOL_MISSING, EXIT_USAGE, fail
from cass_ray.lift.errors import LiftError
from cass_ray.overwriting import write_output
from cass_ray.printable import printable
from cass_ray.rdna3_to_ptx import assemble, to_ptx
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.unit import CompileFailure

_ASSEMBLY, _PROGRAMS, _CUBIN = ".s", (".hip", ".cu", ".cpp"), ".cubin"


def translate_to_nvidia(
    path: Path, output: Path | None, architecture: str | None, *, overwrite: bool = False
) -> None:
    """Write the kernels of ``path`` as PTX, or as a cubin where ``output`` is one.

    ``path`` is RDNA3 assembly, or a program that clang compiles to it. A kernel with an instruction
    that has no translation is named and left out, and the command ends with 1.
    """
    try:
        target = known_architecture(
            architecture or DEFAULT_NVIDIA_ARCHITECTURE, NVIDIA_ARCHITECTURES
        )
        text = _rdna3(path)
        module = to_ptx(text, target, partial=True)
        content: str | bytes = module.text
        if output is not None and output.suffix == _CUBIN:
            with waiting(f"assembling {path.name}"):
                content = assemble(module.text, find_nvidia(), target)
        if output is None:
            sys.stdout.write(module.text)
        else:
            write_output(output, content, overwrite=overwrite, inputs=[path])
    except ToolMissing as error:
        fail("translate", error, EXIT_TOOL_MISSING)
    except LiftError as error:
        fail("translate", f"{path}: {error}", EXIT_FAILED)
    except CompileFailure as failure:
        fail("translate", f"{path}: {failure.diagnostic}", EXIT_FAILED)
    except (OSError, ValueError) as error:
        fail("translate", error, EXIT_USAGE)
    sys.stderr.write(f"{printable(path.name)}: {len(module.kernels)} kernel(s) translated\n")
    if module.failures:
        left_out = "".join(f"\n  {printable(str(each))}" for each in module.failures.values())
        fail("translate", f"left out of {path}:{left_out}", EXIT_FAILED)


def _rdna3(path: Path) -> str:
    if path.suffix in _PROGRAMS:
        with unit_on_disk(as_hip(gather_program(path))) as unit:
            return find_amd().compile_device(unit, optimization="-O3").device_assembly
    if path.suffix != _ASSEMBLY:
        names = ", ".join((_ASSEMBLY, *_PROGRAMS))
        raise ValueError(f"{path} is none of {names}: give RDNA3 assembly or a program")
    text = path.read_text("utf-8")
    module = rdna3.parse(text)
    if not module.kernels:
        raise ValueError(f"{path} has no kernel: give the device assembly that clang writes (-S)")
    if module.target and not module.target.startswith(DEFAULT_AMD_ARCHITECTURE[:-2]):
        raise ValueError(
            f"{path} is code of {module.target}: PTX is made of RDNA3's (gfx11) alone;"
            f" compile with --offload-arch={DEFAULT_AMD_ARCHITECTURE}"
        )
    return text
