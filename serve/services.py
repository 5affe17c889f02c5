"""What the HTTP layer works with: engines, a checker, jobs; here or behind Ray handles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from cass_ray.api.schema import LIFT, RULES, EngineInfo, JobStatus, TranslateRequest
from cass_ray.task import Direction, Level
from serve.answer_cache import AnswerCache
from serve.check.checker import Checker, CheckRequest, Stage, stages_in_thread
from serve.engines import Engine, EngineAnswer
from serve.http.access import Admission, Keyring
from serve.http.metrics import Metrics
from serve.jobs import Order
from serve.settings import EngineSettings, ServeSettings


class EngineClient(Protocol):
    """An engine, wherever it runs."""

    info: EngineInfo

    async def version(self) -> str:
        """Part of the key of kept answers."""
        ...

    async def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        """Translate. Raises what :func:`serve.http.errors.from_library` knows."""
        ...

    def stream(self, request: TranslateRequest, seed: int) -> AsyncIterator[str | EngineAnswer]:
        """Pieces of text, then the answer; only where ``info.streams``."""
        ...

    async def propose(self, source: str, messages: str) -> str | None:
        """A correction after the compiler's messages; None where the engine has none."""
        ...

    def chat(self, messages: list[dict[str, str]], options: dict[str, Any]) -> AsyncIterator[Any]:
        """A conversation with the model: pieces of text, then its usage."""
        ...


class CheckerClient(Protocol):
    """The checker, wherever it runs."""

    def stages(self, check: CheckRequest) -> AsyncIterator[Stage]:
        """See :meth:`serve.check.checker.Checker.stages`; ended by closing the iterator."""
        ...

    async def backends(self) -> dict[str, str]:
        """See :meth:`serve.check.checker.Checker.backends`."""
        ...


class JobsClient(Protocol):
    """Jobs over whole archives."""

    async def submit(self, owner: str, name: str, data: bytes, order: Order) -> JobStatus:
        """Queue a job. Raises :class:`serve.http.errors.ApiError`."""
        ...

    async def status(self, job: str, owner: str) -> JobStatus:
        """Raises :class:`serve.http.errors.ApiError` 404."""
        ...

    async def jobs(self, owner: str) -> list[JobStatus]:
        """All of ``owner``, the newest first, without their files."""
        ...

    async def cancel(self, job: str, owner: str) -> JobStatus:
        """End a job, or remove a finished one."""
        ...

    async def result(self, job: str, owner: str) -> bytes:
        """The translated tree as a zip archive. Raises :class:`serve.http.errors.ApiError`."""
        ...


def info_of(settings: EngineSettings) -> EngineInfo:
    """What clients are told about an engine."""
    translator = settings.translator
    levels, directions = [Level.SOURCE], [Direction.CUDA_TO_HIP]
    if translator == RULES:
        directions = list(Direction)
    elif translator == LIFT:
        levels = [Level.ASSEMBLY]
    elif is_generative(settings):
        levels, directions = list(Level), list(Direction)
    return EngineInfo(
        name=settings.name,
        levels=levels,
        directions=directions,
        streams=translator.startswith("model:"),
        description=settings.description,
    )


def is_generative(settings: EngineSettings) -> bool:
    """Whether the engine is a language model, which can be asked again."""
    return settings.translator.startswith(("model:", "chat:"))


@dataclass
class LocalEngine:
    """An engine in this process."""

    info: EngineInfo
    engine: Engine

    async def version(self) -> str:
        """The engine's."""
        return self.engine.version

    async def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        """In a thread."""
        return await asyncio.to_thread(self.engine.translate, request, seed)

    async def stream(
        self, request: TranslateRequest, seed: int
    ) -> AsyncIterator[str | EngineAnswer]:
        """The answer alone."""
        yield await self.translate(request, seed)

    async def propose(self, source: str, messages: str) -> str | None:
        """Nothing."""
        del source, messages
        return None

    async def chat(
        self, messages: list[dict[str, str]], options: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Nothing: no engine in this process holds conversations."""
        nothing: tuple[Any, ...] = ()
        for piece in nothing:
            yield piece


@dataclass
class InlineFirst(LocalEngine):
    """An engine that answers small programs in this process and hands large ones on.

    A remote call takes longer than the rules take for a program of some hundred lines.
    """

    remote: EngineClient | None = None
    max_characters: int = 1 << 16
    """Characters that are translated here."""

    async def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        """Here or there."""
        if self.remote is None or len(request.source) <= self.max_characters:
            return self.engine.translate(request, seed)
        return await self.remote.translate(request, seed)


@dataclass
class LocalChecker:
    """A checker in this process."""

    checker: Checker

    async def stages(self, check: CheckRequest) -> AsyncIterator[Stage]:
        """In a thread."""
        stages = stages_in_thread(lambda: self.checker.stages(check))
        try:
            async for stage in stages:
                yield stage
        finally:
            await stages.aclose()  # type: ignore[attr-defined]

    async def backends(self) -> dict[str, str]:
        """In a thread."""
        return await asyncio.to_thread(self.checker.backends)


@dataclass
class Services:
    """Everything behind the routes of one ingress replica."""

    settings: ServeSettings
    engines: Mapping[str, EngineClient]
    checker: CheckerClient
    jobs: JobsClient
    keyring: Keyring = field(init=False)
    admission: Admission = field(init=False)
    answers: AnswerCache = field(init=False)
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        self.keyring = Keyring(self.settings.authentication, self.settings.ingress.replicas)
        self.admission = Admission(self.settings.limits)
        self.answers = AnswerCache(self.settings.limits.answer_cache_mib << 20)

    def is_quick(self, request: TranslateRequest) -> bool:
        """Whether the answer is made in this process, in a time that nobody hangs up in."""
        engine = self.engines.get(request.engine)
        return isinstance(engine, InlineFirst)
