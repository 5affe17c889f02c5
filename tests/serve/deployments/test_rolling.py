"""A new version is put in place while requests come: none of them fails."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.serve import load
from cass_ray.api.client import Client
from cass_ray.api.schema import EXAMPLE
from serve.settings import RequestLimits, ServeSettings
from tests.serve.conftest import make_settings

pytestmark = [pytest.mark.slow, pytest.mark.amd]

# In a process of its own: Serve reads its switches when it is imported.
SERVICE = """
import sys
from serve.deployments.ray_environment import prepare
from serve.settings import ServeSettings
versions = (ServeSettings.model_validate_json(line) for line in sys.stdin)
first = next(versions)
prepare(first)
from serve.deployments.local_service import Service
with Service(first) as service:
    print("serves", flush=True)
    for version in versions:
        service.deploy(version)
        print("serves", flush=True)
"""


class Process:
    """A service that takes settings, one version after the other."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVICE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def deploy(self, settings: ServeSettings) -> None:
        """Returns when the version is in place."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(settings.model_dump_json() + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line == "serves\n":
                return
        raise AssertionError("the service has ended")

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(90)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)


@pytest.fixture
def process() -> Iterator[Process]:
    made = Process()
    yield made
    made.stop()


def test_no_request_fails_while_a_version_replaces_another(
    process: Process, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    first = make_settings(tmp_path, port=port, limits=RequestLimits(body_kib=77))
    process.deploy(first)
    done = asyncio.Event()

    def bodies() -> Iterator[dict[str, Any]]:
        number = 0
        while not done.is_set():
            number += 1
            check = "compile" if number % 100 == 0 else "none"
            yield {"source": f"{EXAMPLE}// {number}\n", "check": check}

    async def run() -> load.LoadOutcome:
        url = f"http://127.0.0.1:{port}/v1/translate"
        requests = asyncio.create_task(load.closed(url, bodies(), 4))
        second = first.model_copy(update={"limits": RequestLimits(body_kib=78)})
        await asyncio.to_thread(process.deploy, second)
        done.set()
        return await requests

    made = asyncio.run(run())
    assert set(made.statuses) == {200}
    assert made.statuses[200] > 50
    with Client(f"http://127.0.0.1:{port}", "") as client:
        assert client.capabilities().limits["body_kib"] == 78
