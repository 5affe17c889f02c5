"""Engines, the checker and jobs in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cass_ray.api.jobs import JobFileTexts, JobStatus
from cass_ray.api.machine_code import AssemblyRequest, AssemblySide
from cass_ray.api.schema import EngineInfo, TargetInfo, TranslateRequest
from serve.check.stages import CheckRequest, CheckStage, stages_in_thread
from serve.engines.base import EngineAnswer, TranslationEngine
from serve.jobs.order import JobOrder
from serve.request.clients import EngineClient

if TYPE_CHECKING:
    from serve.check.checker import Checker
    from serve.jobs.archive_jobs import ArchiveJobs


@dataclass
class LocalEngine:
    """An engine in this process, called in a thread."""

    info: EngineInfo
    engine: TranslationEngine

    async def version(self) -> str:
        return self.engine.version

    async def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        return await asyncio.to_thread(self.engine.translate, request, seed)

    async def stream(
        self, request: TranslateRequest, seed: int
    ) -> AsyncIterator[str | EngineAnswer]:
        yield await self.translate(request, seed)

    async def propose(self, source: str, messages: str) -> str | None:
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
    max_characters: int = 1 << 14
    """Characters that are translated here: whatever they are, that takes less than half a second of
    the process that answers everybody (``tests/security/growth.py``)."""

    def is_here(self, request: TranslateRequest) -> bool:
        """Whether the answer is made at once, in this thread."""
        return len(request.source) <= self.max_characters

    async def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        if self.is_here(request):
            return self.engine.translate(request, seed)
        if self.remote is None:
            return await super().translate(request, seed)
        return await self.remote.translate(request, seed)


@dataclass
class LocalChecker:
    """A checker in this process, driven in a thread."""

    checker: Checker

    async def stages(self, check: CheckRequest) -> AsyncGenerator[CheckStage]:
        """Stages as they come; what runs is ended when the iterator is closed."""
        async with aclosing(stages_in_thread(lambda: self.checker.stages(check))) as stages:
            async for stage in stages:
                yield stage

    async def listings(self, request: AssemblyRequest) -> AsyncGenerator[AssemblySide]:
        """Sides as they come; a compiler is ended when the iterator is closed."""
        async with aclosing(stages_in_thread(lambda: self.checker.listings(request))) as sides:
            async for side in sides:
                yield side

    async def backends(self) -> dict[str, str]:
        return await asyncio.to_thread(self.checker.backends)

    async def targets(self) -> list[TargetInfo]:
        return await asyncio.to_thread(self.checker.targets)


@dataclass
class LocalJobs:
    """Jobs over archives in this process, as a :class:`serve.request.clients.JobsClient`."""

    archives: ArchiveJobs

    async def submit(self, owner: str, name: str, data: bytes, order: JobOrder) -> JobStatus:
        return await asyncio.to_thread(self.archives.submit, owner, name, data, order)

    async def status(self, job: str, owner: str) -> JobStatus:
        return self.archives.status(job, owner)

    async def jobs(self, owner: str) -> list[JobStatus]:
        return self.archives.jobs(owner)

    async def cancel(self, job: str, owner: str) -> JobStatus:
        return self.archives.cancel(job, owner)

    async def result(self, job: str, owner: str) -> bytes:
        return await asyncio.to_thread(self.archives.result, job, owner)

    async def patch(self, job: str, owner: str) -> bytes:
        return await asyncio.to_thread(self.archives.patch, job, owner)

    async def texts(self, job: str, owner: str, path: str) -> JobFileTexts:
        return await asyncio.to_thread(self.archives.texts, job, owner, path)
