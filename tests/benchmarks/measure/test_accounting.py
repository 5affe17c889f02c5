"""CPU accounting: exit records put together, and real processes against the shell's own clock."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.measure import taskstats
from benchmarks.measure.accounting import CommandFailedError, Cost, descendants, measure
from benchmarks.measure.cgroup import ControlGroup, ControlGroupUnavailableError
from benchmarks.measure.taskstats import ExitRecords, TaskstatsUnavailableError, ThreadExit

ROOT = 100

BURN = "import time\nwhile time.process_time() < 0.3: pass\n"


def thread_exit(thread: int, process: int, parent: int, cpu: float, ended: float) -> ThreadExit:
    return ThreadExit(thread, process, parent, f"tool{process}", cpu, 1.0, 0, ended)


def test_processes_are_those_below_the_root_with_their_threads_added_up() -> None:
    exits = [
        thread_exit(7, 7, 1, 50.0, 1.0),  # not ours
        thread_exit(202, 201, 200, 0.25, 2.0),  # a thread of 201 that ends before its leader
        thread_exit(201, 201, 200, 0.5, 3.0),
        thread_exit(203, 201, 200, 0.125, 3.5),  # … and one that ends after it
        thread_exit(200, 200, ROOT, 1.0, 4.0),
        thread_exit(ROOT, ROOT, 1, 9.0, 5.0),
    ]
    found = {process.pid: process for process in descendants(exits, ROOT)}
    assert set(found) == {200, 201}
    assert found[201].cpu_seconds == 0.875
    assert (found[201].began, found[201].ended) == (2.0, 3.0)
    assert found[200].cpu_seconds == 1.0


def test_a_process_number_used_twice_belongs_to_whoever_held_it_then() -> None:
    exits = [
        thread_exit(300, 300, 200, 1.0, 1.0),  # child of the first 200, which is ours
        thread_exit(200, 200, ROOT, 2.0, 2.0),
        thread_exit(301, 301, 200, 4.0, 3.0),  # child of the second 200, a stranger
        thread_exit(200, 200, 1, 8.0, 4.0),
        thread_exit(ROOT, ROOT, 1, 0.0, 5.0),
    ]
    found = descendants(exits, ROOT)
    assert [(process.pid, process.cpu_seconds) for process in found] == [(300, 1.0), (200, 2.0)]


def test_all_in_a_sandbox_belong_though_its_first_process_is_recorded_before_them() -> None:
    exits = [
        thread_exit(402, 402, 401, 0.5, 1.5),  # a fork of 401, ended long before
        thread_exit(400, 400, 300, 0.25, 2.0),  # the first process of the name space is killed,
        thread_exit(403, 401, 400, 0.125, 2.0),  # and with it a thread
        thread_exit(401, 401, 400, 1.0, 2.1),  # and its child
        thread_exit(300, 300, ROOT, 0.0, 2.2),
        thread_exit(ROOT, ROOT, 1, 0.0, 2.5),
    ]
    found = {process.pid: process.cpu_seconds for process in descendants(exits, ROOT)}
    assert found == {402: 0.5, 400: 0.25, 401: 1.125, 300: 0.0}


def test_cpu_seconds_prefer_the_group_and_say_so() -> None:
    assert Cost(1.0, 2.0, 0.5).cpu_seconds == 2.0
    assert Cost(1.0, None, 0.5).cpu_seconds == 0.5
    assert {Cost(1.0, 2.0, 0.5).method, Cost(1.0, None, 0.5).method} == {
        "control group",
        "getrusage",
    }


@pytest.fixture
def needs_kernel_accounts() -> None:
    try:
        with ControlGroup(), ExitRecords():
            pass
    except (ControlGroupUnavailableError, TaskstatsUnavailableError) as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("needs_kernel_accounts")
def test_a_daemon_and_a_child_nobody_waits_for_are_counted(tmp_path: Path) -> None:
    script = tmp_path / "leave.py"
    script.write_text(
        "import signal, subprocess, sys\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"  # as Ray's raylet does
        f"burn = [sys.executable, '-c', {BURN!r}]\n"
        "subprocess.Popen(burn, start_new_session=True)\n"  # outlives this process
        "subprocess.Popen(burn).wait()\n"
    )
    cost = measure([sys.executable, script], cwd=tmp_path)
    burners = [process for process in cost.processes if process.cpu_seconds >= 0.28]
    assert len(burners) == 2
    assert cost.cpu_seconds >= 0.6
    assert cost.cpu_seconds >= sum(process.cpu_seconds for process in cost.processes)
    assert cost.rusage_seconds <= cost.cpu_seconds - 0.28  # getrusage misses the reaped one


def test_output_comes_back_and_a_failure_shows_it(tmp_path: Path) -> None:
    assert measure(["echo", "done"], cwd=tmp_path).output == "done\n"
    with pytest.raises(CommandFailedError, match=r"status 3:\nbecause"):
        measure(["sh", "-c", "echo because; exit 3"], cwd=tmp_path)


@pytest.mark.skipif(not Path("/usr/include/linux/taskstats.h").exists(), reason="no kernel headers")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_the_record_has_the_layout_of_the_kernel_header(tmp_path: Path) -> None:
    names = ["cpu_run_virtual_total", "ac_comm", "ac_pid", "ac_ppid", "ac_etime", "hiwater_rss"]
    names += ["ac_btime64", "ac_tgid", "ac_exe_inode"]
    lines = [f'printf("%zu\\n", offsetof(struct taskstats, {name}));' for name in names]
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <linux/taskstats.h>\n#include <stddef.h>\n#include <stdio.h>\n"
        f"int main(void) {{ {' '.join(lines)} }}\n"
    )
    subprocess.run(["gcc", "-o", tmp_path / "layout", source], check=True)
    printed = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True)
    offsets = [getattr(taskstats.Record, name).offset for name in names]
    assert offsets == [int(line) for line in printed.stdout.split()]
