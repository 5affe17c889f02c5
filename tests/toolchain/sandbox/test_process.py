"""Bounded child processes: limits hold for the whole tree, and nothing is left running."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.isolation import View
from cass_ray.toolchain.sandbox.process import Completed, Limits, ProcessOutcome, run

VIEWS = [
    pytest.param(None, id="bare"),
    pytest.param(
        View(),
        id="sandbox",
        marks=pytest.mark.skipif(not isolation.available(), reason=isolation.problem()),
    ),
]
pytestmark = pytest.mark.parametrize("view", VIEWS)

SPIN = "while :; do :; done"


def shell(script: str, view: View | None, limits: Limits | None = None) -> Completed:
    return run(["/bin/sh", "-c", script], cwd=Path("/"), view=view, limits=limits or Limits())


def processes_with(marker: str) -> list[int]:
    """Processes of this machine with ``marker`` in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in command:
                found.append(int(entry.name))
    return found


def vanish(marker: str) -> bool:
    """Whether such processes are gone, soon: a kill takes its time on a busy machine."""
    deadline = time.monotonic() + 10
    while processes_with(marker):
        if time.monotonic() > deadline:
            return False
    return True


def test_output_and_status(view: View | None) -> None:
    completed = shell("echo out; echo err >&2; exit 3", view)
    assert (completed.outcome, completed.returncode) == (ProcessOutcome.EXIT, 3)
    assert (completed.stdout, completed.stderr) == (b"out\n", b"err\n")
    assert not completed.ok


def test_standard_input(view: View | None) -> None:
    data = bytes(range(256)) * 4096
    completed = run(["cat"], cwd=Path("/"), view=view, stdin=data)
    assert completed.ok
    assert completed.stdout == data


def test_death_by_signal(view: View | None) -> None:
    completed = shell("kill -SEGV $$", view)
    assert (completed.outcome, completed.signal) == (ProcessOutcome.SIGNAL, 11)
    assert completed.stderr == b""


def test_missing_program(view: View | None) -> None:
    for program in ("no-such-program", "/no/such/program"):
        completed = run([program], cwd=Path("/"), view=view)
        assert completed.outcome is ProcessOutcome.NOT_FOUND
        assert program in completed.stderr_text


def test_cpu_limit_of_a_child_that_ignores_sigterm(view: View | None) -> None:
    completed = shell(f"trap '' TERM; {SPIN}", view, Limits(cpu_seconds=0.3))
    assert completed.outcome is ProcessOutcome.TIME_LIMIT
    assert 0.2 < completed.cpu_seconds < 5


def test_cpu_limit_holds_for_the_sum_of_the_tree(view: View | None) -> None:
    script = f"({SPIN}) & ({SPIN}) & wait"
    completed = shell(script, view, Limits(cpu_seconds=0.6, wall_seconds=30))
    assert completed.outcome is ProcessOutcome.TIME_LIMIT


def test_wall_limit_ends_grandchildren(view: View | None) -> None:
    marker = f"1234.{os.getpid()}"
    completed = shell(f"sleep {marker} & sleep {marker}", view, Limits(wall_seconds=0.3))
    assert completed.outcome is ProcessOutcome.TIME_LIMIT
    assert vanish(marker)


def test_nothing_survives_its_parent(view: View | None) -> None:
    marker = f"4321.{os.getpid()}"
    completed = shell(f"sleep {marker} & exit 0", view)
    assert completed.ok
    assert vanish(marker)


def test_memory_limit(view: View | None) -> None:
    limits = Limits(memory_bytes=150 << 20, wall_seconds=60)
    script = "x = []\nwhile True: x.append(bytearray(1 << 20))"
    completed = run([Path(sys.base_prefix) / "bin/python3", "-c", script], **_python(view, limits))
    assert completed.outcome is ProcessOutcome.MEMORY_LIMIT
    assert completed.peak_memory_bytes > 150 << 20


def test_address_space_limit(view: View | None) -> None:
    limits = Limits(address_space_bytes=300 << 20)
    script = "bytearray(400 << 20)"
    completed = run([Path(sys.base_prefix) / "bin/python3", "-c", script], **_python(view, limits))
    assert completed.outcome is ProcessOutcome.EXIT
    assert b"MemoryError" in completed.stderr


def test_output_limit(view: View | None) -> None:
    completed = shell("yes", view, Limits(output_bytes=100_000))
    assert completed.outcome is ProcessOutcome.OUTPUT_LIMIT
    assert len(completed.stdout) == 100_000


def test_file_size_limit(view: View | None, tmp_path: Path) -> None:
    if view is not None:
        view = View(writable=(tmp_path,))
    script = f"exec head -c 1000000 /dev/zero > {tmp_path}/file"
    completed = shell(script, view, Limits(file_bytes=65_536))
    assert completed.outcome is ProcessOutcome.OUTPUT_LIMIT
    assert (tmp_path / "file").stat().st_size == 65_536


def test_process_limit(view: View | None) -> None:
    script = "i=0; while [ $i -lt 40 ]; do sleep 30 & i=$((i+1)); done; wait"
    completed = shell(script, view, Limits(processes=20, wall_seconds=20))
    assert completed.outcome is ProcessOutcome.MEMORY_LIMIT


def test_cpu_time_of_grandchildren_counts(view: View | None) -> None:
    loop = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
    alone = shell(loop, view)
    nested = shell("".join(f"(sh -c '{loop}'); " for _ in range(4)) + "true", view)
    assert nested.ok
    assert nested.cpu_seconds > 1.3 * alone.cpu_seconds


def test_the_environment_is_clean(view: View | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASS_TEST_SECRET", "secret")
    completed = run(["/usr/bin/env"], cwd=Path("/"), view=view)
    assert b"secret" not in completed.stdout
    assert b"LC_ALL=C\n" in completed.stdout


def test_runs_from_several_threads(view: View | None) -> None:
    def number(index: int) -> bytes:
        return shell(f"echo {index}", view).stdout

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(number, range(12))) == [b"%d\n" % index for index in range(12)]


def _python(view: View | None, limits: Limits) -> dict[str, object]:
    """Arguments to run this interpreter, which may lie outside the system's folders."""
    if view is not None:
        view = View(read_only=(Path(sys.base_prefix),))
    return {"cwd": Path("/"), "view": view, "limits": limits}


def test_who_ends_because_its_helper_used_up_the_cpu_time_met_the_limit(view: View | None) -> None:
    completed = shell(f"({SPIN}) & wait $!; exit 1", view, Limits(cpu_seconds=1))
    assert completed.outcome is ProcessOutcome.TIME_LIMIT
