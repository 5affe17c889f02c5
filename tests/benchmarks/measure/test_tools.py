"""Names of processes to tools, and the use of compile slots, by hand-made processes."""

from __future__ import annotations

import pytest

from benchmarks.measure import tools
from benchmarks.measure.accounting import Process


def process(
    name: str, pid: int = 1, parent: int = 0, began: float = 0, ended: float = 1
) -> Process:
    return Process(pid, parent, name, 1.0, began, ended, 0)


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("clang++-19", "clang"),
        ("cc1plus", "g++ (preprocessing, host code)"),
        ("nvdisasm", "disassembly (cuobjdump, nvdisasm)"),
        ("ray::MapWorker(", tools.ACTORS),
        ("ray::IDLE", tools.RAY_WORKERS),
        ("raylet", tools.RAY_DAEMONS),
        ("python3", tools.DRIVER),
        ("sleep", tools.OTHER),
    ],
)
def test_tool_of_a_process(name: str, tool: str) -> None:
    assert tools.tool_of(process(name)) == tool


def test_slots_are_used_by_commands_that_actors_started() -> None:
    processes = [
        process("python", 2, parent=0, began=-9, ended=20),
        process("bwrap", 5, parent=2, began=-8, ended=-7),  # the driver's probe
        process("bwrap", 10, parent=1, began=0, ended=4),
        process("cicc", 11, parent=10, began=1, ended=3),  # part of the first: not counted again
        process("bwrap", 20, parent=1, began=2, ended=10),
        process("bwrap", 30, parent=1, began=3, ended=4),  # a third one on two slots
        process("ray::MapWorker(", 1, parent=0, began=0, ended=20),
    ]
    use = tools.slot_use(processes, slots=2)
    assert use.window_seconds == 10
    # one runs during 0-2 and 4-10, two during 2-3, three (of two slots) during 3-4
    assert use.busy_share == pytest.approx((2 * 1 + 1 * 2 + 1 * 2 + 6 * 1) / (10 * 2))
    assert use.mean_running == pytest.approx((2 * 1 + 1 * 2 + 1 * 3 + 6 * 1) / 10)


def test_a_resident_compiler_uses_a_slot_only_while_a_fork_of_it_works() -> None:
    processes = [
        process("ray::MapWorker(", 1, parent=0, began=0, ended=20),
        process("bwrap", 10, parent=1, began=0, ended=19),  # the sandbox of the resident
        process("sh", 11, parent=10, began=0, ended=19),
        process("cicc", 12, parent=11, began=0, ended=19),
        process("cicc", 13, parent=12, began=2, ended=4),
        process("cicc", 14, parent=12, began=9, ended=10),
        process("bwrap", 20, parent=1, began=4, ended=6),
    ]
    use = tools.slot_use(processes, slots=1)
    assert use.window_seconds == 10 - 2
    assert use.busy_share == pytest.approx((2 + 2 + 1) / 8)


def test_no_compiler_is_an_error() -> None:
    with pytest.raises(ValueError, match="no actor ran a compiler"):
        tools.slot_use([process("python3")], slots=2)
