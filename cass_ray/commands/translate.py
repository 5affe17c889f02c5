"""``cass translate``: CUDA files and folders to HIP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE, DEFAULT_NVIDIA_ARCHITECTURE
from cass_ray.commands.native_matrices import NativeMatrices
from cass_ray.commands.output import Overwrite
from cass_ray.commands.translate_source import GIVE, ReportFormat, SourceJob
from cass_ray.exit_codes import EXIT_USAGE, fail
from cass_ray.task import Direction, Level

# Imported where they are needed: the lifter and the HTTP client take longer to import than a file
# takes to translate.

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def translate(
    path: Annotated[Path, typer.Argument(help="A CUDA file, or a folder.", metavar="FILE|DIR")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File or folder to write.")
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Write over FILE or DIR; originals: NAME.orig.")
    ] = False,
    branch: Annotated[
        str, typer.Option(metavar="NAME", help="Write over it in a commit on a new git branch.")
    ] = "",
    engine: Annotated[
        str,
        typer.Option(
            help="rules, rules-hip-to-cuda, hipify-perl, hipify-clang, model:PATH or chat:MODEL."
        ),
    ] = "rules",
    level: Annotated[
        Level,
        typer.Option(
            help="source; or assembly: machine code to AMD's (--engine lift), or back to PTX."
        ),
    ] = Level.SOURCE,
    direction: Annotated[
        Direction, typer.Option(help="hip-to-cuda: HIP to CUDA, or RDNA3 assembly to PTX.")
    ] = Direction.CUDA_TO_HIP,
    host: Annotated[
        Path | None,
        typer.Option(
            help="With --level assembly: the .hip or .cu program that will launch the kernels; "
            "some names differ between the vendors' compilers."
        ),
    ] = None,
    arch: Annotated[
        list[str] | None,
        typer.Option(
            help="With --level assembly: card or processor to write code for; may be repeated."
            f" [default: {DEFAULT_AMD_ARCHITECTURE}, {DEFAULT_NVIDIA_ARCHITECTURE}]"
        ),
    ] = None,
    native_matrices: NativeMatrices = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 for warnings, too.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compile every .cu and .hip file for AMD.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Run the file beside its original too, as `cass verify` does; implies --check.",
        ),
    ] = False,
    repairs: Annotated[
        int,
        typer.Option("--repair", metavar="N", min=0, help="Rounds of repair; implies --check."),
    ] = 0,
    repair_with: Annotated[
        str,
        typer.Option(help="chat:MODEL to ask where the rules of --repair know no fix."),
    ] = "",
    report: Annotated[
        ReportFormat, typer.Option(help="text, sarif (on standard output) or none.")
    ] = ReportFormat.TEXT,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print findings and counts as JSON on standard output.")
    ] = False,
    server: Annotated[
        str, typer.Option(metavar="URL", help="Let a `cass serve` do it; key: $CASS_API_KEY.")
    ] = "",
    overwrite: Overwrite = False,
) -> None:
    """Translate CUDA to HIP.

    A file goes to standard output unless -o is given. A folder needs -o: the tree is copied,
    sources and headers are translated, and a second run touches only what changed. --in-place and
    --branch change the file or folder itself, and keep the originals.

    With --level assembly --engine lift, FILE is a cubin or an Nvidia executable, and what is
    written is AMD assembly that a HIP host program launches as it is. With --level assembly
    --direction hip-to-cuda, FILE is RDNA3 assembly (.s) or a HIP program, and what is written is
    PTX, or with -o FILE.cubin what ptxas makes of it.

    Exit codes: 0 all is translated, 1 something has no translation, is not known or does not
    parse, 2 usage, 3 a tool is missing.
    """
    if not path.exists():
        fail("translate", f"{path} does not exist: {GIVE}", EXIT_USAGE)
    if direction is Direction.HIP_TO_CUDA:
        engine = _engine_back(level, engine, server)
        if level is Level.ASSEMBLY:
            from cass_ray.commands.to_nvidia import translate_to_nvidia

            for target, file in _one_file_each(arch, DEFAULT_NVIDIA_ARCHITECTURE, output):
                translate_to_nvidia(path, file, target, overwrite=overwrite)
            return
    if server:
        from cass_ray.commands.remote import Wanted, translate_remotely

        translate_remotely(
            server,
            path,
            output,
            Wanted(
                engine, level.value, check or verify or repairs > 0, repairs, as_json, overwrite
            ),
        )
        return
    if level is Level.ASSEMBLY or engine == "lift":
        _check_assembly(level, engine, path)
        from cass_ray.commands.lift import translate_assembly

        for target, file in _one_file_each(arch, DEFAULT_AMD_ARCHITECTURE, output):
            translate_assembly(
                path, file, host, target, native_matrices=native_matrices, overwrite=overwrite
            )
        return
    job = SourceJob(
        path=path,
        output=output,
        engine=engine,
        check=check or verify or repairs > 0,
        verify=verify,
        repairs=repairs,
        repair_with=repair_with,
        report=report,
        as_json=as_json,
        strict=strict,
        overwrite=overwrite,
    )
    if in_place or branch:
        job.run_in_place(branch)
    else:
        job.run()


def _one_file_each(
    arch: list[str] | None, default: str, output: Path | None
) -> list[tuple[str, Path | None]]:
    """Each target and its file: of several, names with the target in them."""
    targets = list(dict.fromkeys(arch or [default]))
    if len(targets) == 1:
        return [(targets[0], output)]
    if output is None:
        fail("translate", "one file for each --arch: give -o OUT", EXIT_USAGE)
    return [(each, output.with_name(f"{output.stem}.{each}{output.suffix}")) for each in targets]


def _engine_back(level: Level, engine: str, server: str) -> str:
    """The engine from HIP to CUDA; ``rules`` stands for the one that there is at each level."""
    back = "rdna3-to-ptx" if level is Level.ASSEMBLY else "rules-hip-to-cuda"
    if engine not in ("rules", back):
        fail("translate", f"--direction hip-to-cuda: --engine is {back}", EXIT_USAGE)
    if server and level is Level.ASSEMBLY:
        fail("translate", "--direction hip-to-cuda: assembly is translated here alone", EXIT_USAGE)
    return back


def _check_assembly(level: Level, engine: str, path: Path) -> None:
    if engine != "lift" or level is not Level.ASSEMBLY:
        fail(
            "translate", "machine code is translated by --level assembly --engine lift", EXIT_USAGE
        )
    if path.is_dir():
        fail("translate", f"{path} is a folder: give a cubin or an executable", EXIT_USAGE)
