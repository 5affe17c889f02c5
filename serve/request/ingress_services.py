"""Everything behind the routes of one ingress replica."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cass_ray.api.schema import TranslateRequest
from serve.request.access import Admission, Keyring
from serve.request.answer_cache import AnswerCache
from serve.request.clients import CheckerClient, EngineClient, JobsClient
from serve.request.local_clients import InlineFirst
from serve.request.metrics import Metrics
from serve.settings import ServeSettings


@dataclass
class IngressServices:
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
        authentication = self.settings.authentication
        keys = max(1, len(authentication.keys)) if authentication.enabled else 1
        self.admission = Admission(self.settings.limits, keys)
        self.answers = AnswerCache(self.settings.limits.answer_cache_mib << 20)

    def is_quick(self, request: TranslateRequest) -> bool:
        """Whether the answer is made in this process, in a time that nobody hangs up in."""
        engine = self.engines.get(request.engine)
        return isinstance(engine, InlineFirst) and engine.is_here(request)
