"""The checker: compiles a translation and runs it, stage by stage, until nobody wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cass_ray.api.machine_code import AssemblyRequest, AssemblySide
from cass_ray.api.schema import Check, ExecutionReport, TargetInfo, TranslateRequest
from cass_ray.architectures import AMD_TARGETS
from cass_ray.execute.backends.base import Assembly, Backend
from cass_ray.execute.backends.registry import BACKENDS, candidate_backend, make_backend
from cass_ray.task import Level
from cass_ray.toolchain.amd.targets import target_problem
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox.executable import Bounds
from cass_ray.translate.rules import RulesTranslator
from serve.check.compile_stage import CheckCompilers, Compiled
from serve.check.execute_stage import CheckedProgram, TranslationRunner
from serve.check.given_runs import GivenRun, given_runs
from serve.check.reference_runs import ComparedInputs
from serve.check.stages import CheckRequest, CheckStage
from serve.messages import told_compile, told_execution, without_paths
from serve.settings import CheckerSettings


class Checker:
    """Toolchains, a backend and the sandbox."""

    def __init__(self, settings: CheckerSettings) -> None:
        self._compilers = CheckCompilers(find_amd, find_nvidia, settings.compile_seconds)
        self._runner = TranslationRunner(
            backend=_backend(settings),
            rules=RulesTranslator(),
            bounds=Bounds(
                wall_seconds=settings.wall_seconds,
                cpu_seconds=settings.cpu_seconds,
                memory_bytes=settings.memory_mib << 20,
                output_bytes=settings.output_kib << 10,
            ),
            kept_output=settings.kept_output,
        )

    def backends(self) -> dict[str, str]:
        """Execution backends: empty text where available, else why not."""
        problems = {}
        for name in BACKENDS:
            backend = self._runner.backend
            if name != backend.name:
                backend = make_backend(name)
            problems[name] = without_paths(backend.problem())
        return problems

    def targets(self) -> list[TargetInfo]:
        """The processors that requests may name, and what becomes of programs for them here."""
        try:
            toolchain, missing = find_amd(), ""
        except ToolMissing as error:
            toolchain, missing = None, without_paths(str(error))
        return [
            TargetInfo(
                name=target.name,
                family=target.family,
                wavefront=target.wave_widths[0],
                executed=self._runner.executes(target.name),
                problem=missing
                if toolchain is None
                else without_paths(target_problem(toolchain, target.name)),
            )
            for target in AMD_TARGETS
            if target.offered
        ]

    def warm_up(self) -> None:
        """Build what the first check would build: the runtime and the precompiled headers."""
        self._runner.backend.problem()
        source = "#include <hip/hip_runtime.h>\n__global__ void warm() {}\nint main() {}\n"
        self._compilers.compile(TranslateRequest(source="x", repair=0), source)

    def stages(self, check: CheckRequest) -> Iterator[CheckStage]:
        """Each stage as it begins and as it ends. Raises ``ToolMissing``."""
        for stage in self._stages(check):
            yield stage.model_copy(
                update={
                    "compile": stage.compile and told_compile(stage.compile),
                    "execution": stage.execution and told_execution(stage.execution),
                }
            )

    def _stages(self, check: CheckRequest) -> Iterator[CheckStage]:
        request = check.request
        yield CheckStage(name="compile")
        done = self._compilers.compile(request, check.translation, check.host)
        yield CheckStage(name="compile", compile=done.report, source=done.source)
        if not done.report.passed:
            return
        with given_runs(request.inputs) as runs:
            yield from self._runs(check, done, runs)

    def _runs(
        self, check: CheckRequest, done: Compiled, runs: Sequence[GivenRun]
    ) -> Iterator[CheckStage]:
        """The stages after the first compilation."""
        request = check.request
        subject = self._subject(check, done, runs)
        references = self._runner.references(subject)
        if request.check is Check.EXECUTE:
            yield CheckStage(name="execute")
            yield CheckStage(name="execute", execution=self._execute(subject, done, references))
        for target in request.further_targets:
            yield from self._on_target(check, done.source, target, runs, references)

    def _on_target(
        self,
        check: CheckRequest,
        source: str,
        target: str,
        runs: Sequence[GivenRun],
        references: Callable[[], ComparedInputs],
    ) -> Iterator[CheckStage]:
        """The stages of ``source`` as it is on a further target: nothing is repaired for one."""
        request = check.request.model_copy(update={"arch": target, "repair": 0})
        check = check.model_copy(update={"request": request, "translation": source})
        yield CheckStage(name="compile", target=target)
        done = self._compilers.compile(request, source)
        yield CheckStage(name="compile", target=target, compile=done.report, source=source)
        if request.check is Check.EXECUTE and done.report.passed:
            yield CheckStage(name="execute", target=target)
            report = self._execute(self._subject(check, done, runs), done, references)
            yield CheckStage(name="execute", target=target, execution=report)

    @staticmethod
    def _subject(check: CheckRequest, done: Compiled, runs: Sequence[GivenRun]) -> CheckedProgram:
        program = done.program or Assembly("", "")  # of no concern to what it is compared with
        return CheckedProgram(check.request, check.engine, done.source, program, runs)

    def listings(self, request: AssemblyRequest) -> Iterator[AssemblySide]:
        """A program and its translation as machine code, with source lines; AMD's side first."""
        return self._compilers.listings(request)

    def _execute(
        self, subject: CheckedProgram, done: Compiled, references: Callable[[], ComparedInputs]
    ) -> ExecutionReport:
        if done.program is None:
            assembly = subject.request.level is Level.ASSEMBLY
            problem = "no host program to launch it" if assembly else "the file holds no kernel"
            return ExecutionReport(
                ran=False,
                matched=None,
                backend=self._runner.backend.name,
                reference="",
                independent=False,
                problem=problem,
            )
        return self._runner.run(subject, references)


def _backend(settings: CheckerSettings) -> Backend:
    backend = candidate_backend() if settings.backend == "auto" else make_backend(settings.backend)
    return backend.single_threaded()  # one check is one core's work; replicas are what scales
