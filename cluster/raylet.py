"""What `ray start` is told, for the head and for nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from actors.ports import free_ports

_PORTS = (
    "node-manager-port",
    "object-manager-port",
    "dashboard-agent-listen-port",
    "dashboard-agent-grpc-port",
    "runtime-env-agent-port",
    "metrics-export-port",
)


def any_node(
    cpus: int, resources: Mapping[str, float], host: str, known_as: str, object_store_mib: int
) -> list[str]:
    """Arguments of every node, at the address ``host``, called ``known_as``.

    Raises :class:`~actors.ports.PortsTaken`.
    """
    # Ray's agents draw ports that another process may bind meanwhile, and the node, which waits to
    # be told which, ends where that takes half a minute.
    pinned = zip(_PORTS, free_ports(len(_PORTS)), strict=True)
    return [
        f"--num-cpus={cpus}",
        "--num-gpus=0",
        f"--resources={json.dumps(dict(resources))}",
        f"--object-store-memory={object_store_mib << 20}",
        f"--node-ip-address={host}",
        f"--node-name={known_as}",
        *(f"--{name}={port}" for name, port in pinned),
        # Workers of every node would begin at 10002; these take what the system gives them.
        "--min-worker-port=0",
        "--max-worker-port=0",
    ]


def of_head(port: int, dashboard: int | None, temporary: Path) -> list[str]:
    """What the head is told besides; its dashboard are a dozen processes.

    Raises :class:`~actors.ports.PortsTaken`.
    """
    if dashboard is None:
        shown = ["--include-dashboard=false"]
    else:
        shown = ["--dashboard-host=127.0.0.1", f"--dashboard-port={dashboard}"]
    return [
        "--head",
        f"--port={port}",
        *shown,
        f"--ray-client-server-port={free_ports(1)[0]}",
        f"--temp-dir={temporary}",
    ]
