"""What the replicas of each deployment hold: an engine, the checker, the jobs.

Plain classes: :mod:`serve.deployments.application` makes deployments of them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

from cass_ray.api.schema import JobStatus, TranslateRequest
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.protocol import Translator
from serve.check.checker import Checker, CheckRequest, CheckStage, stages_in_thread
from serve.engines.answer import EngineAnswer
from serve.engines.make import make_engine
from serve.jobs.archive_jobs import ArchiveJobs, JobOrder
from serve.settings import CheckerSettings, EngineSettings, JobSettings

_NICENESS = 5
"""Of checks, so that the ingress answers while all cores compile."""


class TranslatorReplica:
    """Holds one engine."""

    def __init__(self, settings: EngineSettings) -> None:
        self._seconds = settings.seconds
        self._engine = make_engine(settings.translator)

    def version(self) -> str:
        """Of the engine."""
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
    """Holds the toolchains and the sandbox."""

    def __init__(self, settings: CheckerSettings) -> None:
        os.nice(_NICENESS)  # compilers and programs inherit it
        self._checker = Checker(settings)
        self._checker.warm_up()

    async def stages(self, check: CheckRequest) -> AsyncIterator[CheckStage]:
        """Stages as they come; what runs is ended when the caller hangs up."""
        stages = stages_in_thread(lambda: self._checker.stages(check))
        try:
            async for stage in stages:
                yield stage
        finally:
            await stages.aclose()  # type: ignore[attr-defined]

    async def backends(self) -> dict[str, str]:
        """Which there are."""
        return await asyncio.to_thread(self._checker.backends)


class JobsReplica:
    """The only keeper of jobs."""

    def __init__(self, settings: JobSettings, engines: list[EngineSettings]) -> None:
        self._jobs = ArchiveJobs(settings, job_translators(engines))

    async def submit(self, owner: str, name: str, data: bytes, order: JobOrder) -> JobStatus:
        """See :meth:`serve.jobs.archive_jobs.ArchiveJobs.submit`."""
        return self._jobs.submit(owner, name, data, order)

    async def status(self, job: str, owner: str) -> JobStatus:
        """See :meth:`serve.jobs.archive_jobs.ArchiveJobs.status`."""
        return self._jobs.status(job, owner)

    async def jobs(self, owner: str) -> list[JobStatus]:
        """See :meth:`serve.jobs.archive_jobs.ArchiveJobs.jobs`."""
        return self._jobs.jobs(owner)

    async def cancel(self, job: str, owner: str) -> JobStatus:
        """See :meth:`serve.jobs.archive_jobs.ArchiveJobs.cancel`."""
        return self._jobs.cancel(job, owner)

    async def result(self, job: str, owner: str) -> bytes:
        """See :meth:`serve.jobs.archive_jobs.ArchiveJobs.result`."""
        return await asyncio.to_thread(self._jobs.result, job, owner)


def job_translators(engines: list[EngineSettings]) -> dict[str, Any]:
    """What makes the translator of each engine that can work on trees."""

    def made(name: str) -> Any:
        def make() -> Translator:
            return make_translator(name)

        return make

    return {
        each.name: made(each.translator)
        for each in engines
        if not each.translator.startswith("model:") and each.translator != "lift"
    }
