"""Prometheus metrics of the ingress. Several replicas of a node share a folder of counters
(``PROMETHEUS_MULTIPROC_DIR``), so that any of them answers for all.
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"

_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Metrics:
    """The service's counters; with ``FOLDER_VARIABLE`` set, of all processes of the node."""

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "cass_requests_total",
            "Requests by route and status",
            ("route", "status"),
            registry=self._registry,
        )
        self.seconds = Histogram(
            "cass_request_seconds",
            "Time to the last byte",
            ("route",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.in_flight = Gauge(
            "cass_requests_in_flight",
            "Requests under way",
            registry=self._registry,
            multiprocess_mode="livesum",
        )
        self.refused = Counter(
            "cass_refused_total", "Requests refused, by code", ("code",), registry=self._registry
        )
        self.translations = Counter(
            "cass_translations_total",
            "Translations by engine that answered and verification",
            ("engine", "verification"),
            registry=self._registry,
        )
        self.fallbacks = Counter(
            "cass_fallbacks_total",
            "Answers that another engine gave",
            ("asked", "answered"),
            registry=self._registry,
        )
        self.stage_seconds = Histogram(
            "cass_stage_seconds",
            "Time by stage of a translation",
            ("stage",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.tokens = Counter(
            "cass_tokens_total",
            "Tokens by engine and kind",
            ("engine", "kind"),
            registry=self._registry,
        )
        self.cached = Counter(
            "cass_cached_answers_total", "Answers from the cache", registry=self._registry
        )

    def text(self) -> bytes:
        if os.environ.get(FOLDER_VARIABLE):
            merged = CollectorRegistry()
            MultiProcessCollector(merged)  # type: ignore[no-untyped-call]
            return generate_latest(merged)
        return generate_latest(self._registry)
