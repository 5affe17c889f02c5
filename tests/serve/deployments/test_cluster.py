"""The whole service on Ray Serve: one start for all tests of this file."""

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

import psutil
import pytest

from benchmarks.serve import load
from cass_ray.api.client import Client, ServerError
from cass_ray.api.schema import EXAMPLE, Verification

pytestmark = [pytest.mark.slow, pytest.mark.amd]

EXPECTED = {"expected_stdout": "1\n4\n9\n16\n"}

FORKS = """\
#include <unistd.h>
__global__ void k() {}
int main() { k<<<1, 1>>>(); for (;;) fork(); }
"""
ENDLESS = """\
__global__ void k(volatile int* p) { while (*p == 0) {} }
int main() { int* p; cudaMalloc(&p, 4); cudaMemset(p, 0, 4); k<<<1, 1>>>(p);
  cudaDeviceSynchronize(); }
"""


class Served:
    """``cass serve`` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "cass_ray.cli", "serve", "--port", str(self.port)]
        settings = ["checker.wall_seconds=6", "checker.cpu_seconds=6", f"jobs.folder={folder}"]
        for each in settings:
            command += ["--set", each]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self.key = ""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("API key of this run: "):
                self.key = line.split(": ")[1].strip()
                return
        raise AssertionError("cass serve ended before it served")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, **options: Any) -> Client:
        return Client(self.url, self.key, **options)

    def replicas(self, name: str) -> list[psutil.Process]:
        found = []
        for process in psutil.Process(self.process.pid).children(recursive=True):
            try:
                if f"ServeReplica:cass:{name}" in " ".join(process.cmdline()):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(90)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("jobs"))
    yield made
    made.stop()


def test_translated_executed_and_compared(served: Served) -> None:
    with served.client() as client:
        made = client.translate(EXAMPLE, check="execute", inputs=[EXPECTED])
        assert made.verdict.verification is Verification.MATCHED
        kinds = [event.type for event in client.stream(EXAMPLE + "//\n", check="compile")]
        assert kinds == ["translation", "stage", "stage", "result"]
        lifted = client.translate(
            EXAMPLE, engine="lift", level="assembly", check="execute", inputs=[EXPECTED]
        )
        assert lifted.engine == "lift"
        assert lifted.verdict.verification is Verification.MATCHED


def test_nobody_gets_in_without_the_key(served: Served) -> None:
    with Client(served.url, "") as client, pytest.raises(ServerError) as caught:
        client.translate(EXAMPLE)
    assert caught.value.status == 401


def test_poisoned_programs_leave_the_checker_at_work(served: Served) -> None:
    with served.client() as client:
        for poison in (FORKS, ENDLESS):
            verdict = client.translate(poison, check="execute").verdict
            assert verdict.verification is Verification.FAILED
            assert verdict.execution is not None
            assert verdict.execution.runs[0].verdict in ("time_limit", "memory_limit")
        made = client.translate(EXAMPLE + "// after\n", check="execute", inputs=[EXPECTED])
        assert made.verdict.verification is Verification.MATCHED


def test_no_answer_is_lost_when_replicas_die(served: Served) -> None:
    headers = {"Authorization": f"Bearer {served.key}"}

    def body(number: int) -> dict[str, Any]:
        check = "compile" if number % 25 == 0 else "none"
        return {"source": f"{EXAMPLE}// {number}\n", "check": check}

    async def run() -> load.LoadOutcome:
        url = f"{served.url}/v1/translate"
        requests = asyncio.create_task(
            load.closed(url, [body(number) for number in range(500)], 6, headers)
        )
        for name in ("engine-rules", "checker", "checker"):
            await asyncio.sleep(1.5)
            for process in served.replicas(name)[:1]:
                process.kill()
        return await requests

    made = asyncio.run(run())
    assert sum(made.statuses.values()) == 500
    assert made.statuses[0] == 0
    # Engines and checkers are asked again; what died under too many attempts is a clean 503.
    assert set(made.statuses) <= {200, 429, 503}
    assert made.statuses[200] >= 450


def test_a_killed_ingress_comes_back(served: Served) -> None:
    for process in served.replicas("ingress"):
        process.kill()
    with served.client(attempts=1) as client:
        for _ in range(120):
            try:
                assert "hipMalloc" in client.translate(EXAMPLE).translation
                return
            except ServerError as error:
                assert error.status in (0, 500, 503)
                asyncio.run(asyncio.sleep(0.5))
    raise AssertionError("the ingress does not come back")


def test_it_ends_when_it_is_told_to(served: Served) -> None:
    """The last test of the file: it ends the service that all share."""
    started = psutil.Process(served.process.pid).children(recursive=True)
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(120) == 0
    _, alive = psutil.wait_procs(started, timeout=60)
    assert [process.name() for process in alive] == []
