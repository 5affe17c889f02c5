"""``cass lift``: what the SASS lifter covers; ``cass translate --level assembly`` runs it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE
from cass_ray.commands.endings import ending
from cass_ray.commands.native_matrices import report_native_matrices
from cass_ray.commands.program_options import gather_program
from cass_ray.commands.waiting import waiting
from cass_ray.execute.backends.base import unit_on_disk
from cass_ray.execute.targets import as_hip
from cass_ray.exit_codes import EXIT_FAILED, EXIT_TOOL_MISSING, EXIT_USAGE, fail
from cass_ray.lift import LiftedModule, LiftError, lift_cubin, lift_text, names_for_host
from cass_ray.lift.coverage import LiftCoverage, measure
from cass_ray.lift.frontend.container import best_cubins, cubins_in
from cass_ray.lift.frontend.listing import cubin_of, is_listing
from cass_ray.overwriting import write_output
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.disassembly import DisassemblyError
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.unit import CompileFailure

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

_LISTED = 40
_BATCH = 64


@app.callback()
def _group() -> None:
    """What the SASS lifter covers."""


@app.command()
def coverage(
    paths: Annotated[
        list[Path], typer.Argument(help="Cubins, executables, or folders with .cubin files.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Opcode forms in machine code: proven, tested, only lifted, not lifted."""
    with ending("lift", usage=(OSError, LiftError, CubinError)), waiting("reading machine code"):
        figures = measure(_listings(paths, find_nvidia()))
    sys.stdout.write(
        json.dumps(as_dictionary(figures), indent=2) + "\n" if as_json else as_text(figures)
    )
    if figures.missing:
        raise typer.Exit(EXIT_FAILED)


def as_dictionary(figures: LiftCoverage) -> dict[str, object]:
    """The coverage as ``--json`` prints it."""
    return {
        "instructions": figures.instructions,
        "covered_instructions": figures.covered_instructions,
        "kernels": figures.kernels,
        "covered_kernels": figures.covered_kernels,
        "forms": len(figures.seen),
        "missing": dict(figures.missing.most_common()),
        "by_architecture": {
            architecture: {
                str(evidence): {"forms": forms, "instructions": instructions}
                for evidence, (forms, instructions) in figures.evidence_totals(architecture).items()
            }
            for architecture in sorted(figures.forms)
        },
        "only_lifted": dict(figures.only_lifted().most_common()),
    }


def as_text(figures: LiftCoverage) -> str:
    """The coverage as a table, the unknown forms below it."""
    lines = [
        f"instructions: {figures.covered_instructions} of {figures.instructions}"
        f" ({figures.instruction_share:.2%}), {len(figures.seen)} forms",
        f"kernels: {figures.covered_kernels} of {figures.kernels} ({figures.kernel_share:.2%})",
    ]
    for architecture in sorted(figures.forms):
        lines += [f"{architecture or 'unknown architecture'}:"]
        total = figures.forms[architecture].total()
        lines += [
            f"  {evidence:12} {forms:6} forms {count:10} instructions ({count / (total or 1):.2%})"
            for evidence, (forms, count) in figures.evidence_totals(architecture).items()
        ]
    unproven = figures.only_lifted().most_common(_LISTED)
    lines += [f"  only lifted {count:8}  {form}" for form, count in unproven]
    lines += [
        f"  missing {count:8}  {form}" for form, count in figures.missing.most_common(_LISTED)
    ]
    if len(figures.missing) > _LISTED:
        lines.append(f"  … and {len(figures.missing) - _LISTED} more forms")
    return "\n".join(lines) + "\n"


def _listings(paths: list[Path], toolchain: NvidiaToolchain) -> Iterator[str]:
    files: list[Path] = []
    for path in paths:
        files += sorted(path.rglob("*.cubin")) if path.is_dir() else [path]
    for start in range(0, len(files), _BATCH):
        cubins: list[bytes] = []
        for path in files[start : start + _BATCH]:
            try:
                found = cubins_in(path, toolchain)
            except LiftError as error:
                raise LiftError(f"{path}: {error}") from error
            cubins += (each.data for each in found if each.architecture)
        yield from toolchain.disassemble(cubins)


def translate_assembly(
    path: Path,
    output: Path | None,
    host: Path | None = None,
    architecture: str = DEFAULT_AMD_ARCHITECTURE,
    *,
    native_matrices: bool = False,
    overwrite: bool = False,
) -> None:
    """Lift the device code of ``path`` and write AMD assembly; ends the command on errors.

    ``path`` is a cubin, an executable, or a listing (with the limits of ``lift.listing``).

    Several cubins, as of a program of several files, give several files beside ``output``. Kernels
    and variables get the names by which ``host`` (a HIP or CUDA program) asks for them.
    """
    try:
        nvidia, amd = find_nvidia(), find_amd()
        wanted = _device_assembly(host, amd, architecture) if host is not None else ""
        if is_listing(data := path.read_bytes()):
            text = data.decode("utf-8", "replace")
            renamed = names_for_host(cubin_of(text), wanted) if wanted else None
            with waiting(f"lifting {path.name}"):
                module = lift_text(
                    text, architecture, amd=amd, names=renamed, native_matrices=native_matrices
                )
            _write(module, output, path, overwrite)
            sys.stderr.write(f"{path.name}: {len(module.kernels)} kernel(s) lifted\n")
            return
        cubins = best_cubins(cubins_in(path, nvidia))
        if len(cubins) > 1 and output is None:
            names = ", ".join(each.name for each in cubins)
            fail(
                "translate", f"{path} holds {len(cubins)} cubins ({names}): give -o OUT", EXIT_USAGE
            )
        for number, each in enumerate(cubins):
            renamed = names_for_host(Cubin.parse(each.data), wanted) if wanted else None
            with waiting(f"lifting {each.name}"):
                module = lift_cubin(
                    each.data,
                    architecture,
                    amd=amd,
                    nvidia=nvidia,
                    names=renamed,
                    native_matrices=native_matrices,
                )
            _write(module, _numbered(output, number), path, overwrite)
            sys.stderr.write(f"{each.name}: {len(module.kernels)} kernel(s) lifted\n")
    except ToolMissing as error:
        fail("translate", error, EXIT_TOOL_MISSING)
    except LiftError as error:
        fail("translate", f"{path}: {error}", EXIT_FAILED)
    except CompileFailure as failure:
        fail("translate", f"{host}: {failure.diagnostic}", EXIT_FAILED)
    except (OSError, CubinError, DisassemblyError) as error:
        fail("translate", error, EXIT_USAGE)


def _device_assembly(host: Path, amd: AmdToolchain, architecture: str) -> str:
    """What clang makes of the kernels of ``host``: it has the names that the host asks for."""
    with unit_on_disk(as_hip(gather_program(host))) as unit:
        return amd.compile(unit, architecture).device_assembly


def _numbered(output: Path | None, number: int) -> Path | None:
    if output is None or number == 0:
        return output
    return output.with_name(f"{output.stem}.{number + 1}{output.suffix}")


def _write(module: LiftedModule, output: Path | None, source: Path, overwrite: bool) -> None:
    if output is None:
        sys.stdout.write(module.assembly)
    else:
        write_output(output, module.assembly, overwrite=overwrite, inputs=[source])
    report_native_matrices("translate", module.native_matrices)
