"""A service for attacks on its socket, in a process of its own, with two keys."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cass_ray.api.keys import key_digest, new_key
from serve.deployments.local_service import ALL_STARTED
from tests.folders import REPOSITORY
from tests.security.test_ports import descendants

PATIENCE = 60.0
"""Seconds after which an answer counts as one that never comes, where none has to be computed."""

CHECK_PATIENCE = 600.0
"""The same for an honest request that compiles and runs, on a machine that has other work too."""

LIMITS = {
    "header_seconds": 2,
    "stall_seconds": 3,
    "body_seconds": 5,
    "connections": 300,
    "request_seconds": int(CHECK_PATIENCE),
}
"""Short, so that many attacks end at them within a minute."""

_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


@dataclass
class Answer:
    """A response as an honest client reads it."""

    status: int
    headers: dict[str, str]
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)


@dataclass
class RealService:
    """Started on entry with short limits; keys ``mine`` and ``theirs``."""

    folder: Path
    keys: dict[str, str] = field(default_factory=lambda: {n: new_key() for n in ("mine", "theirs")})
    command: tuple[str, ...] = ("cass_ray.cli", "serve")
    """Module and arguments of what is started."""

    def __enter__(self) -> RealService:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        keys = [
            {"name": name, "sha256": key_digest(key), "requests_per_minute": 6000}
            for name, key in self.keys.items()
        ]
        settings = {
            "limits": LIMITS,
            "authentication": {"keys": keys},
            "jobs": {"folder": str(self.folder / "jobs")},
        }
        config = self.folder / "serve.yaml"
        config.write_text(yaml.safe_dump(settings))
        self.log = self.folder / "serve.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", *self.command),
                    *("--port", str(self.port), "--config", str(config)),
                ],
                cwd=REPOSITORY,
                env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        if not any(line.startswith("cass-ray serves") for line in self.process.stdout):
            raise AssertionError(f"cass serve ended before it served: {self.log.read_text()}")
        self._warm_up()
        return self

    def _warm_up(self) -> None:
        """Until all has started and a request was answered: what loads later is no growth."""
        if "serve" in self.command:
            until = time.monotonic() + PATIENCE
            while ALL_STARTED not in self.log.read_text() and time.monotonic() < until:
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(0.2)
        self.ask("POST", "/v1/translate", {"source": "void f() { cudaFree(0); }"})

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)

    def connect(self, timeout: float = PATIENCE) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def authorization(self, who: str = "mine") -> bytes:
        return f"Authorization: Bearer {self.keys[who]}\r\n".encode()

    def ask(
        self,
        method: str,
        path: str,
        content: bytes | dict[str, Any] | None = None,
        *,
        who: str | None = "mine",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """An honest request on a connection of its own."""
        sent = dict(headers or {})
        if who is not None:
            sent["Authorization"] = f"Bearer {self.keys[who]}"
        if isinstance(content, dict):
            content = json.dumps(content).encode()
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=CHECK_PATIENCE)
        try:
            connection.request(method, path, content, sent)
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, names, answer.read())
        finally:
            connection.close()

    def is_well(self) -> bool:
        """Whether an honest client is answered rightly now."""
        answer = self.ask("POST", "/v1/translate", {"source": "void f() { cudaFree(0); }"})
        return answer.status == 200 and "hipFree(0)" in answer.json()["translation"]

    def raw(self, *sent: bytes, half_close: bool = False) -> bytes:
        """All that comes back for bytes on one connection, until the service closes it.

        Raises ``TimeoutError`` where it does not within :data:`PATIENCE`.
        """
        with self.connect() as client:
            with suppress(ConnectionError):
                for piece in sent:
                    client.sendall(piece)
                if half_close:
                    client.shutdown(socket.SHUT_WR)
            return received(client)

    def resident_bytes(self) -> dict[int, int]:
        """Of each process of the service, by its id."""
        found = {}
        for pid in descendants(self.process.pid):
            with suppress(OSError):
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                found[pid] = pages * os.sysconf("SC_PAGE_SIZE")
        return found


def received(client: socket.socket) -> bytes:
    """What comes until the other side closes."""
    pieces = []
    with suppress(ConnectionError):
        while piece := client.recv(1 << 16):
            pieces.append(piece)
    return b"".join(pieces)


def statuses(answers: bytes) -> list[int]:
    return [int(found) for found in _STATUS.findall(answers)]
