"""Who may ask and how much: API keys, rates, and admission before memory grows."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from cass_ray.api.keys import bearer_key, is_key_of
from serve.errors import ApiError, overloaded
from serve.settings import ApiKey, Authentication, RequestLimits

_REMEMBERED_SECONDS = 60.0
"""So long after its last request a key's share of checks goes to the others."""
_FIRST_HELD_SECONDS = 2.0
_NEWEST_WEIGHT = 0.1
_SHORTEST_WAIT = 1.0
_LONGEST_WAIT = 60.0
"""Seconds; who is told more has often gone for good."""


@dataclass
class Caller:
    """Whoever sent a request: a key's name and its remaining share."""

    name: str
    rate: float
    """Requests a second."""
    burst: float
    concurrency: int
    clock: Callable[[], float] = time.monotonic
    in_flight: int = 0
    bodies: int = 0
    """Bodies of requests that are on their way."""
    _tokens: float = field(init=False)
    _filled: float = field(init=False)

    def __post_init__(self) -> None:
        self._tokens, self._filled = self.burst, self.clock()

    def take(self) -> None:
        """Count one request. Raises :class:`ApiError` 429."""
        now = self.clock()
        self._tokens = min(self.burst, self._tokens + (now - self._filled) * self.rate)
        self._filled = now
        if self._tokens < 1:
            wait = (1 - self._tokens) / self.rate
            raise ApiError(
                429, "rate_limit", f"the key {self.name} asks too often", retry_after=wait
            )
        self._tokens -= 1

    @contextmanager
    def sending(self) -> Iterator[None]:
        """A body arrives: as many at once as requests. Raises :class:`ApiError` 429."""
        if self.bodies >= self.concurrency:
            raise ApiError(
                429,
                "concurrency_limit",
                f"the key {self.name} sends {self.bodies} bodies already",
                retry_after=1,
            )
        self.bodies += 1
        try:
            yield
        finally:
            self.bodies -= 1

    @contextmanager
    def working(self) -> Iterator[None]:
        """Hold one of the key's places. Raises :class:`ApiError` 429."""
        if self.in_flight >= self.concurrency:
            raise ApiError(
                429,
                "concurrency_limit",
                f"the key {self.name} has {self.in_flight} requests under way",
                retry_after=1,
            )
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1


class Keyring:
    """Knows clients by their keys; each of ``replicas`` grants its share of the limits."""

    def __init__(self, settings: Authentication, replicas: int = 1) -> None:
        self.enabled = settings.enabled
        self._clients = {
            key.sha256: _client(key, replicas) for key in settings.keys if settings.enabled
        }
        self._anyone = Caller("anyone", rate=1e6, burst=1e6, concurrency=1_000_000)

    def client(self, authorization: str | None) -> Caller:
        """The client with this ``Authorization`` header. Raises :class:`ApiError` 401."""
        if not self.enabled:
            return self._anyone
        key = bearer_key(authorization)
        if not key:
            raise ApiError(401, "no_key", "send `Authorization: Bearer KEY`")
        for digest, client in self._clients.items():
            if is_key_of(key, digest):
                return client
        raise ApiError(401, "unknown_key", "this key is not known here")


def _client(key: ApiKey, replicas: int) -> Caller:
    rate = key.requests_per_minute / 60 / replicas
    return Caller(
        name=key.name,
        rate=rate,
        burst=max(1.0, min(key.requests_per_minute, 60 * rate) / 6),
        concurrency=max(1, key.concurrency // replicas),
    )


@dataclass
class Appointments:
    """When those that are refused come again: one after the other, as places become free.

    If all were told the same time, hundreds that wait would ask every few seconds, and answering
    them would take the processors from what was let in.
    """

    held_seconds: float = _FIRST_HELD_SECONDS
    """How long a place is held, on average over the last ones."""
    _next: float = 0.0

    def note(self, seconds: float) -> None:
        """A place was held so long."""
        self.held_seconds += _NEWEST_WEIGHT * (seconds - self.held_seconds)

    def wait(self, now: float, places: int) -> float:
        """Seconds until the next one that nobody has been told yet."""
        earliest = max(self._next, now + _SHORTEST_WAIT)
        self._next = min(earliest + self.held_seconds / places, now + _LONGEST_WAIT)
        return self._next - now


@dataclass
class Admission:
    """Counts work that is under way and refuses what would pile up."""

    limits: RequestLimits
    keys: int = 1
    """How many there are."""
    in_flight: int = 0
    bodies: int = 0
    checks: Counter[str] = field(default_factory=Counter)
    """Under way, by the name of the key."""
    uploads: Counter[str] = field(default_factory=Counter)
    """Under way, by the name of the key."""
    clock: Callable[[], float] = time.monotonic
    _appointments: defaultdict[str, Appointments] = field(
        default_factory=lambda: defaultdict(Appointments)
    )
    """Appointments by the name of the key."""
    _asked: dict[str, float] = field(default_factory=dict)
    """When a key last asked for a check."""

    @contextmanager
    def request(self) -> Iterator[None]:
        """One request. Raises :class:`ApiError` 429."""
        if self.in_flight >= self.limits.in_flight:
            raise overloaded(f"{self.in_flight} requests are under way")
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1

    @contextmanager
    def arrival(self) -> Iterator[None]:
        """One body on its way. Raises :class:`ApiError` 429."""
        if self.bodies >= self.limits.in_flight:
            raise overloaded(f"{self.bodies} requests arrive")
        self.bodies += 1
        try:
            yield
        finally:
            self.bodies -= 1

    @contextmanager
    def check(self, key: str) -> Iterator[None]:
        """One request of ``key`` that compiles or runs. Raises :class:`ApiError` 429.

        Keys that ask have equal shares, and there is one more for whoever comes next: a key that
        asks without end, for what takes long, does not keep the others out.
        """
        share, appointments = self._share(key), self._appointments[key]
        under_way = ""
        if self.checks[key] >= share:
            under_way = f"{self.checks[key]} checks of the key {key}"
        elif self.checks.total() >= self.limits.checks_in_flight:
            under_way = f"{self.checks.total()} checks"
        started = self.clock()
        if under_way:
            raise overloaded(f"{under_way} are under way", appointments.wait(started, share))
        self.checks[key] += 1
        try:
            yield
        finally:
            self.checks[key] -= 1
            appointments.note(self.clock() - started)

    def _share(self, key: str) -> int:
        now = self.clock()
        self._asked[key] = now
        self._asked = {
            name: at
            for name, at in self._asked.items()
            if self.checks[name] or now - at < _REMEMBERED_SECONDS
        }
        return max(1, self.limits.checks_in_flight // min(self.keys, len(self._asked) + 1))

    @contextmanager
    def upload(self, key: str) -> Iterator[None]:
        """One archive of ``key`` in memory. Raises :class:`ApiError` 429."""
        if self.uploads[key] >= self.limits.uploads_per_key:
            raise overloaded(f"{self.uploads[key]} archives of the key {key} arrive", 5.0)
        if self.uploads.total() >= self.limits.uploads_in_flight:
            raise overloaded(f"{self.uploads.total()} archives are being received", 5.0)
        self.uploads[key] += 1
        try:
            yield
        finally:
            self.uploads[key] -= 1
