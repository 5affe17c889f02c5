"""``cass project``: a whole project from CUDA to HIP, built and tested without an AMD card."""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from cass_ray.architectures import (
    DEFAULT_AMD_ARCHITECTURE,
    emulated_architectures,
    known_architecture,
)
from cass_ray.cache import default_directory
from cass_ray.commands.output import Overwrite
from cass_ray.commands.tool_errors import tool_errors
from cass_ray.emulator.build import BuildFailed, runtime_library
from cass_ray.exit_codes import EXIT_FAILED, EXIT_USAGE, fail
from cass_ray.overwriting import check_outputs, remember
from cass_ray.printable import printable, printable_text
from cass_ray.project.patch import PatchError
from cass_ray.project.port_tree import PortStyle
from cass_ray.project.porting import (
    PortSettings,
    ProjectError,
    name_of,
    port_project,
    work_folder,
)
from cass_ray.project.reference.comparing import RunVerdict
from cass_ray.project.report import ProjectResult, TargetResult
from cass_ray.project.report_files import REPORT_FILES, write_reports
from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.hunks import SharedError
from cass_ray.translate.protocol import TranslatorError

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_TOLD = 2500
"""Characters of the log of a step that failed."""


@app.command()
def project(
    source: Annotated[str, typer.Argument(metavar="DIR|URL", help="A folder or a git address.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Folder of patch and report. [default: NAME-hip, outside DIR]"
        ),
    ] = None,
    build: Annotated[str, typer.Option(help="Command that builds it. [default: detected]")] = "",
    test: Annotated[str, typer.Option(help="Command that tests it. [default: detected]")] = "",
    arch: Annotated[
        list[str] | None,
        typer.Option(help=f"Target; may be repeated: {', '.join(emulated_architectures())}."),
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Limit of each build and test.")] = 1800.0,
    check_seconds: Annotated[
        float,
        typer.Option(min=0, help="Limit of failed tests' second run, in checking mode; 0: none."),
    ] = 300.0,
    jobs: Annotated[int, typer.Option("-j", min=1, help="Compilers at a time.")] = 2,
    repairs: Annotated[
        int, typer.Option(min=0, help="Rounds of repair from what the compiler says.")
    ] = 3,
    dependency: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=DIR", help="Sources that the build would download."),
    ] = None,
    style: Annotated[
        PortStyle | None,
        typer.Option(
            help="shared: for both vendors' compilers; hip: for AMD alone."
            " [default: shared, and hip where that does not build]"
        ),
    ] = None,
    reference: Annotated[
        bool,
        typer.Option(
            help="Compare what its programs print with the original's: built by nvcc, lifted."
        ),
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print report.json on standard output.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Port a project: translate it, build it with ROCm's tools, run its tests on each target.

    What the port's programs print in these tests is compared with what the original's print, as
    nvcc's machine code, lifted. Leaves port.patch, which `git apply` takes, and a report (HTML,
    JSON, SARIF) in the output folder. The project itself is not touched; its commands run in the
    sandbox, without a network. Exit codes: 0 builds, passes its tests and prints nothing other
    than the original on every target (where the original does not run here, that is not known:
    "cannot tell"), 1 does not, 2 usage, 3 a tool is missing.
    """
    try:
        architectures = tuple(
            known_architecture(name, emulated_architectures())
            for name in dict.fromkeys(arch or [DEFAULT_AMD_ARCHITECTURE])
        )
        dependencies = tuple(_named(item) for item in dependency or [])
    except ValueError as error:
        fail("project", error, EXIT_USAGE)
    settings = PortSettings(
        architectures,
        build,
        test,
        seconds=seconds,
        check_seconds=check_seconds,
        jobs=jobs,
        repairs=repairs,
        dependencies=dependencies,
        style=style,
        reference=reference,
    )
    folder = output or default_output(source)
    _check_folder(folder)
    written = [folder / name for name in REPORT_FILES]
    work = work_folder(source, default_directory())
    translator = make_translator()
    try:
        with tool_errors():
            check_outputs(written, overwrite=overwrite)
            toolchain = find_amd(architectures=architectures)
            result = port_project(
                source, settings, translator, toolchain, runtime_library(), work, _say
            )
    except ProjectError as error:
        fail("project", error, EXIT_USAGE)
    except (PatchError, SharedError, TranslatorError, BuildFailed) as error:
        fail("project", error, EXIT_FAILED)
    write_reports(result, translator, folder)
    remember(written)
    if as_json:
        sys.stdout.write((folder / "report.json").read_text())
    else:
        _summary(result, source, folder)
    if not result.passed:
        raise typer.Exit(EXIT_FAILED)


def _check_folder(folder: Path) -> None:
    """End with usage where ``folder`` cannot be made: before all of the work, not after it."""
    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        if new:
            folder.rmdir()
    except OSError as error:
        fail("project", f"{folder} cannot be written ({error.strerror}): give -o", EXIT_USAGE)


def _named(text: str) -> tuple[str, Path]:
    name, separator, folder = text.partition("=")
    if not separator or not re.fullmatch(r"[A-Za-z0-9_][\w.+-]{0,99}", name):
        raise ValueError(f"--dependency {text}: expected NAME=DIR")
    return name, Path(folder)


def _say(message: str) -> None:
    typer.echo(printable_text(message), err=True)


def default_output(source: str) -> Path:
    """Where patch and report go by default: here, and beside the project where this is in it."""
    here, root = Path.cwd(), Path(source).resolve()
    name = f"{name_of(source)}-hip"
    return root.parent / name if root == here or root in here.parents else Path(name)


def _summary(result: ProjectResult, source: str, folder: Path) -> None:
    translation = result.translation
    counts = translation.counts
    typer.echo(
        f"{printable(result.name)}: {result.changed_files} files changed or added, of a project of"
        f" {len(translation.files)}; {counts.converted} constructs converted,"
        f" {counts.unsupported} not"
    )
    for item in result.repairs:
        typer.echo(f"repaired {printable(item.path)}: {printable('; '.join(item.fixes))}")
    for target in result.targets:
        tests = target.test.outcome.value if target.test.command else "none known (--test)"
        typer.echo(f"{target.architecture}: build {target.build.outcome.value}, tests {tests}")
        _compared(target)
        for violation in target.violations:
            what = f"{printable(violation.kernel)}: {printable(violation.what)}"
            typer.echo(f"  {what} ({violation.runs} run(s))")
        _log(target)
        for line in target.advice:
            typer.echo(f"{target.architecture}: {printable(line)}")
    if result.cuda is not None:
        typer.echo(f"CUDA: build {result.cuda.outcome.value} (nvcc, without the switch)")
        if not result.cuda.passed:
            typer.echo(result.cuda.told(_TOLD), err=True)
    typer.echo(f"{folder / 'port.patch'}, {folder / 'report.html'}")
    where = shlex.quote(source if Path(source).is_dir() else "CLONE")
    patch = shlex.quote(str((folder / "port.patch").resolve()))
    typer.echo(f"apply it: git -C {where} apply {patch}")
    typer.echo(f"for a pull request: {folder / 'report.md'}")


def _compared(target: TargetResult) -> None:
    comparison = target.comparison
    if comparison is None:
        return
    typer.echo(f"{target.architecture}: {printable(comparison.summary)}")
    for run in comparison.runs:
        if run.verdict is RunVerdict.DIFFERS:
            typer.echo(f"  {printable(run.command)}: {printable(run.why)}")


def _log(target: TargetResult) -> None:
    step = target.test if target.built else target.build
    if not step.passed and step.log:
        typer.echo(step.told(_TOLD), err=True)
