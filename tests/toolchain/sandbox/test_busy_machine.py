"""What a run gets on a machine that has no processor for it: time, way to others, no verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cass_ray.toolchain.sandbox import control_group, isolation, process_tree
from cass_ray.toolchain.sandbox.process import Limits, ProcessOutcome, Starved, run
from tests.toolchain.sandbox.test_process import vanish

SPIN = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
while time.process_time() < 0.3: pass
print(flush=True)
time.sleep(60)
"""


def test_time_without_a_processor_is_measured() -> None:
    """Two that spin on one processor: while one runs, the other waits, each 0.3 s in the end."""
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this kernel keeps no run delays")
    processor = str(min(os.sched_getaffinity(0)))
    command = [sys.executable, "-c", SPIN, processor]
    pair = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for process in pair:
            assert process.stdout is not None
            process.stdout.readline()
        waited = [process_tree.waited_seconds(process.pid) for process in pair]
    finally:
        for process in pair:
            process.kill()
            process.communicate()
    # The later one to start does not make the earlier one wait from its beginning.
    assert sum(waited) > 0.3


def test_a_run_that_had_no_processor_gets_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "waited_seconds", lambda root: 0.5)
    limits = Limits(wall_seconds=0.2)
    asked = run(["/bin/sleep", "0.4"], cwd=Path("/"), limits=limits)
    assert asked.outcome is ProcessOutcome.OK
    # 0.2 and 0.5 seconds are over before ten are.
    asked = run(["/bin/sleep", "10"], cwd=Path("/"), limits=limits)
    assert asked.outcome is ProcessOutcome.TIME_LIMIT


def test_nothing_is_said_of_a_run_that_hardly_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "waited_seconds", lambda root: 60.0)
    marker = f"60.{os.getpid()}"
    with pytest.raises(Starved, match="the machine is too busy"):
        run(["/bin/sleep", marker], cwd=Path("/"), limits=Limits(wall_seconds=0.1))
    assert vanish(marker)


WAY = """
import os, sys
from pathlib import Path
from cass_ray.toolchain.sandbox import control_group
from cass_ray.toolchain.sandbox.isolation import View
from cass_ray.toolchain.sandbox.process import Limits, give_way, run
own, told = os.nice(0), []
{before}
give_way(0.25)
view = View(process_filesystem=True)
made = run(["/bin/sh", "-c", sys.argv[1]], cwd=Path("/"), view=view, limits=Limits(wall_seconds=30))
sys.stdout.write(made.stdout_text + "".join(told))
sys.exit(not made.ok or os.nice(0) != own)
"""
TELL_WEIGHTS = """
remove = control_group._remove
def tell(folder):
    for name in ("cpu.shares", "cpu.weight"):
        if (folder / name).exists():
            told.append((folder / name).read_text())
    remove(folder)
control_group._remove = tell
"""
NO_GROUPS = "control_group.shares_processors = lambda: False"


def gives_way(script: str, before: str = "") -> str:
    command = [sys.executable, "-c", WAY.format(before=before), script]
    done = subprocess.run(command, check=False, timeout=120, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0
    return done.stdout


@pytest.mark.skipif(not isolation.available(), reason=isolation.problem())
def test_a_sandbox_gives_way_and_its_watch_does_not() -> None:
    if not Path("/proc/self/autogroup").exists():
        pytest.skip("this kernel schedules no sessions")
    script = "nice | grep -qx 19 && until grep -q 'nice 19' /proc/self/autogroup; do :; done"
    gives_way(script, NO_GROUPS)


@pytest.mark.skipif(not isolation.available(), reason=isolation.problem())
def test_a_sandbox_has_its_share_where_there_are_groups() -> None:
    """A quarter of the 1024 shares (version 1) or of the weight 100 (version 2) of others."""
    if control_group.processor_parent() is None:
        pytest.skip("no control groups can be made here")
    assert gives_way("nice", TELL_WEIGHTS).split() in (
        [str(os.nice(0)), "256"],
        [str(os.nice(0)), "25"],
    )


def test_a_share_is_never_nothing() -> None:
    if control_group.processor_parent() is None:
        pytest.skip("no control groups can be made here")
    with control_group.limited(4, 1 << 26, 1e-9) as group:
        weights = [
            int((folder / name).read_text())
            for folder in group.folders
            for name in ("cpu.shares", "cpu.weight")
            if (folder / name).exists()
        ]
    assert weights in ([2], [1])
