"""The execute stage of a check: run a translation in the sandbox and compare what it prints."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import PurePosixPath

from cass_ray.api.schema import ARCHITECTURES, RULES, ExecutionReport, RunReport, TranslateRequest
from cass_ray.architectures import emulated_architectures
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import (
    Assembly,
    Backend,
    BuiltProgram,
    Inputs,
    Language,
    RunMode,
)
from cass_ray.execute.backends.nvidia import NvidiaBackend
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.backends.registry import make_backend
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.drivers.driver import (
    DrivenKernel,
    drivable_kernels,
    driver_inputs,
    with_driver,
)
from cass_ray.execute.grades import Grade
from cass_ray.execute.originals import attempt, passed, shown_as
from cass_ray.execute.port_verdict import JudgedPort, judge_port
from cass_ray.execute.programs import has_main
from cass_ray.execute.references import TRANSLATION, ReferenceRun, ReferenceRuns
from cass_ray.execute.sizes import with_size
from cass_ray.execute.targets import translated_port
from cass_ray.execute.verification import RunRecord
from cass_ray.execute.verify import Policy
from cass_ray.task import Direction, Level
from cass_ray.toolchain.amd.toolchain import DEFAULT_ARCHITECTURE
from cass_ray.toolchain.sandbox.executable import Bounds
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.project.program import translated
from cass_ray.translate.project.refusals import RefusingTranslator
from cass_ray.translate.protocol import Translator, TranslatorError
from serve.check.given_runs import GivenRun
from serve.check.reference_runs import ComparedInputs, OriginalRunner, with_references

_DRIVEN_RUNS = 3
_STDERR = 2000


@dataclass(frozen=True)
class CheckedProgram:
    """What is to be run: the request, whose answer it is, its source, what it compiled to, with
    which inputs (none: its own)."""

    request: TranslateRequest
    engine: str
    source: str
    program: Assembly | Sources
    runs: Sequence[GivenRun] = ()


@dataclass
class TranslationRunner:
    """Runs HIP programs on ``backend``, inside ``bounds``; CUDA programs on an Nvidia GPU, or
    lifted where there is none."""

    backend: Backend
    rules: Translator
    bounds: Bounds
    kept_output: int

    @cached_property
    def nvidia(self) -> Backend:
        return NvidiaBackend()

    @cached_property
    def nvidia_problem(self) -> str:
        """Why no Nvidia GPU runs programs here; empty where one does. Asked for once."""
        return self.nvidia.problem()

    @cached_property
    def lifted(self) -> Backend:
        """One check is one core's work, as on the emulator."""
        return make_backend("lifted", threads=1)

    @cached_property
    def _cuda_backends(self) -> list[Backend]:
        """What runs CUDA programs as they are, the best first."""
        return [each for each in (self.nvidia, self.lifted) if not each.problem()]

    def references(self, subject: CheckedProgram) -> Callable[[], ComparedInputs]:
        """What ``subject`` is compared with, measured when it is first asked for and once: it is
        the same on every target."""
        return functools.cache(lambda: self._compared(subject, self._driven(subject)))

    def run(
        self, subject: CheckedProgram, references: Callable[[], ComparedInputs] | None = None
    ) -> ExecutionReport:
        """Run and compare; what cannot be run is a report with a problem."""
        started = time.perf_counter()
        request = subject.request
        forward = request.direction is Direction.CUDA_TO_HIP
        if forward:
            backend = self._backend_for(request.architecture)
        else:
            backend = (self._cuda_backends or [self.nvidia])[0]
        problem = self._problem(backend, request)
        if problem:
            return _not_run(backend, problem)
        kernels = self._driven(subject)
        if kernels is not None and not kernels:
            return _not_run(backend, "no main function, and no kernel that a driver can launch")
        try:
            built = backend.build(self._program(subject, kernels, backend.language))
        except CompileFailure as failure:
            return _not_run(backend, f"it does not link: {failure.diagnostic[:_STDERR]}")
        compared = references() if references else self._compared(subject, kernels)
        report = self._judged(subject, backend, built, compared)
        measured_here = report.reference_kind not in ("gpu", "stored", "given")
        other_card = backend.presents not in ("", self.lifted.presents)
        if report.grade == Grade.DIFFERS and measured_here and other_card:
            # Programs print what their card is called, and divide work by its multiprocessors.
            there = self._compared(subject, kernels, backend)
            report = self._judged(subject, backend, built, there)
        seconds = time.perf_counter() - started
        return report.model_copy(update={"driver": kernels is not None, "seconds": seconds})

    def executes(self, architecture: str) -> bool:
        """Whether AMD code for ``architecture`` is run and not only compiled."""
        backend = self._backend_for(architecture)
        return getattr(backend, "architecture", DEFAULT_ARCHITECTURE) == architecture

    def _backend_for(self, architecture: str) -> Backend:
        """The CPU backend as that processor, where it can be it."""
        if isinstance(self.backend, Rdna3Backend) and architecture in emulated_architectures():
            return replace(self.backend, architecture=architecture)
        return self.backend

    def _problem(self, backend: Backend, request: TranslateRequest) -> str:
        if backend.language is Language.CUDA:
            return backend.problem()
        if not self.executes(request.architecture):
            architecture = getattr(self.backend, "architecture", DEFAULT_ARCHITECTURE)
            executed = ", ".join(
                dict.fromkeys([architecture, *filter(self.executes, ARCHITECTURES)])
            )
            return f"{request.architecture} code is only compiled; executed: {executed}"
        return backend.problem()

    def _driven(self, subject: CheckedProgram) -> list[DrivenKernel] | None:
        """Return None for a whole program; else the kernels that a driver can launch."""
        request = subject.request
        text = subject.source if request.level is Level.SOURCE else request.source
        if has_main([text]):
            return None
        return drivable_kernels(text) if request.level is Level.SOURCE else []

    def _program(
        self, subject: CheckedProgram, kernels: Sequence[DrivenKernel] | None, language: Language
    ) -> Assembly | Sources:
        if kernels is None:
            return subject.program
        name = "translation.hip" if language is Language.HIP else "translation.cu"
        return with_driver(_single(name, subject.source), kernels, language)

    def _compared(
        self,
        subject: CheckedProgram,
        kernels: Sequence[DrivenKernel] | None,
        port: Backend | None = None,
    ) -> ComparedInputs:
        """What ``subject`` is compared with: the original finds the card that programs find on
        ``port``."""
        wanted = subject.runs
        if kernels is not None and not wanted:
            wanted = [GivenRun(each) for each in driver_inputs()[:_DRIVEN_RUNS]]
        original = OriginalRunner(
            on_gpu=subject.request.direction is Direction.CUDA_TO_HIP and not self.nvidia_problem,
            measure=lambda inputs: self._measured(subject, kernels, inputs, port or self.lifted),
        )
        return with_references(subject.request.source, wanted, original)

    def _measured(
        self,
        subject: CheckedProgram,
        kernels: Sequence[DrivenKernel] | None,
        inputs: Sequence[Inputs],
        port: Backend,
    ) -> ReferenceRuns | None:
        """What the program prints as it came; else, unless they made the answer, what the rules'
        translation of it prints."""
        request, mode = subject.request, RunMode(self.bounds)
        if not request.source.strip():
            return None
        if request.direction is Direction.HIP_TO_CUDA:
            sources = self._with_driver("original.hip", request.source, kernels, Language.HIP)
            runs = attempt(sources, self.backend, inputs, mode)
            return runs if isinstance(runs, ReferenceRuns) else None
        passed_over: list[str] = []
        sources = self._with_driver("original.cu", request.source, kernels, Language.CUDA)
        *better, last = shown_as([self.nvidia, self.lifted, self.backend], port)
        for backend in better:
            runs = attempt(sources, backend, inputs, mode)
            if isinstance(runs, ReferenceRuns):
                if len(inputs) == 1 and kernels is None:
                    runs = with_size(sources, runs, [backend], inputs[0])
                return replace(runs, passed_over=tuple(passed_over))
            passed_over.append(passed(backend, runs))
        stand_in = None if subject.engine == RULES else self._translated(request.source, kernels)
        runs = attempt(stand_in, last, inputs, mode) if stand_in else ""
        if isinstance(runs, ReferenceRuns):
            return replace(
                runs,
                identity=f"the rules' translation on {runs.identity}",
                kind=TRANSLATION,
                passed_over=tuple(passed_over),
            )
        return None

    def _translated(self, text: str, kernels: Sequence[DrivenKernel] | None) -> Sources | None:
        name = "original.cu"
        try:
            program = translated(_single(name, text), RefusingTranslator(self.rules, True))
        except TranslatorError:
            return None
        source = program.files[name].decode("utf-8", "replace")
        return self._with_driver("original.hip", source, kernels, Language.HIP)

    @staticmethod
    def _with_driver(
        name: str, text: str, kernels: Sequence[DrivenKernel] | None, language: Language
    ) -> Sources:
        sources = _single(name, text)
        return sources if kernels is None else with_driver(sources, kernels, language)

    def _judged(
        self,
        subject: CheckedProgram,
        backend: Backend,
        built: BuiltProgram,
        compared: ComparedInputs,
    ) -> ExecutionReport:
        policy = Policy(
            tolerance=tolerance_for([subject.request.source]),
            bounds=self.bounds,
            check=not backend.real_gpu,
            kept_output=self.kept_output,
        )
        alone = [self._alone(backend, built, inputs) for inputs in compared.alone]
        if compared.reference is None:
            return ExecutionReport(
                ran=all(run.verdict == "ok" for run in alone),
                matched=None,
                backend=f"{backend.name}: {backend.identity()}",
                reference="",
                independent=False,
                runs=alone,
            )
        judged = JudgedPort(
            built,
            {"original": subject.request.source.encode()},
            {"translation": subject.source.encode()},
            another=lambda: self._another(subject, backend),
        )
        verification = judge_port(judged, compared.reference, backend, policy)
        usable = [run for run in compared.reference.runs if not run.problem]
        runs = [
            self._report(record, run)
            for record, run in zip_longest(verification.runs, usable[: len(verification.runs)])
            if not record.made_up or not record.numeric  # nobody asked for it
        ]
        return ExecutionReport(
            ran=verification.ran and all(run.verdict == "ok" for run in alone),
            matched=None if verification.problem else verification.numeric,
            backend=verification.candidate,
            reference=verification.reference,
            reference_kind=verification.reference_kind,
            independent=verification.independent,
            passed_over=verification.passed_over,
            problem=verification.problem,
            grade=verification.grade.value,
            weakness=verification.weakness,
            perturbations=verification.perturbations,
            runs=[*runs, *alone],
            findings=[finding.message for finding in verification.findings],
            device_faults=verification.device_faults,
            tolerance=verification.tolerance,
        )

    def _another(self, subject: CheckedProgram, backend: Backend) -> BuiltProgram | None:
        """The rules' port of a whole CUDA program, where it is not the translation itself."""
        request = subject.request
        forward = request.direction is Direction.CUDA_TO_HIP
        if not (forward and request.level is Level.SOURCE and has_main([subject.source])):
            return None
        original = _single("original.cu", request.source)
        return translated_port(original, _single("translation.hip", subject.source), backend)()

    def _alone(self, backend: Backend, built: BuiltProgram, inputs: Inputs) -> RunReport:
        execution = backend.run(built, inputs, RunMode(bounds=self.bounds))
        ended = execution.ended
        return RunReport(
            arguments=list(inputs.arguments),
            verdict=ended.verdict.value,
            status=ended.status,
            matched=None,
            stdout=ended.stdout[: self.kept_output].decode("utf-8", "replace"),
            stderr=ended.stderr.decode("utf-8", "replace")[-_STDERR:],
            seconds=ended.wall_seconds,
            peak_memory_bytes=ended.peak_memory_bytes,
            launches=[launch.format() for launch in execution.launches],
        )

    def _report(self, record: RunRecord, reference: ReferenceRun | None) -> RunReport:
        expected = None
        if reference is not None:
            expected = reference.outputs[0][: self.kept_output].decode("utf-8", "replace")
        return RunReport(
            arguments=record.arguments,
            verdict=record.verdict.value,
            status=record.status,
            matched=record.numeric if reference is not None else None,
            exact=record.exact,
            stdout=_shown(record.stdout),
            stderr=_shown(record.stderr)[-_STDERR:],
            expected=expected,
            difference=record.difference,
            max_error=record.max_error,
            seconds=record.seconds,
            peak_memory_bytes=record.peak_memory_bytes,
            launches=record.launches,
        )


def _shown(latin: str) -> str:
    """Bytes that travelled as Latin-1, as the text that they are meant to be."""
    return latin.encode("latin-1").decode("utf-8", "replace")


def _single(name: str, text: str) -> Sources:
    return Sources(PurePosixPath(name), {name: text.encode("utf-8", "surrogateescape")})


def _not_run(backend: Backend, problem: str) -> ExecutionReport:
    return ExecutionReport(
        ran=False,
        matched=None,
        backend=backend.name,
        reference="",
        independent=False,
        problem=problem,
    )
