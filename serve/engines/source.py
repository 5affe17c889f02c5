"""Engines over translators: any one of the library's, and the rules in both directions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

from cass_ray.api.schema import TranslateRequest
from cass_ray.architectures import AMD_TARGETS
from cass_ray.cache import digest
from cass_ray.task import Direction, Level
from cass_ray.translate.protocol import Context, Translator, TranslatorError
from serve.engines.base import EngineAnswer, as_answer, file_name


def wavefronts(architecture: str) -> tuple[int, ...]:
    """Lanes of a wavefront as HIP compiles for it: 64 on CDNA, 32 on RDNA; 32 in a warp."""
    widths = {target.name: target.wave_widths[:1] for target in AMD_TARGETS}
    return widths.get(architecture, (32,))


@dataclass
class SourceEngine:
    """Any :class:`~cass_ray.translate.protocol.Translator`."""

    translator: Translator

    @property
    def version(self) -> str:
        return self.translator.version

    def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        asked = {"level": request.level.value, "direction": request.direction.value}
        if request.temperature is not None or seed:
            asked["temperature"] = str(_temperature(request))
            asked["seed"] = str(seed)
        context = Context(wavefronts=wavefronts(request.architecture), settings=asked)
        started = time.perf_counter()
        translation = self.translator.translate(
            request.source, filename=file_name(request), context=context
        )
        return as_answer(translation, self.version, time.perf_counter() - started)


def _temperature(request: TranslateRequest) -> float:
    return 0.8 if request.temperature is None else request.temperature


@dataclass
class RulesEngine:
    """The rules, CUDA to HIP and HIP to CUDA; source only."""

    forward: Translator
    backward: Translator

    @cached_property
    def version(self) -> str:
        return digest([self.forward.version, self.backward.version])[:16]

    def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        if request.level is not Level.SOURCE:
            raise TranslatorError(
                "the rules translate source; for machine code ask the engine lift"
            )
        forward = request.direction is Direction.CUDA_TO_HIP
        return SourceEngine(self.forward if forward else self.backward).translate(request, 0)
