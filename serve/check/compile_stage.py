"""The compile stage of a check: diagnostics at their lines, repair, and assembly to run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from cass_ray.api.machine_code import AssemblyRequest, AssemblySide
from cass_ray.api.schema import CompileReport, TranslateRequest
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.dataset.row import Reason, clip_diagnostic
from cass_ray.execute.backends.base import Assembly, Language
from cass_ray.task import Direction, Level
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.isolation import private_folder
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Limits
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.repair.loop import Propose, repair
from serve.check.listings import amd_side, nvidia_side
from serve.check.verdicts import diagnostics_of

_OPTIMIZATION = "-Os"


@dataclass(frozen=True)
class Compiled:
    """The report, the source in its best state, and what can be linked (AMD side only)."""

    report: CompileReport
    source: str
    program: Assembly | Sources | None


@dataclass
class _Attempts:
    """Compiles one file again and again; keeps the last good result by source."""

    build: Callable[[Sources], Assembly | None]
    name: str
    reason: str = ""
    made: dict[str, Assembly | None] = field(default_factory=dict)

    def messages(self, text: str) -> str:
        """The compiler's messages about ``text``; nothing when it compiles."""
        sources = Sources(
            PurePosixPath(self.name), {self.name: text.encode("utf-8", "surrogateescape")}
        )
        try:
            self.made[text] = self.build(sources)
        except CompileFailure as failure:
            if failure.reason is Reason.NO_DEVICE_CODE:
                self.made[text] = None
                return ""
            self.reason = failure.reason.value
            return failure.diagnostic
        return ""


@dataclass(frozen=True)
class CheckCompilers:
    """Both toolchains, as far as they are there, with the limits of one compiler step."""

    amd: Callable[[], AmdToolchain]
    nvidia: Callable[[], NvidiaToolchain]
    seconds: float

    @property
    def limits(self) -> Limits:
        """Bounds of one compiler process."""
        return replace(COMPILE_LIMITS, cpu_seconds=self.seconds, wall_seconds=2 * self.seconds)

    def compile(
        self,
        request: TranslateRequest,
        translation: str,
        host: str = "",
        propose: Propose | None = None,
    ) -> Compiled:
        """Compile what a request's program became. Raises ``ToolMissing``."""
        if request.level is Level.ASSEMBLY:
            return self._assemble(request, translation, host)
        language = Language.HIP if request.direction is Direction.CUDA_TO_HIP else Language.CUDA
        name = "translation.hip" if language is Language.HIP else "translation.cu"
        build = self._hip(request) if language is Language.HIP else self._cuda(request)
        attempts = _Attempts(build, name)
        started = time.perf_counter()
        rounds = request.repair if language is Language.HIP else 0
        done = repair(
            translation, attempts.messages, filename=name, attempts=rounds, propose=propose
        )
        report = CompileReport(
            passed=done.compiles,
            architecture=request.architecture,
            compiler=self._version(language),
            seconds=time.perf_counter() - started,
            reason="" if done.compiles else attempts.reason,
            diagnostics=[] if done.compiles else diagnostics_of(done.diagnostic, name),
            output=clip_diagnostic(done.diagnostic),
            repairs=[fix for step in done.steps for fix in step.fixes],
        )
        program: Assembly | Sources | None = attempts.made.get(done.source)
        if language is Language.CUDA and done.compiles:
            program = Sources(PurePosixPath(name), {name: done.source.encode()})
        return Compiled(report, done.source, program)

    def listings(self, request: AssemblyRequest) -> Iterator[AssemblySide]:
        """Both programs of ``request`` as machine code, AMD's first; each with its problem."""
        yield amd_side(self.amd, request, self.limits)
        yield nvidia_side(self.nvidia, request, self.limits)

    def _hip(self, request: TranslateRequest) -> Callable[[Sources], Assembly | None]:
        toolchain = self.amd()

        def build(sources: Sources) -> Assembly | None:
            with private_folder() as folder:
                output = toolchain.compile(
                    sources.write(folder),
                    request.architecture,
                    optimization=_OPTIMIZATION,
                    limits=self.limits,
                    at_once=True,
                )
            return Assembly(output.host_assembly, output.device_assembly)

        return build

    def _cuda(self, request: TranslateRequest) -> Callable[[Sources], Assembly | None]:
        toolchain = self.nvidia()

        def build(sources: Sources) -> Assembly | None:
            with private_folder() as folder:
                toolchain.compile(
                    sources.write(folder), (request.architecture,), limits=self.limits
                )
            return None

        return build

    def _assemble(self, request: TranslateRequest, text: str, host: str) -> Compiled:
        started = time.perf_counter()
        output, reason = "", ""
        if request.direction is Direction.CUDA_TO_HIP:
            try:
                self.amd().assemble(text, request.architecture)
            except CompileFailure as failure:
                output, reason = failure.diagnostic, failure.reason.value
            version = self._version(Language.HIP)
        else:
            output, reason, version = "SASS cannot be assembled: no tool does it", "no_tool", ""
        report = CompileReport(
            passed=not output,
            architecture=request.architecture,
            compiler=version,
            seconds=time.perf_counter() - started,
            reason=reason,
            diagnostics=diagnostics_of(output, "<stdin>"),
            output=clip_diagnostic(output),
        )
        program = Assembly(host, text) if host and report.passed else None
        return Compiled(report, text, program)

    def _version(self, language: Language) -> str:
        toolchain = self.amd() if language is Language.HIP else self.nvidia()
        return toolchain.version
