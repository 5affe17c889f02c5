"""The Ray Serve application: ingress, one deployment for each engine, checker, jobs.

``build`` is what ``serve deploy`` and KubeRay name in ``import_path``; its arguments are
:class:`serve.settings.ServeSettings`. ``build_in_order`` parts it into what a first request needs
and what may start meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from ray import serve
from ray.serve import Application
from ray.serve.handle import DeploymentHandle
from ray.serve.schema import LoggingConfig

from cass_ray.api.schema import LIFT, RULES
from cass_ray.translate.engines.prefixes import MODEL_PREFIX
from cass_ray.translate.rules import RulesTranslator
from serve.deployments.remote_clients import RemoteChecker, RemoteEngine, RemoteJobs
from serve.deployments.replicas import CheckerReplica, JobsReplica, TranslatorReplica
from serve.engines.registry import make_engine
from serve.http.app import create_app
from serve.http.middleware import configure_logging
from serve.request.clients import EngineClient, info_of
from serve.request.ingress_services import IngressServices
from serve.request.local_clients import InlineFirst
from serve.settings import EngineSettings, Scaling, ServeSettings

NAME = "cass"
_JOBS = "jobs"

_LOGGING = LoggingConfig(enable_access_log=False)
"""The ingress writes a line for each request itself, with the request's id and engine."""
_LATER = (RULES, LIFT)
"""Engines whose replicas a first request can do without: the ingress has the rules itself, and the
lifter is seldom asked for."""
_SHUTDOWN_SECONDS = 30.0
_HEALTH_SECONDS = 2.0


@serve.ingress()
class Ingress:
    """The deployment that answers HTTP, with clients of all others."""

    def __init__(
        self,
        settings: ServeSettings,
        engines: dict[str, DeploymentHandle],
        checker: DeploymentHandle,
        jobs: DeploymentHandle,
    ) -> None:
        configure_logging(settings.log_level)
        self._services = IngressServices(
            settings=settings,
            engines={each.name: _client(each, engines[each.name]) for each in settings.engines},
            checker=RemoteChecker(checker),
            jobs=RemoteJobs(jobs),
        )

    def __serve_build_asgi_app__(self) -> FastAPI:
        """The application of this replica."""
        return create_app(self._services.settings, lambda: self._services)


def _client(settings: EngineSettings, handle: DeploymentHandle) -> EngineClient:
    remote = RemoteEngine(info_of(settings), handle)
    if settings.translator == RULES:
        return InlineFirst(remote.info, make_engine(RULES), remote=remote)
    return remote


@dataclass(frozen=True)
class ApplicationsInOrder:
    """``first`` answers requests; ``later`` has the names of what it asks besides, each of which
    it waits for where a request needs it before it has started."""

    first: Application
    later: dict[str, Application]


def build(settings: ServeSettings) -> Application:
    """The application that ``settings`` describe."""
    engines = {each.name: _translator(each) for each in settings.engines}
    return _ingress(settings, engines, _jobs(settings))


def build_in_order(settings: ServeSettings) -> ApplicationsInOrder:
    """:func:`build`, as applications that are started one after the other."""
    jobs = _jobs(settings)
    later = {f"{NAME}-jobs": jobs}
    engines: dict[str, Any] = {}
    for each in settings.engines:
        application, name = _translator(each), f"{NAME}-engine-{each.name}"
        if each.translator in _LATER:
            later[name] = application
            engines[each.name] = DeploymentHandle(_engine_name(each), name)
        else:
            engines[each.name] = application
    handle = DeploymentHandle(_JOBS, f"{NAME}-jobs")
    return ApplicationsInOrder(_ingress(settings, engines, handle), later)


def _ingress(settings: ServeSettings, engines: dict[str, Any], jobs: Any) -> Application:
    RulesTranslator()  # fails here rather than in every replica
    checker = _deployment(CheckerReplica, "checker", settings.checker.scaling).bind(
        settings.checker
    )
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


def _jobs(settings: ServeSettings) -> Application:
    return serve.deployment(
        JobsReplica,
        name=_JOBS,
        num_replicas=1,
        ray_actor_options={"num_cpus": 0.1},
        graceful_shutdown_timeout_s=_SHUTDOWN_SECONDS,
        logging_config=_LOGGING,
    ).bind(settings.jobs, settings.engines)


def _translator(settings: EngineSettings) -> Application:
    replica: type = TranslatorReplica
    if settings.translator.startswith(MODEL_PREFIX):
        from serve.deployments.model_replica import ModelReplica

        replica = ModelReplica
    return _deployment(replica, _engine_name(settings), settings.scaling).bind(settings)


def _engine_name(settings: EngineSettings) -> str:
    return f"engine-{settings.name}"


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
