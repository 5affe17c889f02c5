"""What the replicas of each deployment hold: an engine, the checker, the jobs.

Plain classes: :mod:`serve.deployments.application` makes deployments of them. Each imports what it
holds when it is made: this module is imported by the process that starts the service and by every
replica, and the start waits for all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from cass_ray.api.jobs import JobFileTexts, JobStatus
from cass_ray.api.machine_code import AssemblyRequest, AssemblySide
from cass_ray.api.schema import TargetInfo, TranslateRequest
from cass_ray.toolchain.sandbox import process
from cass_ray.translate.engines.prefixes import MODEL_PREFIX
from serve.check.stages import CheckRequest, CheckStage
from serve.engines.base import EngineAnswer
from serve.jobs.order import JobOrder
from serve.settings import CheckerSettings, EngineSettings, JobSettings

_INTERACTIVE = 1.0
_BATCH = 0.1
"""Shares of the processors that compilers and programs get: somebody waits for a request's, nobody
for a job's. Not the replicas: refusing requests would go before the ones that were let in."""


class TranslatorReplica:
    """Holds one engine that is no local language model."""

    def __init__(self, settings: EngineSettings) -> None:
        from serve.engines.registry import make_engine

        self._seconds = settings.seconds
        self._engine = make_engine(settings.translator)

    def version(self) -> str:
        return self._engine.version

    async def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        """In a thread, within the engine's time."""
        async with asyncio.timeout(self._seconds):
            return await asyncio.to_thread(self._engine.translate, request, seed)

    async def propose(self, source: str, messages: str) -> str | None:
        """A correction, where the engine is a chat model."""
        translator = getattr(self._engine, "translator", None)
        propose = getattr(translator, "propose", None)
        return None if propose is None else await asyncio.to_thread(propose, source, messages)


class CheckerReplica:
    """Holds the toolchains and the sandbox: a
    :class:`~serve.request.local_clients.LocalChecker`."""

    def __init__(self, settings: CheckerSettings) -> None:
        from serve.check.checker import Checker
        from serve.request.local_clients import LocalChecker

        process.give_way(_INTERACTIVE)
        checker = Checker(settings)
        checker.warm_up()
        self._local = LocalChecker(checker)

    async def stages(self, check: CheckRequest) -> AsyncGenerator[CheckStage]:
        async with aclosing(self._local.stages(check)) as stages:
            async for stage in stages:
                yield stage

    async def listings(self, request: AssemblyRequest) -> AsyncGenerator[AssemblySide]:
        async with aclosing(self._local.listings(request)) as sides:
            async for side in sides:
                yield side

    async def backends(self) -> dict[str, str]:
        return await self._local.backends()

    async def targets(self) -> list[TargetInfo]:
        return await self._local.targets()


class JobsReplica:
    """Holds :class:`serve.jobs.archive_jobs.ArchiveJobs`; one replica, for their folder has one
    writer.
    """

    def __init__(self, settings: JobSettings, engines: list[EngineSettings]) -> None:
        from serve.jobs.archive_jobs import ArchiveJobs

        process.give_way(_BATCH)
        self._jobs = ArchiveJobs(settings, job_translators(engines))

    async def submit(self, owner: str, name: str, data: bytes, order: JobOrder) -> JobStatus:
        return self._jobs.submit(owner, name, data, order)

    async def status(self, job: str, owner: str) -> JobStatus:
        return self._jobs.status(job, owner)

    async def jobs(self, owner: str) -> list[JobStatus]:
        return self._jobs.jobs(owner)

    async def cancel(self, job: str, owner: str) -> JobStatus:
        return self._jobs.cancel(job, owner)

    async def result(self, job: str, owner: str) -> bytes:
        return await asyncio.to_thread(self._jobs.result, job, owner)

    async def patch(self, job: str, owner: str) -> bytes:
        return await asyncio.to_thread(self._jobs.patch, job, owner)

    async def texts(self, job: str, owner: str, path: str) -> JobFileTexts:
        return await asyncio.to_thread(self._jobs.texts, job, owner, path)


def job_translators(engines: list[EngineSettings]) -> dict[str, Any]:
    """What makes the translator of each engine that can work on trees."""

    def made(name: str) -> Any:
        def make() -> Any:
            from cass_ray.translate.engines.registry import make_translator

            return make_translator(name)

        return make

    return {
        each.name: made(each.translator)
        for each in engines
        if not each.translator.startswith(MODEL_PREFIX) and each.translator != "lift"
    }
