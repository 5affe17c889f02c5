"""``cass translate``: CUDA files and folders to HIP."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE, DEFAULT_NVIDIA_ARCHITECTURE
from cass_ray.commands import to_nvidia
from cass_ray.commands.lift import translate_assembly
from cass_ray.commands.native_matrices import NativeMatrices
from cass_ray.commands.output import Overwrite
from cass_ray.commands.program_options import exit_codes
from cass_ray.commands.remote import Wanted, translate_remotely
from cass_ray.commands.syntax_errors import syntax_error
from cass_ray.commands.to_nvidia import translate_to_nvidia
from cass_ray.commands.verify import agree
from cass_ray.commands.waiting import waiting
from cass_ray.dataset.schema import clip_diagnostic
from cass_ray.exit_codes import EXIT_FAILED, EXIT_TOOL_MISSING, EXIT_USAGE, fail, no_room
from cass_ray.overwriting import write_output
from cass_ray.printable import printable, printable_text
from cass_ray.task import Direction, Level
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.engines.chat import ChatTranslator
from cass_ray.translate.engines.prefixes import CHAT_PREFIX
from cass_ray.translate.engines.registry import UnknownEngineError, make_translator
from cass_ray.translate.project.tree import FileResult, TreeResult, translate_tree
from cass_ray.translate.protocol import Finding, Severity, Translator, TranslatorError
from cass_ray.translate.repair.hip_compiler import HipCompiler
from cass_ray.translate.repair.loop import Propose
from cass_ray.translate.rules.unhandled import UNKNOWN_NAME
from cass_ray.translate.sarif import sarif
from cass_ray.verbosity import next_step, quiet, verbose

COMPILED_SUFFIXES = (".cu", ".hip")
_GIVE = "give a CUDA file or a folder"

app = typer.Typer(add_completion=False, rich_markup_mode=None)


class ReportFormat(StrEnum):
    """Forms of the report: text on standard error, SARIF on standard output."""

    TEXT = "text"
    SARIF = "sarif"
    NONE = "none"


@app.command()
def translate(
    path: Annotated[Path, typer.Argument(help="A CUDA file, or a folder.", metavar="FILE|DIR")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File or folder to write.")
    ] = None,
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
    sources and headers are translated, and a second run touches only what changed.

    With --level assembly --engine lift, FILE is a cubin or an Nvidia executable, and what is
    written is AMD assembly that a HIP host program launches as it is. With --level assembly
    --direction hip-to-cuda, FILE is RDNA3 assembly (.s) or a HIP program, and what is written is
    PTX, or with -o FILE.cubin what ptxas makes of it.

    Exit codes: 0 all is translated, 1 something has no translation, is not known or does not
    parse, 2 usage, 3 a tool is missing.
    """
    if not path.exists():
        fail("translate", f"{path} does not exist: {_GIVE}", EXIT_USAGE)
    if direction is Direction.HIP_TO_CUDA:
        engine = _engine_back(level, engine, server)
        if level is Level.ASSEMBLY:
            for target, file in _one_file_each(arch, DEFAULT_NVIDIA_ARCHITECTURE, output):
                translate_to_nvidia(path, file, target, overwrite=overwrite)
            return
    if server:
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
        for target, file in _one_file_each(arch, DEFAULT_AMD_ARCHITECTURE, output):
            translate_assembly(
                path, file, host, target, native_matrices=native_matrices, overwrite=overwrite
            )
        return
    check = check or verify or repairs > 0
    if problem := _problem_with(path, output, check, verify, as_json, report):
        fail("translate", problem, EXIT_USAGE)
    translator = _translator(engine)
    try:
        if path.is_dir():
            assert output is not None
            with waiting(f"translating {path}"):
                result = translate_tree(
                    path, output, translator, workers=os.cpu_count() or 1, overwrite=overwrite
                )
        else:
            result = _translate_file(path, output, translator, overwrite)
    except TranslatorError as error:
        fail("translate", error, EXIT_FAILED)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and (message := no_room(error)) is not None:
            fail("translate", message, EXIT_FAILED)
        fail("translate", error, EXIT_USAGE)
    propose = _proposer(repair_with or engine, bool(repair_with)) if repairs else None
    failed = 0
    if check:
        with waiting("compiling for AMD"):
            failed = _check(path, output, result, repairs, propose)
    if verify and not failed:
        assert output is not None
        with exit_codes(), waiting("compiling and running both sides"):
            failed += not agree(path, output / path.name if output.is_dir() else output)
    if as_json:
        sys.stdout.write(json.dumps(_as_json(result, translator), indent=2) + "\n")
    if report is ReportFormat.SARIF:
        sys.stdout.write(json.dumps(sarif(result, translator), indent=2) + "\n")
    if report is ReportFormat.TEXT:
        _print_report(path, result)
    wrong = "" if path.is_dir() else syntax_error(path, translator)
    if wrong:
        sys.stderr.write(f"cass translate: {path} does not parse: {printable(wrong)}\n")
        next_step(f"mend {path} first: CUDA's own compiler refuses it, too")
    elif not failed:
        _go_on(path, output, result, checked=check)
    if failed or wrong or _untranslated(result, strict):
        raise typer.Exit(EXIT_FAILED)


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
    back = to_nvidia.ENGINE if level is Level.ASSEMBLY else "rules-hip-to-cuda"
    if engine not in ("rules", back):
        fail("translate", f"--direction hip-to-cuda: --engine is {back}", EXIT_USAGE)
    if server and level is Level.ASSEMBLY:
        fail("translate", "--direction hip-to-cuda: assembly is translated here alone", EXIT_USAGE)
    return back


def _untranslated(result: TreeResult, strict: bool) -> bool:
    """Whether something is left that HIP does not have, or nobody knows."""
    return any(
        item.severity is Severity.ERROR
        or (item.severity is Severity.WARNING and (strict or item.message.endswith(UNKNOWN_NAME)))
        for file in result.files
        for item in file.findings
    )


def _go_on(path: Path, output: Path | None, result: TreeResult, *, checked: bool) -> None:
    """What comes after a translation."""
    if output is None:
        return
    target = output / path.name if output.is_dir() and not path.is_dir() else output
    if _untranslated(result, strict=False):
        next_step(f"change the places above in {target} by hand (docs/diagnostics.md)")
    elif path.is_dir():
        next_step(f"cass project {path}    # builds the port and runs its tests")
    elif path.suffix in COMPILED_SUFFIXES and not checked:
        next_step(f"cass verify {path} {target}    # runs both and compares what they print")


def _problem_with(
    path: Path,
    output: Path | None,
    check: bool,
    verify: bool,
    as_json: bool,
    report: ReportFormat,
) -> str:
    """Why these options do not go together; empty where they do."""
    sarif_wanted = report is ReportFormat.SARIF
    if path.is_dir() and output is None:
        return f"{path} is a folder: give -o OUT for the translated tree"
    if (as_json or sarif_wanted) and output is None:
        return "the report goes to standard output: give -o OUT for the code"
    if check and output is None:
        return "--check, --verify and --repair work on what is written: give -o OUT"
    if verify and path.is_dir():
        return f"--verify {path}: give a file; `cass project` builds and tests whole folders"
    if as_json and sarif_wanted:
        return "--json and --report sarif exclude each other"
    return ""


def _check_assembly(level: Level, engine: str, path: Path) -> None:
    if engine != "lift" or level is not Level.ASSEMBLY:
        fail(
            "translate", "machine code is translated by --level assembly --engine lift", EXIT_USAGE
        )
    if path.is_dir():
        fail("translate", f"{path} is a folder: give a cubin or an executable", EXIT_USAGE)


def _translator(engine: str) -> Translator:
    try:
        return make_translator(engine)
    except UnknownEngineError as error:
        fail("translate", error, EXIT_USAGE)
    except ToolMissing as error:
        fail("translate", error, EXIT_TOOL_MISSING)


def _translate_file(
    path: Path, output: Path | None, translator: Translator, overwrite: bool
) -> TreeResult:
    data = path.read_bytes()
    if b"\0" in data:
        raise ValueError(f"{path} is not text: {_GIVE}")
    text = data.decode("utf-8", "surrogateescape")
    with waiting(f"translating {path.name}"):
        translation = translator.translate(text, filename=path.name)
    result = translation.source.encode("utf-8", "surrogateescape")
    if output is None:
        sys.stdout.buffer.write(result)
        sys.stdout.buffer.flush()
    else:
        if output.is_dir():
            output = output / path.name
        output.parent.mkdir(parents=True, exist_ok=True)
        write_output(output, result, overwrite=overwrite, inputs=[path])
    action = "unchanged" if translation.source == text else "translated"
    return TreeResult([FileResult(path.name, action, translation.findings, translation.counts)])


def _proposer(engine: str, asked_for: bool) -> Propose | None:
    """How the model of a ``chat:`` engine corrects a file; None for other engines."""
    if not engine.startswith(CHAT_PREFIX):
        if asked_for:
            fail("translate", f"--repair-with {engine}: give chat:MODEL", EXIT_USAGE)
        return None
    translator = _translator(engine)
    assert isinstance(translator, ChatTranslator)
    return translator.propose


def _check(
    path: Path, output: Path | None, result: TreeResult, repairs: int, propose: Propose | None
) -> int:
    """Compile what was translated; the number of files that do not compile."""
    assert output is not None
    try:
        toolchain = find_amd()
    except ToolMissing as error:
        fail("translate", error, EXIT_TOOL_MISSING)
    if path.is_dir():
        compiler = HipCompiler(toolchain, output.resolve())
        names = [file.path for file in result.files if file.path.endswith(COMPILED_SUFFIXES)]
    else:
        target = output / path.name if output.is_dir() else output
        compiler, names = HipCompiler(toolchain, target.resolve().parent), [target.name]
    failed = 0
    for name in names:
        try:
            checked = compiler.check(name, repairs, propose)
        except TranslatorError as error:
            fail("translate", f"{name}: {error}", EXIT_FAILED)
        for step in checked.steps:
            for fix in step.fixes:
                sys.stderr.write(printable_text(f"{printable(name)}: repair: {fix}\n"))
        if not checked.compiles:
            failed += 1
            said = printable_text(clip_diagnostic(checked.diagnostic))
            sys.stderr.write(f"{printable(name)}: does not compile:\n{said}\n")
    sys.stderr.write(f"{len(names) - failed} of {len(names)} file(s) compile for AMD\n")
    return failed


def _print_report(path: Path, result: TreeResult) -> None:
    """The verdict, then what needs a person; what was changed, too, under ``--verbose``."""
    counts = result.counts
    actions = ("translated", "unchanged", "copied", "kept", "edited")
    numbers = ", ".join(
        f"{result.number(action)} {action}" for action in actions if result.number(action)
    )
    sys.stderr.write(
        f"{len(result.files)} file(s): {numbers}; constructs: {counts.converted} converted, "
        f"{counts.unchanged} unchanged, {counts.unsupported} unsupported\n"
    )
    folder = path if path.is_dir() else path.parent
    notes = 0
    for file in result.files:
        for finding in file.findings:
            if finding.severity is Severity.NOTE and not verbose():
                notes += 1
                continue
            shown = finding.format(printable(str(folder / file.path)))
            code = diagnostic_of(finding).code
            sys.stderr.write(printable_text(f"{shown} [{code}]") + "\n")
    if notes and not quiet():
        sys.stderr.write(f"{notes} note(s) of what was changed: -v shows them\n")


def _as_json(result: TreeResult, translator: Translator) -> dict[str, Any]:
    return {
        "engine": translator.name,
        "version": translator.version,
        "counts": asdict(result.counts),
        "files": [
            {
                "path": file.path,
                "action": file.action,
                "counts": asdict(file.counts),
                "findings": [_finding(item) for item in file.findings],
            }
            for file in result.files
        ],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    code = diagnostic_of(finding).code
    return {"code": code, **asdict(finding), "severity": finding.severity.value}
