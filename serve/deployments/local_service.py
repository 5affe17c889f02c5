"""The service while it runs: Ray, Serve's proxy, and the application."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import ray
from ray import serve
from ray.serve.config import HTTPOptions

from actors.session import LEAN_NODE, start_local
from cass_ray.api.keys import key_digest, new_key
from cass_ray.translate.engines.prefixes import MODEL_PREFIX
from serve.deployments.application import NAME, build
from serve.settings import ApiKey, ServeSettings

_KEEP_ALIVE_SECONDS = 75
_LAST_WORDS = "Task ServeController.graceful_shutdown failed"
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": "warning"}


def with_key(settings: ServeSettings) -> tuple[ServeSettings, str]:
    """Settings with a key for this run where authentication is on and there is none; the key."""
    authentication = settings.authentication
    if not authentication.enabled or authentication.keys:
        return settings, ""
    key = new_key()
    made = ApiKey(name="this-run", sha256=key_digest(key), requests_per_minute=6000)
    authentication = authentication.model_copy(update={"keys": [made]})
    return settings.model_copy(update={"authentication": authentication}), key


@contextlib.contextmanager
def without_last_words() -> Iterator[None]:
    """Leave out of standard output what Ray says of Serve's controller when that ends as asked."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            yield
    finally:
        for line in said.getvalue().splitlines(keepends=True):
            if _LAST_WORDS not in line:
                sys.stdout.write(line)


class Service:
    """Starts the service on entry, stops what it started on exit."""

    def __init__(
        self,
        settings: ServeSettings,
        address: str = "local",
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``say`` hears what the start is about to do, which takes up to minutes."""
        self.settings = settings
        self._say = say
        self._address = address
        self._own = address == "local"

    @property
    def url(self) -> str:
        host = self.settings.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.settings.port}"

    def __enter__(self) -> Service:
        """Start; returns when requests are answered."""
        if not ray.is_initialized():
            os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
            logging.getLogger("ray._private.authentication").setLevel(logging.ERROR)
            if self._own:
                self._say("starting Ray on this machine")
                start_local(_system_config=LEAN_NODE, **_QUIET)  # /metrics has its own figures
            else:
                self._say(f"joining the Ray cluster {self._address}")
                ray.init(address=self._address, **_QUIET)
        # The address is said when it answers; what Ray Serve says before is of no use to anybody.
        logging.getLogger("ray.serve").setLevel(logging.WARNING)
        self._say(f"starting the HTTP proxy on port {self.settings.port}")
        serve.start(
            http_options=HTTPOptions(
                host=self.settings.host,
                port=self.settings.port,
                request_timeout_s=self.settings.limits.request_seconds + 10,
                keep_alive_timeout_s=_KEEP_ALIVE_SECONDS,
            )
        )
        for engine in self.settings.engines:
            kind = "loading" if engine.translator.startswith(MODEL_PREFIX) else "starting"
            self._say(f"{kind} the engine {engine.name} ({engine.translator})")
        self._say("waiting until every engine and the checker answer")
        self.deploy(self.settings)
        return self

    def deploy(self, settings: ServeSettings) -> None:
        """Put the application, or its next version, in place; old replicas finish their work."""
        self.settings = settings
        serve.run(build(settings), name=NAME, route_prefix="/")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the application away; end Ray where it was started here."""
        if self._own:
            with without_last_words():
                serve.shutdown()
                ray.shutdown()
        else:
            serve.delete(NAME)
