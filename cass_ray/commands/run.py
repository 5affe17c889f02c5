"""``cass run``: compile one program and run it in the sandbox, on this machine's CPU by default."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cass_ray.architectures import (
    DEFAULT_AMD_ARCHITECTURE,
    emulated_architectures,
    known_architecture,
)
from cass_ray.commands.program_options import (
    FILES_MIB,
    MEMORY_GIB,
    Definitions,
    FileSize,
    IncludeFolders,
    InputFiles,
    Memory,
    SourceTree,
    StandardInput,
    file_bytes,
    memory_bytes,
    standard_input,
    unit_of,
)
from cass_ray.commands.program_run import Finish, RunJson, within_time
from cass_ray.commands.tool_errors import tool_errors
from cass_ray.commands.waiting import waiting
from cass_ray.corpus.reading.source_files import CUDA_SUFFIXES, Sources, gather
from cass_ray.emulator.build import BuildFailed, runtime_library
from cass_ray.emulator.execution import RunOptions, build, execute
from cass_ray.emulator.report_lines import with_source_lines
from cass_ray.exit_codes import EXIT_FAILED
from cass_ray.toolchain.archive.library_targets import without_code
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translate_program
from cass_ray.translate.protocol import TranslatorError

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_ASSEMBLY_SUFFIX = ".s"
_SOURCE_SUFFIXES = frozenset({".cu", ".hip", ".cpp"})


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="A .cu or .hip file, or AMD assembly (.s).")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments of the program, after --.")
    ] = None,
    arch: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Card or processor: {', '.join(emulated_architectures())}; may be repeated:"
            f" one run for each. [default: {DEFAULT_AMD_ARCHITECTURE}]"
        ),
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option(
            help="Processor of a device; once for each, by ordinal. [default: one, --arch]"
        ),
    ] = None,
    host: Annotated[
        Path | None,
        typer.Option(help="The HIP program whose device assembly FILE (.s) replaces."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Report memory errors and races; exit 1 if any.")
    ] = False,
    counters: Annotated[
        Path | None, typer.Option(help="Write execution counters of each kernel to this file.")
    ] = None,
    include: IncludeFolders = None,
    define: Definitions = None,
    root: SourceTree = None,
    inputs: InputFiles = None,
    stdin: StandardInput = None,
    seconds: Annotated[
        float, typer.Option(min=1, help="Time limit of the program, in seconds.")
    ] = 600.0,
    memory: Memory = MEMORY_GIB,
    file_size: FileSize = FILES_MIB,
    optimization: Annotated[str, typer.Option("-O", help="Level: 0, 1, 2, 3 or s.")] = "3",
    as_json: RunJson = False,
) -> None:
    """Compile a program and run it; a CUDA program is translated to HIP first.

    Standard output and exit code are the program's. Exit codes of our own: 1 does not compile,
    2 usage, 3 a tool is missing, 124 time limit, 125 memory or output limit, 128 + n signal n.
    """
    wanted = list(dict.fromkeys(arch or [DEFAULT_AMD_ARCHITECTURE]))
    if device and arch:
        raise typer.BadParameter("one or the other: --device names the devices of one run")
    runs = [tuple(device)] if device else [(name,) for name in wanted]
    _check_usage(file, host, optimization, tuple(name for devices in runs for name in devices))
    source = host or file
    if counters is not None and len(runs) > 1:
        raise typer.BadParameter("the counters are of one run: give one --arch")
    given = standard_input(stdin)
    finish = Finish("cass run", seconds, as_json=as_json)
    status = 0
    for devices in runs:
        if len(runs) > 1:
            typer.echo(f"{devices[0]}:", err=True)
        with _exit_codes(), waiting(f"compiling and running {source.name}"):
            unit = unit_of(source, root, include or [], define or [])
            sources = _sources(unit)
            texts = (each.decode("utf-8", "replace") for each in sources.files.values())
            if warning := without_code(texts, devices):
                typer.echo(f"cass run: {warning}", err=True)
            library = runtime_library()
            toolchain = find_amd(architectures=devices)
            executable = build(
                sources,
                toolchain,
                library,
                architecture=devices[0],
                further=tuple(dict.fromkeys(devices[1:])),
                device_assembly=file.read_text() if host is not None else None,
                optimization=f"-O{optimization}",
                line_tables=check,
            )
            options = RunOptions(
                seconds=seconds,
                memory_bytes=memory_bytes(memory),
                file_bytes=file_bytes(file_size),
                check=check,
                counters=counters,
                inputs=inputs,
                stdin=given,
                compiler=toolchain,
                devices=devices,
            )
            with within_time(seconds, "cass run"):
                completed = execute(executable, arguments or [], library, options)
            if check:
                report = with_source_lines(
                    completed.stderr, executable.read_bytes(), devices[0], sources
                )
                completed = replace(completed, stderr=report)
        status = finish(completed, ",".join(devices)) or status
    raise typer.Exit(status)


def _check_usage(
    file: Path, host: Path | None, optimization: str, devices: tuple[str, ...]
) -> None:
    try:
        for processor in devices:
            known_architecture(processor, emulated_architectures())
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--arch, --device") from None
    for path in filter(None, (file, host)):
        if not path.is_file():
            raise typer.BadParameter(f"{path} is not a file", param_hint="FILE")
    if (file.suffix == _ASSEMBLY_SUFFIX) != (host is not None):
        raise typer.BadParameter(
            "device assembly (.s) and --host PROGRAM.hip go together", param_hint="--host"
        )
    source = host or file
    if source.suffix not in _SOURCE_SUFFIXES:
        names = ", ".join(sorted(_SOURCE_SUFFIXES))
        raise typer.BadParameter(f"{source} is none of {names}", param_hint="FILE")
    if optimization not in {"0", "1", "2", "3", "s"}:
        raise typer.BadParameter("give 0, 1, 2, 3 or s", param_hint="-O")


def _sources(unit: Unit) -> Sources:
    """The program's files, as the HIP that ``cass translate`` writes."""
    sources = gather(unit)
    if unit.main.suffix not in CUDA_SUFFIXES:
        return sources
    result = translate_program(sources, make_translator())
    for finding in result.findings:
        typer.echo(finding.format(str(unit.main)), err=True)
    return result.sources


@contextmanager
def _exit_codes() -> Iterator[None]:
    """Turn what compilers and the sandbox raise into a message and an exit code."""
    try:
        with tool_errors():
            yield
    except (TranslatorError, BuildFailed) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(EXIT_FAILED) from None
