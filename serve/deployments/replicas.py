"""What the replicas of each deployment hold: an engine, the checker, the jobs.

Plain classes: :mod:`serve.deployments.application` makes deployments of them. Each imports what it
holds when it is made: this module is imported by the process that starts the service and by every
replica, and the start waits for all of them.
"""

from __future__ import annotations

import asyncio
from typing import Any

from cass_ray.api.schema import TranslateRequest
from cass_ray.toolchain.sandbox import process
from cass_ray.translate.engines.prefixes import MODEL_PREFIX
from serve.engines.base import EngineAnswer
from serve.request.local_clients import LocalChecker, LocalJobs
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
        """Translate in a thread, within the engine's time."""
        async with asyncio.timeout(self._seconds):
            return await asyncio.to_thread(self._engine.translate, request, seed)

    async def propose(self, source: str, messages: str) -> str | None:
        """A correction, where the engine is a chat model."""
        translator = getattr(self._engine, "translator", None)
        propose = getattr(translator, "propose", None)
        return None if propose is None else await asyncio.to_thread(propose, source, messages)


class CheckerReplica(LocalChecker):
    """Holds the toolchains and the sandbox."""

    def __init__(self, settings: CheckerSettings) -> None:
        from serve.check.checker import Checker

        process.give_way(_INTERACTIVE)
        super().__init__(Checker(settings))
        self.checker.warm_up()


class JobsReplica(LocalJobs):
    """Holds the archives; one replica, for their folder has one writer."""

    def __init__(self, settings: JobSettings, engines: list[EngineSettings]) -> None:
        from serve.jobs.archive_jobs import ArchiveJobs

        process.give_way(_BATCH)
        super().__init__(ArchiveJobs(settings, job_translators(engines)))


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
