"""Servers that are interrupted shut down, and end as a shell reports it; asked to end, with 0."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""
"""Background jobs of a shell, and what they start, ignore interrupts."""

SERVE = """
import sys, types
class Service:
    url = "http://127.0.0.1:1"
    def __init__(self, *settings): pass
    def __enter__(self): return self
    def __exit__(self, *error): print("ended", flush=True)
place = types.ModuleType("serve.deployments.local_service")
place.DidNotStart = RuntimeError
place.Service, place.with_key = Service, lambda settings: (settings, "")
sys.modules[place.__name__] = place
sys.argv = ["cass", "serve", "--no-auth"]
from cass_ray.cli import main
main()
"""
"""The command as it is, around a service that needs no Ray."""

REWARDS = """
import sys
from actors.ports import free_ports
from cass_ray.execute.rewards.settings import RewardSettings
RewardSettings.judge = lambda self: None
sys.argv = ["cass", "reward", "serve", "--port", str(free_ports(1)[0])]
from cass_ray.cli import main
main()
"""


def ended(script: str, ready: str, number: signal.Signals) -> tuple[int, str]:
    """Status and further output of ``script`` that gets ``number`` once it has said ``ready``."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED + script], stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "CASS_REWARDS_KEY": ""},
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if ready in line:
            break
    process.send_signal(number)
    try:
        rest, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, rest


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_serve(number: signal.Signals, status: int) -> None:
    pytest.importorskip("ray")
    assert ended(SERVE, "serves at", number) == (status, "ended\n")


def test_the_end_of_the_controller_is_no_news(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray")
    from serve.deployments.local_service import without_last_words

    with pytest.raises(RuntimeError), without_last_words():
        # Ray 2.60, of a service that was interrupted.
        print(
            "\033[33m(raylet)\033[0m Task ServeController.graceful_shutdown failed. There are"
            " infinite retries remaining, so the task will be retried. Error: The actor is dead"
            " because it was killed by `ray.kill`."
        )
        print("another thing")
        raise RuntimeError
    assert capsys.readouterr().out == "another thing\n"


def test_rewards() -> None:
    pytest.importorskip("uvicorn")
    status, _ = ended(REWARDS, "CASS_REWARDS_KEY=", signal.SIGINT)
    assert status == 130
