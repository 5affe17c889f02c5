"""The service while it runs: Ray, Serve's proxy, and the application."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import ray

from actors.session import LEAN_NODE, start_local
from cass_ray.api.keys import key_digest, new_key
from cass_ray.translate.engines.prefixes import MODEL_PREFIX
from serve.settings import ApiKey, ServeSettings

_KEEP_ALIVE_SECONDS = 75
_PRELOADED = f"{__name__.rpartition('.')[0]}.lean_import"
_EXCEPTION = re.compile(r"^\s*[A-Za-z_][\w.]*\.?[A-Z]\w*: ", re.M)
"""What the last line of a traceback begins with."""
ALL_STARTED = "all of the service has started"
_LOOK_SECONDS = 1.0
_RUNNING = "RUNNING"
_FAILED = ("DEPLOY_FAILED", "UNHEALTHY")
"""Serve's statuses of applications and deployments."""
_LAST_WORDS = "Task ServeController.graceful_shutdown failed"
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": "warning"}


def with_key(settings: ServeSettings) -> tuple[ServeSettings, str]:
    """Settings with a key for this run where authentication is on and there is none; the key."""
    authentication = settings.authentication
    if not authentication.enabled or authentication.keys:
        return settings, ""
    key = new_key()
    entry = ApiKey(name="this-run", sha256=key_digest(key), requests_per_minute=6000)
    authentication = authentication.model_copy(update={"keys": [entry]})
    return settings.model_copy(update={"authentication": authentication}), key


def reason(message: str) -> str:
    """The message of the last exception in what Serve says of a failure, in one line."""
    text = message[max([0, *(match.end() for match in _EXCEPTION.finditer(message))]) :]
    return " ".join(text.split()) or "Ray Serve does not say why"


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


class DidNotStart(Exception):
    """A part of the service that a request needs did not start; the message says which, and why."""


def _check_address(host: str, port: int) -> None:
    try:
        kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        hint = "choose another --port" if error.errno == errno.EADDRINUSE else "see --host, --port"
        raise DidNotStart(f"{host}:{port}: {error.strerror or error}; {hint}") from None


def _check_models(settings: ServeSettings) -> None:
    """A folder that is not there would be looked for by three replicas, a minute each."""
    for engine in settings.engines:
        path = engine.translator.removeprefix(MODEL_PREFIX).partition("?")[0]
        is_model = engine.translator.startswith(MODEL_PREFIX)
        if is_model and path.startswith(("/", ".", "~")) and not Path(path).expanduser().is_dir():
            raise DidNotStart(f"the engine {engine.name}: there is no folder {path}")


def _reasons(application: str) -> str:
    """Why deployments of an application did not start, as their replicas said."""
    from ray import serve

    status = serve.status().applications.get(application)
    deployments = status.deployments if status else {}
    return "; ".join(
        f"{name}: {reason(each.message)}"
        for name, each in deployments.items()
        if each.status in _FAILED
    )


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
        self._later: set[str] = set()
        self._ended = threading.Event()

    @property
    def url(self) -> str:
        host = self.settings.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.settings.port}"

    def __enter__(self) -> Service:
        """Start; returns when requests are answered. Raises :class:`DidNotStart`."""
        if self._own:
            _check_address(self.settings.host, self.settings.port)
            _check_models(self.settings)
        if not ray.is_initialized():
            self._start_ray()
        # Meanwhile the workers of a node of our own import Serve, too.
        from serve.deployments import lean_import  # noqa: F401, I001
        from ray import serve
        from ray.serve.config import HTTPOptions

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
            if engine.translator.startswith(MODEL_PREFIX):
                self._say(f"loading the engine {engine.name} ({engine.translator})")
        self._say("waiting until the checker answers")
        self.deploy(self.settings)
        return self

    def _start_ray(self) -> None:
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        logging.getLogger("ray._private.authentication").setLevel(logging.ERROR)
        if not self._own:
            self._say(f"joining the Ray cluster {self._address}")
            ray.init(address=self._address, **_QUIET)
            return
        self._say("starting Ray on this machine")
        start_local(
            lean=True,  # /metrics has figures of its own
            _system_config={**LEAN_NODE, "preload_python_modules": [_PRELOADED]},
            **_QUIET,
        )

    def deploy(self, settings: ServeSettings) -> None:
        """Put the applications, or their next versions, in place; old replicas finish their work.

        Returns when the first request would be answered; the others start meanwhile.
        """
        from ray import serve

        from serve.deployments.application import NAME, build_in_order

        self.settings = settings
        applications = build_in_order(settings)
        try:
            serve.run(applications.first, name=NAME, route_prefix="/")
        except RuntimeError as error:  # of Serve, with "failed" and no reason
            raise DidNotStart(_reasons(NAME) or reason(str(error))) from None
        for name in self._later - set(applications.later):
            serve.delete(name, _blocking=False)
        self._later = set(applications.later)
        serve.run_many(
            [
                serve.RunTarget(target=each, name=name, route_prefix=None)
                for name, each in applications.later.items()
            ],
            wait_for_ingress_deployment_creation=False,
            wait_for_applications_running=False,
        )
        threading.Thread(target=self._tell_later, args=(settings,), daemon=True).start()

    def _tell_later(self, settings: ServeSettings) -> None:
        """Say of each later application that it did not start, and why."""
        from ray import serve

        waited_for = set(self._later)
        while waited_for and settings is self.settings and not self._ended.wait(_LOOK_SECONDS):
            try:
                applications = serve.status().applications
            except Exception:  # of Ray or of Serve: the service is ending
                return
            for name in sorted(waited_for & set(applications)):
                status, message = applications[name].status, applications[name].message
                if status == _RUNNING:
                    waited_for.discard(name)
                elif status in _FAILED:
                    waited_for.discard(name)
                    self._say(f"{name} did not start: {_reasons(name) or reason(message)}")
        if not waited_for:
            self._say(ALL_STARTED)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the applications away; end Ray where it was started here."""
        from ray import serve

        from serve.deployments.application import NAME

        self._ended.set()
        if self._own:
            with without_last_words():
                serve.shutdown()
                ray.shutdown()
        else:
            for name in (NAME, *self._later):
                serve.delete(name)
