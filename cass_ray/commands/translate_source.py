"""``cass translate`` of sources: one file or folder, its report, its checks."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

import typer

from cass_ray.commands.in_place import BACKUP, InPlace, InPlaceError
from cass_ray.commands.output import file_to_write
from cass_ray.commands.program_options import exit_codes
from cass_ray.commands.syntax_errors import syntax_error
from cass_ray.commands.waiting import waiting
from cass_ray.corpus.reading.unit_of_file import project_of
from cass_ray.dataset.row import clip_diagnostic
from cass_ray.exit_codes import EXIT_FAILED, EXIT_TOOL_MISSING, EXIT_USAGE, fail, no_room
from cass_ray.overwriting import write_output
from cass_ray.pipeline.project_files import ProjectFiles
from cass_ray.printable import printable, printable_text
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.engines.chat import ChatTranslator
from cass_ray.translate.engines.prefixes import CHAT_PREFIX
from cass_ray.translate.engines.registry import UnknownEngineError, make_translator
from cass_ray.translate.project.tree import (
    FileResult,
    TreeResult,
    translate_tree,
    tree_context,
)
from cass_ray.translate.protocol import Context, Finding, Severity, Translator, TranslatorError
from cass_ray.translate.repair.hip_compiler import HipCompiler
from cass_ray.translate.repair.loop import Propose
from cass_ray.translate.rules.unhandled import UNKNOWN_NAME
from cass_ray.translate.sarif import sarif
from cass_ray.verbosity import next_step, quiet, verbose

COMPILED_SUFFIXES = (".cu", ".hip")
GIVE = "give a CUDA file or a folder"


class ReportFormat(StrEnum):
    """Forms of the report: text on standard error, SARIF on standard output."""

    TEXT = "text"
    SARIF = "sarif"
    NONE = "none"


@dataclass(frozen=True)
class SourceJob:
    """One translation, as the command's options of the same names ask for it."""

    path: Path
    output: Path | None
    engine: str
    check: bool
    verify: bool
    repairs: int
    repair_with: str
    report: ReportFormat
    as_json: bool
    strict: bool
    overwrite: bool
    in_place: bool = False
    """Whether ``output`` is put elsewhere afterwards, by whom says what comes next."""

    def run(self) -> None:
        """Translate, check, report; raises ``typer.Exit`` with the documented status."""
        if not self._right():
            raise typer.Exit(EXIT_FAILED)

    def _right(self) -> bool:
        """Whether all was translated and passed; what could not be begun raises."""
        if problem := self._problem():
            fail("translate", problem, EXIT_USAGE)
        translator = _translator(self.engine)
        result = self._translated(translator)
        failed = self._failures(result, translator)
        self._say(result, translator)
        return self._finished(result, translator, failed)

    def run_in_place(self, branch: str) -> None:
        """Do as :meth:`run` does, then put the port where the original was."""
        if self.output is not None:
            fail("translate", "-o OUT, --in-place and --branch exclude each other", EXIT_USAGE)
        try:
            with InPlace(self.path, branch) as place:
                right = replace(self, output=place.folder, in_place=True)._right()
                self._put(place, branch)
        except (InPlaceError, OSError) as error:
            fail("translate", error, EXIT_USAGE)
        if not right:
            raise typer.Exit(EXIT_FAILED)

    def _put(self, place: InPlace, branch: str) -> None:
        changed = place.apply()
        kept = f"committed on the branch {branch}" if branch else f"originals: *{BACKUP}"
        sys.stderr.write(printable_text(f"{len(changed)} file(s) changed in place; {kept}\n"))
        if changed and branch:
            next_step("git show --stat    # what was changed")
        elif changed:
            next_step(f"diff {quote(f'{changed[0]}{BACKUP}')} {quote(str(changed[0]))}")

    def _problem(self) -> str:
        """Why these options do not go together; empty where they do."""
        path, sarif_wanted = self.path, self.report is ReportFormat.SARIF
        if path.is_dir() and self.output is None:
            return f"{path} is a folder: give -o OUT for the translated tree"
        if (self.as_json or sarif_wanted) and self.output is None:
            return "the report goes to standard output: give -o OUT for the code"
        if self.check and self.output is None:
            return "--check, --verify and --repair work on what is written: give -o OUT"
        if self.verify and path.is_dir():
            return f"--verify {path}: give a file; `cass project` builds and tests whole folders"
        if self.as_json and sarif_wanted:
            return "--json and --report sarif exclude each other"
        return ""

    def _translated(self, translator: Translator) -> TreeResult:
        try:
            if not self.path.is_dir():
                return self._translate_file(translator)
            assert self.output is not None
            with waiting(f"translating {self.path}"):
                return translate_tree(
                    self.path,
                    self.output,
                    translator,
                    workers=os.cpu_count() or 1,
                    overwrite=self.overwrite,
                    context=self._context_of_part(),
                )
        except TranslatorError as error:
            fail("translate", error, EXIT_FAILED)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and (message := no_room(error)) is not None:
                fail("translate", message, EXIT_FAILED)
            fail("translate", error, EXIT_USAGE)

    @cached_property
    def _project(self) -> Path | None:
        """The root of the project that is translated, or that the file or folder is part of."""
        if self.path.is_dir():
            return project_of(self.path / "any") or self.path.resolve()
        return project_of(self.path)

    @cached_property
    def _files(self) -> ProjectFiles:
        root = self._project
        return ProjectFiles(root or self.path.resolve().parent, searched=root is not None)

    def _in_project(self, name: str = "") -> str:
        """The path in the project of the file ``name`` of a folder, or of the file itself."""
        path = (self.path / name).resolve()
        return path.relative_to(self._project or path.parent).as_posix()

    def _context_of_part(self) -> Context | None:
        """The context of a folder that is a part of a project; None where it is all of it."""
        if self._project is None or self._project == self.path.resolve():
            return None
        whole, part = tree_context(self._project), tree_context(self.path.resolve())
        return replace(part, declared=whole.declared)

    def _translate_file(self, translator: Translator) -> TreeResult:
        path, output = self.path, self.output
        data = path.read_bytes()
        if b"\0" in data:
            raise ValueError(f"{path} is not text: {GIVE}")
        text = data.decode("utf-8", "surrogateescape")
        with waiting(f"translating {path.name}"):
            context = self._files.context(self._in_project())
            translation = translator.translate(text, filename=self._in_project(), context=context)
        result = translation.source.encode("utf-8", "surrogateescape")
        if output is None:
            sys.stdout.buffer.write(result)
            sys.stdout.buffer.flush()
        else:
            output = self._written()
            output.parent.mkdir(parents=True, exist_ok=True)
            write_output(output, result, overwrite=self.overwrite, inputs=[path])
        action = "unchanged" if translation.source == text else "translated"
        return TreeResult([FileResult(path.name, action, translation.findings, translation.counts)])

    def _failures(self, result: TreeResult, translator: Translator) -> int:
        """How many files do not compile, or differ from their original, where that is asked."""
        failed = 0
        if self.check:
            engine = self.repair_with or self.engine
            propose = _proposer(engine, bool(self.repair_with)) if self.repairs else None
            with waiting("compiling for AMD"):
                failed = self._check(result, translator, propose)
        if self.verify and not failed:
            from cass_ray.commands.verify import agree  # takes longer to import than to translate

            with exit_codes(), waiting("compiling and running both sides"):
                failed += not agree(self.path, self._written())
        return failed

    def _written(self) -> Path:
        """The file that was written for a file."""
        assert self.output is not None
        if self.in_place:
            return self.output / self.path.name
        return file_to_write(self.output, self.path, back=self.engine == "rules-hip-to-cuda")

    def _check(self, result: TreeResult, translator: Translator, propose: Propose | None) -> int:
        """Compile what was translated; the number of files that do not compile."""
        assert self.output is not None
        try:
            toolchain = find_amd()
        except ToolMissing as error:
            fail("translate", error, EXIT_TOOL_MISSING)
        if self.path.is_dir():
            root = self.output.resolve()
            names = [file.path for file in result.files if file.path.endswith(COMPILED_SUFFIXES)]
        else:
            target = self._written()
            root, names = target.resolve().parent, [target.name]

        def in_project(name: str) -> Iterable[Unit]:
            return self._units(root, name, translator)

        compiler = HipCompiler(toolchain, root, in_project)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            right = pool.map(lambda name: self._compiles(compiler, name, propose), names)
            failed = sum(not each for each in right)
        sys.stderr.write(f"{len(names) - failed} of {len(names)} file(s) compile for AMD\n")
        return failed

    def _units(self, root: Path, name: str, translator: Translator) -> Iterable[Unit]:
        """Units of the written file ``name`` below ``root``, as its project may compile it."""
        if self._project is None:
            return ()
        hip = (root / name).read_text("utf-8", "replace")
        if not self.path.is_dir():
            return self._files.units(self._in_project(), hip, translator, name)
        path = self._in_project(name)
        if self._project == self.path.resolve():
            return self._files.units_in(root, path, hip, translator)
        return self._files.units(path, hip, translator)

    def _compiles(self, compiler: HipCompiler, name: str, propose: Propose | None) -> bool:
        try:
            checked = compiler.check(name, self.repairs, propose)
        except TranslatorError as error:
            fail("translate", f"{name}: {error}", EXIT_FAILED)
        said = "".join(
            printable_text(f"{printable(name)}: repair: {fix}\n")
            for step in checked.steps
            for fix in step.fixes
        )
        if not checked.compiles:
            diagnostic = printable_text(clip_diagnostic(checked.diagnostic))
            said += f"{printable(name)}: does not compile:\n{diagnostic}\n"
        sys.stderr.write(said)
        return checked.compiles

    def _say(self, result: TreeResult, translator: Translator) -> None:
        if self.as_json:
            sys.stdout.write(json.dumps(_as_json(result, translator), indent=2) + "\n")
        if self.report is ReportFormat.SARIF:
            sys.stdout.write(json.dumps(sarif(result, translator), indent=2) + "\n")
        if self.report is ReportFormat.TEXT:
            _print_report(self.path, result)

    def _finished(self, result: TreeResult, translator: Translator, failed: int) -> bool:
        """Say what comes next; whether all is well."""
        path = self.path
        wrong = "" if path.is_dir() else syntax_error(path, translator)
        if wrong:
            sys.stderr.write(f"cass translate: {path} does not parse: {printable(wrong)}\n")
            next_step(f"mend {path} first: CUDA's own compiler refuses it, too")
        elif not failed and not self.in_place:
            self._go_on(result)
        return not (failed or wrong or _untranslated(result, self.strict))

    def _go_on(self, result: TreeResult) -> None:
        if self.output is None:
            return
        target = self.output if self.path.is_dir() else self._written()
        if _untranslated(result, strict=False):
            next_step(f"change the places above in {target} by hand (docs/diagnostics.md)")
        elif self.path.is_dir():
            next_step(
                f"cass project {quote(str(self.path))}    # builds the port and runs its tests"
            )
        elif self.path.suffix in COMPILED_SUFFIXES and not self.check:
            next_step(
                f"cass verify {quote(str(self.path))} {quote(str(target))}"
                "    # runs both and compares what they print"
            )


def _untranslated(result: TreeResult, strict: bool) -> bool:
    """Whether something is left that HIP does not have, or nobody knows."""
    return any(
        item.severity is Severity.ERROR
        or (item.severity is Severity.WARNING and (strict or item.message.endswith(UNKNOWN_NAME)))
        for file in result.files
        for item in file.findings
    )


def _translator(engine: str) -> Translator:
    try:
        return make_translator(engine)
    except UnknownEngineError as error:
        fail("translate", error, EXIT_USAGE)
    except ToolMissing as error:
        fail("translate", error, EXIT_TOOL_MISSING)


def _proposer(engine: str, asked_for: bool) -> Propose | None:
    """How the model of a ``chat:`` engine corrects a file; None for other engines."""
    if not engine.startswith(CHAT_PREFIX):
        if asked_for:
            fail("translate", f"--repair-with {engine}: give chat:MODEL", EXIT_USAGE)
        return None
    translator = _translator(engine)
    assert isinstance(translator, ChatTranslator)
    return translator.propose


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
