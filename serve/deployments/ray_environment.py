"""Switches of Ray Serve that are read from the environment when it is imported."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

from serve.settings import LIMITS_VARIABLE, Proxy, ServeSettings

_BOUNDED = f"{ServeSettings.__module__.partition('.')[0]}.http.connections:bounded"
"""Imported by Serve, not here: it needs uvicorn."""
_THREADS = 2
_PORTS_AWAY = 1000
"""HAProxy's own ports lie this far above the service's."""
_HEARTBEAT = 15
"""Seconds between what a stream sends: HAProxy's client is silent meanwhile."""


def switches(settings: ServeSettings) -> dict[str, str]:
    """Environment variables, for a Ray cluster that is started for ``settings``.

    Requests run on the event loop that receives them: translating by rules takes less time than
    going to another thread and back. HAProxy, where chosen, passes requests right to the ingress;
    Serve's own proxy costs several milliseconds of CPU for each.
    """
    variables = {
        "RAY_worker_niceness": "0",
        "RAY_SERVE_LOG_TO_STDERR": "0",
        "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60",  # 5 s are too few on a busy machine
        "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",
        "RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP": "0",
        "RAY_SERVE_REQUEST_PATH_LOG_BUFFER_SIZE": "1000",
        "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH": _BOUNDED,
        LIMITS_VARIABLE: settings.limits.model_dump_json(),
    }
    if settings.proxy is Proxy.HAPROXY:
        # A private folder with a short name: HAProxy takes sockets with paths of 97 bytes at most,
        # and Serve puts 57 of its own into them.
        variables |= _haproxy(settings, Path(tempfile.mkdtemp(prefix="cass-", dir="/tmp")))
    return variables


def _haproxy(settings: ServeSettings, folder: Path) -> dict[str, str]:
    """HAProxy with files and ports of its own, so that two services share a machine."""
    port = settings.port
    base = port + _PORTS_AWAY if port + _PORTS_AWAY < 65_000 else port - _PORTS_AWAY
    prefix = "RAY_SERVE_HAPROXY"
    return {
        "RAY_SERVE_ENABLE_HA_PROXY": "1",
        f"{prefix}_NBTHREAD": str(_THREADS),
        f"{prefix}_MAXCONN": str(settings.limits.connections),
        f"{prefix}_TIMEOUT_CLIENT_S": str(math.ceil(settings.limits.stall_seconds) + _HEARTBEAT),
        # A replica that dies with a request has not answered, and another may: no request here
        # changes anything but a job's start, and a job started twice costs one that nobody reads.
        f"{prefix}_RETRY_ON": "conn-failure empty-response",
        f"{prefix}_RETRIES": "3",
        f"{prefix}_TUNE_BUFSIZE": str(128 << 10),  # what fits in a buffer can be sent again
        f"{prefix}_CONFIG_FILE_LOC": str(folder / "haproxy.cfg"),
        f"{prefix}_SOCKET_PATH": str(folder / "admin.sock"),
        f"{prefix}_SERVER_STATE_BASE": str(folder),
        f"{prefix}_SERVER_STATE_FILE": str(folder / "server-state"),
        f"{prefix}_METRICS_SOCKET_PATH": str(folder / "metrics.sock"),
        f"{prefix}_METRICS_PORT": str(base),
        f"{prefix}_STATS_PORT": str(base + 1),
        "RAY_SERVE_FALLBACK_PROXY_HTTP_PORT": str(base + 2),
    }


def prepare(settings: ServeSettings, environment: MutableMapping[str, str] = os.environ) -> None:
    """Set what is not set; to be called before ``ray.serve`` is imported."""
    for name, value in switches(settings).items():
        environment.setdefault(name, value)
