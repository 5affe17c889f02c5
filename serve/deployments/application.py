"""The Ray Serve application: ingress, one deployment for each engine, checker, jobs.

``build`` is what ``serve deploy`` and KubeRay name in ``import_path``; its arguments are
:class:`serve.settings.ServeSettings`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI
from ray import serve
from ray.serve import Application
from ray.serve.handle import DeploymentHandle
from ray.serve.schema import LoggingConfig

from cass_ray.api.schema import RULES, JobStatus, TranslateRequest
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.protocol import Translator
from cass_ray.translate.rules import RulesTranslator
from serve.check.checker import Checker, CheckRequest, Stage, stages_in_thread
from serve.deployments.handles import RemoteChecker, RemoteEngine, RemoteJobs
from serve.engines import EngineAnswer, make_engine
from serve.http.app import create_app
from serve.http.middleware import configure_logging
from serve.jobs import Jobs, Order
from serve.services import EngineClient, InlineFirst, Services, info_of
from serve.settings import CheckerSettings, EngineSettings, JobSettings, Scaling, ServeSettings

NAME = "cass"

_LOGGING = LoggingConfig(enable_access_log=False)
"""The ingress writes a line for each request itself, with the request's id and engine."""
_SHUTDOWN_SECONDS = 30.0
_HEALTH_SECONDS = 2.0
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

    async def stages(self, check: CheckRequest) -> AsyncIterator[Stage]:
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
        self._jobs = Jobs(settings, job_translators(engines))

    async def submit(self, owner: str, name: str, data: bytes, order: Order) -> JobStatus:
        """See :meth:`serve.jobs.Jobs.submit`."""
        return self._jobs.submit(owner, name, data, order)

    async def status(self, job: str, owner: str) -> JobStatus:
        """See :meth:`serve.jobs.Jobs.status`."""
        return self._jobs.status(job, owner)

    async def jobs(self, owner: str) -> list[JobStatus]:
        """See :meth:`serve.jobs.Jobs.jobs`."""
        return self._jobs.jobs(owner)

    async def cancel(self, job: str, owner: str) -> JobStatus:
        """See :meth:`serve.jobs.Jobs.cancel`."""
        return self._jobs.cancel(job, owner)

    async def result(self, job: str, owner: str) -> bytes:
        """See :meth:`serve.jobs.Jobs.result`."""
        return await asyncio.to_thread(self._jobs.result, job, owner)


@serve.ingress()
class Ingress:
    """Answers HTTP."""

    def __init__(
        self,
        settings: ServeSettings,
        engines: dict[str, DeploymentHandle],
        checker: DeploymentHandle,
        jobs: DeploymentHandle,
    ) -> None:
        configure_logging(settings.log_level)
        self._services = Services(
            settings=settings,
            engines={each.name: _client(each, engines[each.name]) for each in settings.engines},
            checker=RemoteChecker(checker),
            jobs=RemoteJobs(jobs),
        )

    def __serve_build_asgi_app__(self) -> FastAPI:
        """The application of this replica."""
        return create_app(self._services.settings, lambda: self._services)


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


def _client(settings: EngineSettings, handle: DeploymentHandle) -> EngineClient:
    remote = RemoteEngine(info_of(settings), handle)
    if settings.translator == RULES:
        return InlineFirst(remote.info, make_engine(RULES), remote=remote)
    return remote


def build(settings: ServeSettings) -> Application:
    """The application that ``settings`` describe."""
    RulesTranslator()  # fails here rather than in every replica
    engines = {each.name: _translator(each) for each in settings.engines}
    checker = _deployment(CheckerReplica, "checker", settings.checker.scaling).bind(
        settings.checker
    )
    jobs = serve.deployment(
        JobsReplica,
        name="jobs",
        num_replicas=1,
        ray_actor_options={"num_cpus": 0.1},
        graceful_shutdown_timeout_s=_SHUTDOWN_SECONDS,
        logging_config=_LOGGING,
    ).bind(settings.jobs, settings.engines)
    limits = settings.limits
    ingress = serve.deployment(
        Ingress,
        name="ingress",
        num_replicas=settings.ingress.replicas,
        # Admission is the application's: above this the proxy answers 503 without a body.
        max_ongoing_requests=4 * limits.in_flight,
        max_queued_requests=4 * limits.in_flight,
        ray_actor_options={"num_cpus": settings.ingress.cpus},
        graceful_shutdown_timeout_s=_SHUTDOWN_SECONDS,
        logging_config=_LOGGING,
        health_check_period_s=_HEALTH_SECONDS,
    )
    return ingress.bind(settings, engines, checker, jobs)


def _translator(settings: EngineSettings) -> Application:
    replica: type = TranslatorReplica
    if settings.translator.startswith("model:"):
        from serve.deployments.model_replica import ModelReplica

        replica = ModelReplica
    return _deployment(replica, f"engine-{settings.name}", settings.scaling).bind(settings)


def _deployment(replica: type, name: str, scaling: Scaling) -> Any:
    options: dict[str, Any] = {}
    if scaling.min_replicas == scaling.max_replicas:
        options["num_replicas"] = scaling.min_replicas
    else:
        options["autoscaling_config"] = {
            "min_replicas": scaling.min_replicas,
            "max_replicas": scaling.max_replicas,
            "target_ongoing_requests": scaling.target_ongoing_requests,
        }
    return serve.deployment(
        replica,
        name=name,
        max_ongoing_requests=2 * scaling.target_ongoing_requests,
        max_queued_requests=scaling.max_queued_requests,
        ray_actor_options={
            "num_cpus": scaling.cpus,
            "num_gpus": scaling.gpus,
            "resources": dict(scaling.resources),
        },
        graceful_shutdown_timeout_s=_SHUTDOWN_SECONDS,
        logging_config=_LOGGING,
        health_check_period_s=_HEALTH_SECONDS,
        **options,
    )
