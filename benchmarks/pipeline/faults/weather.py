"""A local S3 server with two doors: one as it should be, one that refuses, forgets and is late."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

BUCKET = "builds"
_REFUSAL = b"""<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"""

Application = Callable[..., Iterable[bytes]]


@dataclass(frozen=True)
class Weather:
    """Shares of requests that go wrong."""

    refused: float = 0.0
    """Nothing is done: 503."""
    lost: float = 0.0
    """Done, and answered with 503."""
    late: float = 0.0
    """Answered after ``seconds``."""
    seconds: float = 2.0


class _Door:
    """``application`` in bad weather."""

    def __init__(self, application: Application, weather: Weather, seed: int) -> None:
        self._application = application
        self._weather = weather
        self._chance = random.Random(seed)
        self._lock = threading.Lock()
        self.counts = {"requests": 0, "refused": 0, "lost": 0, "late": 0}

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        what = self._draw()
        if what == "refused":
            return _refuse(start)
        if what == "lost":
            for _ in self._application(environ, lambda *arguments: None):
                pass
            return _refuse(start)
        if what == "late":
            time.sleep(self._weather.seconds)
        return self._application(environ, start)

    def _draw(self) -> str:
        with self._lock:
            drawn = self._chance.random()
            self.counts["requests"] += 1
            for name in ("refused", "lost", "late"):
                drawn -= getattr(self._weather, name)
                if drawn < 0:
                    self.counts[name] += 1
                    return name
        return ""


def _refuse(start: Callable[..., Any]) -> Iterable[bytes]:
    headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(_REFUSAL)))]
    start("503 Slow Down", headers)
    return [_REFUSAL]


class _Silent(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_: Any) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Storage:
    """Addresses of the two doors, and what the bad one did."""

    good: str
    bad: str
    counts: dict[str, int]


@contextmanager
def storage(host: str, weather: Weather, seed: int) -> Iterator[Storage]:
    """A server for as long as it is held open, with :data:`BUCKET`."""
    application = DomainDispatcherApplication(create_backend_app)
    door = _Door(application, weather, seed)
    servers = [
        make_server(host, 0, each, threaded=True, request_handler=_Silent)
        for each in (application, door)
    ]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    good, bad = (f"http://{host}:{server.server_port}" for server in servers)
    try:
        yield Storage(good, bad, door.counts)
    finally:
        for server in servers:
            server.shutdown()


def environment(endpoint: str) -> dict[str, str]:
    """What clients of it read."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "name",
        "AWS_SECRET_ACCESS_KEY": "word",
    }


def options(endpoint: str) -> dict[str, Any]:
    """The same as options of fsspec."""
    client = {"endpoint_url": endpoint, "region_name": "eu-west-1"}
    return {"key": "name", "secret": "word", "client_kwargs": client}
