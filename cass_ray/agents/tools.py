"""The tools: each a method, whose signature and first lines are what an agent is told.

Programs are compiled and run in the sandbox, under bounds that no argument can widen. What goes
wrong as a matter of course (a program that does not compile, a crash) is an answer; what cannot be
done is one of :data:`EXPECTED`.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import Field

from cass_ray.agents.answers import (
    CompileAnswer,
    Explanation,
    FindingAnswer,
    FindingsAnswer,
    ProjectAnswer,
    RunAnswer,
    StepAnswer,
    TargetVerdict,
    TranslateAnswer,
    VerifyAnswer,
    bounded,
)
from cass_ray.agents.workspace_root import WorkspaceRoot
from cass_ray.architectures import (
    AMD_ARCHITECTURES,
    architecture_named,
    known_architecture,
    wavefronts_of,
)
from cass_ray.assembly import rdna3, sass
from cass_ray.cache import default_directory
from cass_ray.corpus.reading.source_files import CUDA_SUFFIXES, Sources, gather
from cass_ray.emulator.build import BuildFailed, runtime_library
from cass_ray.execute.backends.base import Assembly, Inputs, RunMode
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.backends.registry import make_backend
from cass_ray.execute.targets import as_hip, build_for
from cass_ray.given_path import is_path
from cass_ray.overwriting import check_outputs, remember
from cass_ray.project.patch import PatchError
from cass_ray.project.porting import PortSettings, ProjectError, port_project, work_folder
from cass_ray.project.reference.comparing import RunVerdict
from cass_ray.project.report import ProjectResult
from cass_ray.project.report_files import REPORT_FILES, write_reports
from cass_ray.project.steps import Step
from cass_ray.public import compiling
from cass_ray.public.verifying import Comparison, compare_programs
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox.executable import Bounds
from cass_ray.toolchain.sandbox.isolation import IsolationUnavailableError
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.diagnostics import diagnostic_numbered
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.tree import is_source, source_files
from cass_ray.translate.protocol import Severity, TranslatorError
from cass_ray.whole_file import write_whole

EXPECTED = (
    ValueError,  # WorkspaceError, unknown architectures
    OSError,
    CompileFailure,
    ToolMissing,
    BuildFailed,
    IsolationUnavailableError,
    ProjectError,
    PatchError,
    TranslatorError,
)
"""What a tool raises to say why it cannot do what was asked."""

_SECONDS = 120.0
_LISTS = 16
_FILES = 2000
_LOG_CHARACTERS = 8000
_DIFFERENCES = 20

Name = Annotated[str, Field(min_length=1, max_length=500, description="Path in the workspace.")]
Arguments = Annotated[
    tuple[Annotated[str, Field(max_length=10_000)], ...],
    Field(max_length=64, description="Arguments of the program."),
]
StandardInput = Annotated[str, Field(max_length=1 << 20, description="Of each run.")]
Files = Annotated[
    str,
    Field(max_length=500, description="Folder whose files programs find where they run."),
]
Seconds = Annotated[float, Field(ge=1, le=_SECONDS, description="Time limit of the program.")]
Targets = Annotated[
    tuple[str, ...], Field(min_length=1, max_length=4, description="Such as gfx1100 and gfx942.")
]


@dataclass
class Tools:
    """What an agent may do in ``workspace``; at most ``jobs`` compilations or runs at a time."""

    workspace: WorkspaceRoot
    jobs: int = 1
    _places: threading.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._places = threading.Semaphore(self.jobs)

    def translate(
        self,
        path: Annotated[str, Field(max_length=500, description="A CUDA file.")] = "",
        source: Annotated[str, Field(max_length=1 << 20, description="CUDA, instead.")] = "",
        save_as: Annotated[str, Field(max_length=500, description="File to write.")] = "",
        overwrite: bool = False,
    ) -> TranslateAnswer:
        """Translate one CUDA file or text to HIP by rules, for wavefronts of 32 and of 64 lanes.

        Read `findings`: those of severity `error` have no translation and need your hand. Then
        `compile`, and `verify` against the original: a translation is right when that passes.
        """
        if bool(path) == bool(source):
            raise ValueError("give either path or source")
        if is_path(source):
            raise ValueError(f"source is a program's text: give {source} as path")
        text = self.workspace.file(path).read_text("utf-8", "replace") if path else source
        result = make_translator().translate(text, filename=PurePosixPath(path or "source.cu").name)
        saved = ""
        if save_as:
            place = self.workspace.new_file(save_as, overwrite=overwrite)
            write_whole(place, result.source.encode("utf-8", "replace"))
            saved = self.workspace.shown(place)
        return TranslateAnswer(
            complete=not result.errors,
            source="" if saved else result.source,
            saved_as=saved,
            findings=[FindingAnswer.of(path, each) for each in result.findings],
        )

    def compile(
        self,
        path: Name,
        arch: Annotated[str, Field(description="gfx1100, gfx942 …; or sm_90 for CUDA.")],
        assembly: Annotated[bool, Field(description="Return the device's assembly.")] = False,
    ) -> CompileAnswer:
        """Compile a file for one processor. A CUDA file for an AMD one is translated first."""
        file = self.workspace.file(path)
        translates = file.suffix in CUDA_SUFFIXES and not arch.startswith("sm_")
        try:
            with self._place():
                result = _compiled(file, arch)
        except CompileFailure as failure:
            return CompileAnswer(
                compiled=False,
                architecture=arch,
                translated=translates,
                reason=failure.reason.value,
                compiler_output=bounded(failure.diagnostic),
            )
        return CompileAnswer(
            compiled=True,
            architecture=arch,
            translated=translates,
            kernels=_kernels(result.device, arch),
            assembly=bounded(result.device) if assembly else "",
        )

    def run(
        self,
        path: Name,
        arguments: Arguments = (),
        stdin: StandardInput = "",
        files: Files = "",
        arch: Annotated[str, Field(description="gfx1100, gfx1201, gfx942 or gfx90a.")] = "gfx1100",
        check: Annotated[
            bool, Field(description="Look for races, bad accesses, unwritten memory.")
        ] = False,
        seconds: Seconds = 60.0,
    ) -> RunAnswer:
        """Compile a CUDA or HIP program and run it in the sandbox, as an AMD processor on the CPU.

        No GPU is needed. A CUDA file is translated by the rules first.
        """
        backend = make_backend("rdna3", arch)
        if problem := backend.problem():
            raise ToolMissing("The emulator", "", problem)
        bounds = Bounds(wall_seconds=seconds, cpu_seconds=2 * seconds)
        with self._place():
            built = build_for(backend, _gathered(self.workspace.file(path)))
            inputs = Inputs(tuple(arguments), stdin.encode(), self._files(files))
            done = backend.run(built, inputs, RunMode(bounds, check=check))
        ended = done.ended
        return RunAnswer(
            verdict=ended.verdict.value,
            status=ended.status,
            stdout=bounded(ended.stdout.decode("utf-8", "replace")),
            stderr=bounded(ended.stderr.decode("utf-8", "replace")),
            seconds=round(ended.wall_seconds, 3),
            launches=[launch.format() for launch in done.launches][:64],
            where=backend.identity(),
        )

    def verify(
        self,
        original: Annotated[str, Field(max_length=500, description="The program that is right.")],
        port: Annotated[
            str, Field(max_length=500, description="The HIP port; default: the rules' one.")
        ] = "",
        inputs: Annotated[
            tuple[Arguments, ...],
            Field(max_length=_LISTS, description="Argument lists, one a run."),
        ] = ((),),
        stdin: StandardInput = "",
        files: Files = "",
        targets: Targets = ("gfx1100", "gfx942"),
        order_free: Annotated[bool, Field(description="Lines may come in any order.")] = False,
    ) -> VerifyAnswer:
        """Is a port right? Run it and its original on the same inputs and compare what they print.

        The original is what nvcc makes of it: on an Nvidia GPU, or lifted and run on the CPU where
        there is none. Choose inputs that no power of two divides. `independent: false` means that
        only a translation of the original could be compared with.
        """
        programs = (
            self.workspace.file(original),
            self.workspace.file(port) if port else None,
        )
        with self._place():
            result = compare_programs(
                *programs,
                Comparison(
                    inputs or ((),),
                    order_free=order_free,
                    stdin=stdin.encode(),
                    folder=self._files(files),
                ),
                list(dict.fromkeys(map(architecture_named, targets))),
            )
        return VerifyAnswer(
            passed=all(each.passed for each in result.values()),
            targets={name: TargetVerdict.of(each) for name, each in result.items()},
        )

    def explain(
        self,
        code: Annotated[str, Field(max_length=100, description="Such as CASS1005.")],
    ) -> Explanation:
        """What a diagnostic means, why it is reported, and how it is settled."""
        return Explanation.of(diagnostic_numbered(code))

    def search_findings(
        self,
        path: Annotated[str, Field(max_length=500, description="File or folder.")] = ".",
        query: Annotated[
            str, Field(max_length=200, description="Part of a message, construct or code.")
        ] = "",
        severity: Annotated[str, Field(description="error, warning, note; empty: all.")] = "",
        limit: Annotated[int, Field(ge=1, le=500)] = 50,
    ) -> FindingsAnswer:
        """What a translation of a file or folder would say, without writing anything."""
        if severity:
            severity = Severity(severity).value
        place = self.workspace.path(path)
        files = [place] if place.is_file() else _sources(self.workspace.folder(path))
        translator = make_translator()
        answers = []
        for file in files:
            text = self.workspace.file(self.workspace.shown(file)).read_text("utf-8", "replace")
            translation = translator.translate(text, filename=file.name)
            answers += [
                FindingAnswer.of(self.workspace.shown(file), each) for each in translation.findings
            ]
        wanted = query.lower()
        chosen = [
            each
            for each in answers
            if severity in ("", each.severity)
            and wanted in f"{each.code} {each.message} {each.advice}".lower()
        ]
        return FindingsAnswer(
            files=len(files),
            total=len(chosen),
            by_code=dict(Counter(each.code for each in chosen)),
            findings=chosen[:limit],
        )

    def port_project(
        self,
        folder: Name,
        reports: Annotated[str, Field(min_length=1, max_length=500, description="New folder.")],
        targets: Targets = ("gfx1100",),
        build: Annotated[str, Field(max_length=2000, description="Default: found.")] = "",
        test: Annotated[
            str, Field(max_length=2000, description="Default: found; `true` only builds.")
        ] = "",
    ) -> ProjectAnswer:
        """Port a whole project: translate, build as on ROCm, repair, test for each target, and
        compare what its programs print with what the original's print.

        Go on step by step: read the log of the step that failed, change the project's own sources,
        call again (only what changed is done again). The project stays as it is; `port.patch` in
        the folder `reports` leads from it to the port, `report.html` shows all.
        """
        root, place = self.workspace.folder(folder), self.workspace.visible(reports)
        written = [self.workspace.visible(f"{reports}/{name}") for name in REPORT_FILES]
        check_outputs(written)
        targets = tuple(
            known_architecture(architecture_named(name), AMD_ARCHITECTURES) for name in targets
        )
        if place.is_relative_to(root):
            raise ValueError("let the reports lie outside of the project")
        translator = make_translator()
        settings = PortSettings(targets, build, test, seconds=600.0)
        with self._place():
            result = port_project(
                str(root),
                settings,
                translator,
                find_amd(),
                runtime_library(),
                work_folder(str(root), default_directory()),
            )
        write_reports(result, translator, place)
        remember(written)
        return _project_answer(result, self.workspace.shown(place))

    def _files(self, name: str) -> Path | None:
        return self.workspace.folder(name) if name else None

    @contextmanager
    def _place(self) -> Iterator[None]:
        with self._places:
            yield


def _gathered(file: Path) -> Sources:
    return gather(Unit(file.parent, PurePosixPath(file.name)))


def _compiled(file: Path, arch: str) -> Assembly:
    arch = architecture_named(arch)
    if arch.startswith("sm_") or file.suffix not in (*CUDA_SUFFIXES, ".hip"):
        return compiling.compile(file, arch)
    known_architecture(arch, AMD_ARCHITECTURES)
    return Rdna3Backend(architecture=arch).compile(as_hip(_gathered(file), wavefronts_of([arch])))


def _kernels(assembly: str, arch: str) -> list[str]:
    if arch.startswith("sm_"):
        return sass.parse(assembly).kernels
    return list(rdna3.parse(assembly).kernels)


def _sources(folder: Path) -> list[Path]:
    result = [file for file in source_files(folder) if is_source(file.name)]
    if len(result) > _FILES:
        raise ValueError(f"{len(result)} source files: name a folder with at most {_FILES}")
    return result


def _project_answer(result: ProjectResult, reports: str) -> ProjectAnswer:
    def step(each: Step) -> StepAnswer:
        log = "" if each.passed else bounded(each.log[-_LOG_CHARACTERS:])
        return StepAnswer(
            command=each.command, outcome=each.outcome.value, seconds=round(each.seconds), log=log
        )

    compared = {
        target.architecture: target.comparison for target in result.targets if target.comparison
    }
    return ProjectAnswer(
        passed=result.passed,
        changed_files=result.changed_files,
        repairs=[f"{item.path}: {'; '.join(item.fixes)}" for item in result.repairs],
        build={target.architecture: step(target.build) for target in result.targets},
        test={target.architecture: step(target.test) for target in result.targets},
        compared={name: each.summary for name, each in compared.items()},
        differences={
            name: [
                bounded(f"{run.command}: {run.why}")
                for run in each.runs
                if run.verdict is RunVerdict.DIFFERS
            ][:_DIFFERENCES]
            for name, each in compared.items()
            if each.differing
        },
        reports=reports,
    )
