"""Settings of the service. Every field can be set in the YAML file of ``cass serve --config``."""

from __future__ import annotations

import ipaddress
import re
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from cass_ray.api.schema import LIFT, RULES
from cass_ray.cache import default_directory
from cass_ray.config import StrictModel

LIMITS_VARIABLE = "CASS_SERVE_LIMITS"
"""Environment variable: :class:`RequestLimits` as JSON, for processes that Ray starts."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class Scaling(StrictModel):
    """How many replicas, and what each takes from its node.

    What waits for a replica beyond ``max_queued_requests`` is refused with 429.
    """

    RENAMED = {"ongoing": "target_ongoing_requests", "queued": "max_queued_requests"}

    min_replicas: int = Field(default=1, ge=0)
    max_replicas: int = Field(default=1, ge=1)
    target_ongoing_requests: int = Field(default=4, ge=1)
    max_queued_requests: int = Field(default=64, ge=0)
    cpus: float = Field(default=0.1, ge=0)
    gpus: float = Field(default=0, ge=0)
    resources: dict[str, float] = {}

    @model_validator(mode="after")
    def _ordered(self) -> Scaling:
        if self.min_replicas > self.max_replicas:
            raise ValueError("min_replicas is larger than max_replicas")
        return self


class GenerationSettings(StrictModel):
    """How a ``model:`` engine generates."""

    RENAMED = {"max_context": "max_model_len"}
    REMOVED = dict.fromkeys(
        [
            "num_blocks",
            "block_size",
            "max_batch_tokens",
            "prefix_caching",
            "cache_blocks",
            "page_tokens",
            "batch_tokens",
            "prefix_sharing",
        ],
        "it is gone: for many requests on a GPU take vLLM (cluster/kuberay/serve_vllm.yaml)",
    )

    max_model_len: int | None = Field(default=None, ge=64)
    """Tokens of question and answer together; default: the model's positions."""
    max_new_tokens: int = Field(default=16_384, ge=1)
    rope: str | None = None
    """Context extension: ``linear:F``, ``dynamic:F`` or ``yarn:F``."""
    sampling: bool = True
    """Whether requests may ask for a temperature; without it every answer is greedy, a little
    faster."""


class EngineSettings(StrictModel):
    """One engine that clients may ask for, by ``name``.

    ``translator`` is what :func:`cass_ray.translate.engines.registry.make_translator` understands
    (``rules``, ``hipify-perl``, ``chat:MODEL?…``), ``lift``, or ``model:PATH``, whose requests take
    turns. For many requests on a GPU take vLLM: ``cluster/kuberay/serve_vllm.yaml``.
    """

    name: str
    translator: str
    description: str = ""
    scaling: Scaling = Scaling()
    generation: GenerationSettings = GenerationSettings()
    seconds: float = Field(default=600.0, gt=0)
    """Time limit of one translation."""

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        if not _NAME.fullmatch(value):
            raise ValueError("letters, digits, `.`, `_` and `-`")
        return value


class CheckerSettings(StrictModel):
    """The checker: where programs run, and the bounds of compilers and runs."""

    backend: Literal["auto", "rdna3", "amd", "hip-on-nvidia"] = "auto"
    """Where HIP programs run; auto: an AMD GPU if there is one, else the CPU."""
    scaling: Scaling = Scaling(
        max_replicas=2, target_ongoing_requests=2, max_queued_requests=16, cpus=0.5
    )
    wall_seconds: float = Field(default=20.0, gt=0)
    cpu_seconds: float = Field(default=40.0, gt=0)
    memory_mib: int = Field(default=2048, ge=64)
    output_kib: int = Field(default=1024, ge=1)
    compile_seconds: float = Field(default=60.0, gt=0)
    kept_output: int = Field(default=16_384, ge=0)
    """Bytes of each run's output that travel to the client."""


class JobSettings(StrictModel):
    """Jobs over whole archives: their folder and their bounds."""

    folder: Path = Field(default_factory=lambda: default_directory() / "serve" / "jobs")
    archive_mib: int = Field(default=64, ge=1)
    unpacked_mib: int = Field(default=512, ge=1)
    members: int = Field(default=20_000, ge=1)
    running: int = Field(default=1, ge=1)
    waiting: int = Field(default=16, ge=0)
    per_key: int = Field(default=4, ge=1)
    """Jobs of one key that wait or run."""
    kept_hours: float = Field(default=24.0, gt=0)
    kept_mib: int = Field(default=8192, ge=1)
    """Archives and results of all; the oldest results make room for new jobs."""
    kept_mib_per_key: int = Field(default=1024, ge=1)


class ShareSettings(StrictModel):
    """Links to answers: off unless ``enabled``. Several ingress replicas need one folder."""

    enabled: bool = False
    folder: Path = Field(default_factory=lambda: default_directory() / "serve" / "shares")
    kept_days: float = Field(default=30.0, gt=0)
    kept_mib: int = Field(default=256, ge=1)
    """MiB that all jobs take; the oldest make room for new ones."""


class RequestLimits(StrictModel):
    """What one ingress replica takes on at once."""

    body_kib: int = Field(default=1024, ge=1)
    request_seconds: float = Field(default=300.0, gt=0)
    in_flight: int = Field(default=128, ge=1)
    """Requests that are worked on at once; more are refused with 429."""
    checks_in_flight: int = Field(default=16, ge=1)
    uploads_in_flight: int = Field(default=4, ge=1)
    """Archives held in memory while they arrive."""
    uploads_per_key: int = Field(default=2, ge=1)
    body_seconds: float = Field(default=120.0, gt=0)
    """Seconds in which the body of a request has to arrive."""
    stall_seconds: float = Field(default=15.0, gt=0)
    """Longest silence within a body; longest time in which a client reads nothing of an answer."""
    header_seconds: float = Field(default=10.0, gt=0)
    """Seconds in which the headers of a request have to arrive."""
    connections: int = Field(default=1024, ge=1)
    """Open at once; beyond, the one that has been idle longest is closed."""
    answer_cache_mib: int = Field(default=64, ge=0)


class ApiKey(StrictModel):
    """A client. ``sha256`` is of the key itself, which is nowhere kept."""

    name: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    requests_per_minute: float = Field(default=600.0, gt=0)
    concurrency: int = Field(default=16, ge=1)


class Authentication(StrictModel):
    """Which keys may ask."""

    enabled: bool = True
    keys: list[ApiKey] = []

    @field_validator("keys")
    @classmethod
    def _distinct(cls, value: list[ApiKey]) -> list[ApiKey]:
        if len({key.name for key in value}) < len(value):
            raise ValueError("two keys have the same name")
        return value


class Proxy(StrEnum):
    """What stands before the ingress replicas: Serve's own proxy, or HAProxy.

    HAProxy costs a tenth of the CPU for a request; its pages of counters listen on all interfaces.
    """

    SERVE = "serve"
    HAPROXY = "haproxy"


class IngressSettings(StrictModel):
    """What answers HTTP. Per-key limits are divided by the number of its replicas."""

    replicas: int = Field(default=1, ge=1)
    cpus: float = Field(default=0.1, ge=0)


def _default_engines() -> list[EngineSettings]:
    return [
        EngineSettings(
            name=RULES,
            translator=RULES,
            description="Rewrites CUDA to HIP by rules; the same answer every time",
            scaling=Scaling(max_replicas=2, target_ongoing_requests=8, max_queued_requests=256),
        ),
        EngineSettings(
            name=LIFT,
            translator=LIFT,
            description="Lifts Nvidia machine code (SASS) to RDNA3 assembly",
            scaling=Scaling(max_replicas=2, target_ongoing_requests=2, max_queued_requests=16),
        ),
    ]


class ServeSettings(StrictModel):
    """The whole service: engines, checker, jobs, ingress."""

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=1, le=65_535)
    engines: list[EngineSettings] = Field(default_factory=_default_engines, min_length=1)
    checker: CheckerSettings = CheckerSettings()
    jobs: JobSettings = Field(default_factory=JobSettings)
    shares: ShareSettings = Field(default_factory=ShareSettings)
    limits: RequestLimits = RequestLimits()
    authentication: Authentication = Authentication()
    ingress: IngressSettings = IngressSettings()
    proxy: Proxy = Proxy.SERVE
    cors_origins: list[str] = []
    """Sites whose pages may call the API; none by default."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @field_validator("engines")
    @classmethod
    def _distinct(cls, value: list[EngineSettings]) -> list[EngineSettings]:
        if len({engine.name for engine in value}) < len(value):
            raise ValueError("two engines have the same name")
        return value

    @model_validator(mode="after")
    def _closed(self) -> ServeSettings:
        if not self.authentication.enabled and not self.loopback:
            raise ValueError(
                f"host {self.host} can be reached from other machines: without authentication "
                "only 127.0.0.1, ::1 or localhost will do"
            )
        return self

    @property
    def loopback(self) -> bool:
        """Whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def engine(self, name: str) -> EngineSettings | None:
        return next((engine for engine in self.engines if engine.name == name), None)
