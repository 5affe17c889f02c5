"""Joining or starting Ray: a real node, and a process that joins it by its address."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import pytest
import ray

from actors import session
from tests.folders import REPOSITORY

JOIN = """
import ray
from actors.session import join_submitted
assert join_submitted(log_to_driver=False)
assert join_submitted()  # once more: joined already
print("nodes", len(ray.nodes()), flush=True)
"""


def test_without_an_address_there_is_nothing_to_join(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    assert session.join_submitted() is False


LEAN = """
import ray
from actors.lean_data import without_reporters
from actors.session import start_local

start_local(lean=True, num_cpus=2, log_to_driver=False, object_store_memory=100 << 20)
with without_reporters():
    rows = ray.data.range(6, override_num_blocks=3)
    made = rows.map_batches(Twice, batch_size=None, concurrency=1, num_cpus=1).take_all()
    print("made", sum(row["twice"] for row in made), flush=True)
print("actors", ray.util.list_named_actors(all_namespaces=True), flush=True)
print("processes", sorted(ray._private.worker._global_node.all_processes), flush=True)
"""
TWICE = """
class Twice:
    def __call__(self, batch):
        return {"twice": batch["id"] * 2}
"""


def test_a_lean_node_has_no_processes_and_actors_but_those_that_work() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TWICE + LEAN],
        env={name: value for name, value in os.environ.items() if not name.startswith("RAY_")},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    # 2 * (0 + 1 + ... + 5); the head of a cluster has dashboard, log_monitor and monitor as well.
    assert done.stdout.splitlines()[-3:] == [
        "made 30",
        "actors []",
        "processes ['gcs_server', 'raylet']",
    ]


def test_a_started_node_can_be_joined(node: None) -> None:
    assert ray.is_initialized()
    assert ray.cluster_resources()["CPU"] == 2
    assert session.join_submitted()
    address = ray.get_runtime_context().gcs_address
    done = subprocess.run(
        [sys.executable, "-c", JOIN],
        # A node alone is found on loopback by those who look there.
        env={**os.environ, "RAY_ADDRESS": address, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "nodes 1" in done.stdout


@pytest.mark.parametrize(
    ("failures", "message", "starts"),
    [
        (1, "the node timed out during startup", 2),
        (9, "the node timed out during startup", 2),
        (9, "no memory", 1),
    ],
)
def test_a_slow_start_is_repeated_and_no_other_failure(
    failures: int, message: str, starts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[dict[str, Any]] = []

    def init(**options: Any) -> None:
        calls.append(options)
        if len(calls) <= failures:
            raise RuntimeError(message)

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    if failures >= starts:
        said = message if starts == 1 else "try again when the machine is less busy"
        with pytest.raises(RuntimeError, match=said):
            session.start_local(num_cpus=1)
    else:
        session.start_local(num_cpus=1)
    assert len(calls) == starts
    assert all(each["address"] == "local" and each["num_cpus"] == 1 for each in calls)


def test_chatter_of_ray_is_left_out_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def init(**_: Any) -> None:
        os.write(2, b"The object spilling config is specified from an unstable API - system\n")
        os.write(2, b"something that matters\n")

    monkeypatch.setattr(ray, "init", init)
    session.start_local(num_cpus=1)
    assert capfd.readouterr().err == "something that matters\n"


def test_what_is_left_of_a_slow_start_is_ended_before_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left: list[subprocess.Popen[bytes]] = []
    other = subprocess.Popen(["sleep", "600"])

    def init(**options: Any) -> None:
        if left:
            assert left[0].wait(60) == -signal.SIGTERM
            return
        left.append(subprocess.Popen(["sleep", "600"]))
        raise RuntimeError("the node timed out during startup")

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    try:
        session.start_local(num_cpus=1)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
        left[0].kill()
