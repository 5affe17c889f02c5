"""Engines as the service runs them: one call, one answer, whatever stands behind it."""

from __future__ import annotations

import base64
import time
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Protocol

from pydantic import Field

from cass_ray import lift
from cass_ray.api.schema import LIFT, RULES, CountsModel, FindingModel, TranslateRequest, Usage
from cass_ray.cache import digest
from cass_ray.config import StrictModel
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.task import Direction, Level
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.disassembly import DisassemblyError
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError
from cass_ray.toolchain.sandbox.isolation import private_folder
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated
from cass_ray.translate.protocol import (
    Context,
    Finding,
    Translation,
    Translator,
    TranslatorError,
)
from cass_ray.translate.rules import RulesTranslator
from cass_ray.translate.rules.reverse import HipToCudaTranslator

_LIFTED_FROM = "sm_80"


class EngineAnswer(StrictModel):
    """What an engine made of a program. ``host`` goes with a lifted device part."""

    source: str
    version: str
    findings: list[FindingModel] = []
    counts: CountsModel = CountsModel()
    usage: Usage | None = None
    seconds: float = 0.0
    failed: str = ""
    """Why this is no translation at all (no code in a model's answer); empty where it is one."""
    host: str = Field(default="", repr=False)
    """Host assembly to link with, where ``source`` is device assembly."""


class Engine(Protocol):
    """What a translator replica holds."""

    @property
    def version(self) -> str:
        """Changes when the same request may get another answer."""
        ...

    def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        """Translate. Raises ``TranslatorError``, ``ToolMissing``."""
        ...


def as_answer(made: Translation, version: str, seconds: float) -> EngineAnswer:
    """A translation in the API's terms."""
    usage = None
    if made.usage is not None:
        usage = Usage(
            prompt_tokens=made.usage.input_tokens, completion_tokens=made.usage.output_tokens
        )
    return EngineAnswer(
        source=made.source,
        version=version,
        findings=findings_of(made.findings),
        counts=CountsModel(**asdict(made.counts)),
        usage=usage,
        seconds=seconds,
    )


def findings_of(findings: tuple[Finding, ...]) -> list[FindingModel]:
    """Findings in the API's terms."""
    return [
        FindingModel(
            line=item.line,
            column=item.column,
            name=item.construct,
            severity=item.severity.value,
            message=item.message,
            advice=item.advice,
        )
        for item in findings
    ]


def file_name(request: TranslateRequest) -> str:
    """What to call the program."""
    default = "program.cu" if request.direction is Direction.CUDA_TO_HIP else "program.hip"
    return request.filename or default


def wavefronts(architecture: str) -> tuple[int, ...]:
    """Lanes of a wavefront: CDNA (gfx9) has 64, RDNA 32."""
    return (64,) if architecture.startswith("gfx9") else (32,)


@dataclass
class SourceEngine:
    """Any :class:`~cass_ray.translate.protocol.Translator`."""

    translator: Translator

    @property
    def version(self) -> str:
        """The translator's."""
        return self.translator.version

    def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        """See :class:`Engine`."""
        asked = {"level": request.level.value, "direction": request.direction.value}
        if request.temperature is not None or seed:
            asked["temperature"] = str(_temperature(request))
            asked["seed"] = str(seed)
        context = Context(wavefronts=wavefronts(request.architecture), settings=asked)
        started = time.perf_counter()
        made = self.translator.translate(
            request.source, filename=file_name(request), context=context
        )
        return as_answer(made, self.version, time.perf_counter() - started)


def _temperature(request: TranslateRequest) -> float:
    return 0.8 if request.temperature is None else request.temperature


@dataclass
class RulesEngine:
    """Both directions of the rules."""

    forward: Translator
    backward: Translator

    @cached_property
    def version(self) -> str:
        """Of both."""
        return digest([self.forward.version, self.backward.version])[:16]

    def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        """See :class:`Engine`."""
        if request.level is not Level.SOURCE:
            raise TranslatorError(
                "the rules translate source; for machine code ask the engine lift"
            )
        forward = request.direction is Direction.CUDA_TO_HIP
        return SourceEngine(self.forward if forward else self.backward).translate(request, 0)


class LiftEngine:
    """SASS to RDNA3 assembly: from a cubin, or from CUDA source that is compiled first."""

    def __init__(self) -> None:
        self._nvidia, self._amd = find_nvidia(), find_amd()
        self._rules = make_translator(RULES)
        folder = Path(lift.__file__).parent
        files = sorted(path for path in folder.rglob("*") if path.suffix in {".py", ".ll", ".hip"})
        self.version = digest([path.read_bytes() for path in files])[:16]

    def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        """See :class:`Engine`."""
        del seed
        if request.direction is not Direction.CUDA_TO_HIP:
            raise TranslatorError("the engine lift goes from CUDA to HIP only")
        started = time.perf_counter()
        try:
            if request.cubin is not None:
                made, host = self._lift(base64.b64decode(request.cubin), request, {}), ""
            else:
                made, host = self._from_source(request)
        except (lift.LiftError, CubinError, DisassemblyError) as error:
            raise TranslatorError(f"not lifted: {error}") from None
        except CompileFailure as failure:
            raise TranslatorError(
                f"the program does not compile with {failure.tool}: {failure.diagnostic}"
            ) from None
        findings = [
            FindingModel(
                line=0, column=0, name=kernel, severity="error", message=f"not lifted: {why}"
            )
            for kernel, why in made.failures.items()
        ]
        counts = CountsModel(converted=len(made.kernels), unsupported=len(made.failures))
        return EngineAnswer(
            source=made.assembly,
            version=self.version,
            findings=findings,
            counts=counts,
            seconds=time.perf_counter() - started,
            host=host,
        )

    def _lift(
        self, cubin: bytes, request: TranslateRequest, names: dict[str, str]
    ) -> lift.LiftedModule:
        return lift.lift_cubin(
            cubin,
            request.architecture,
            amd=self._amd,
            nvidia=self._nvidia,
            partial=True,
            names=names,
        )

    def _from_source(self, request: TranslateRequest) -> tuple[lift.LiftedModule, str]:
        name = file_name(request)
        sources = Sources(PurePosixPath(name), {name: request.source.encode()})
        with private_folder() as folder:
            output = self._nvidia.compile(sources.write(folder), (_LIFTED_FROM,))
        cubin = output.cubins[_LIFTED_FROM]
        with private_folder() as folder:
            unit = translated(sources, self._rules).write(folder)
            host = self._amd.compile(unit, request.architecture)
        names = lift.names_for_host(Cubin.parse(cubin), host.device_assembly)
        return self._lift(cubin, request, names), host.host_assembly


def make_engine(translator: str) -> Engine:
    """The engine behind ``translator``. Raises ``UnknownTranslatorError``, ``ToolMissing``."""
    if translator == RULES:
        return RulesEngine(RulesTranslator(), HipToCudaTranslator())
    if translator == LIFT:
        return LiftEngine()
    return SourceEngine(make_translator(translator))
