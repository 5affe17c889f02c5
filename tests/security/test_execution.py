"""A program under test against the sandbox that it runs in (``attacks.cpp``)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cass_ray.toolchain.sandbox import control_group, isolation
from cass_ray.toolchain.sandbox.executable import Bounds, SandboxVerdict, run_sandboxed

pytestmark = pytest.mark.skipif(not isolation.available(), reason="no sandbox here")

SOURCE = Path(__file__).with_name("attacks.cpp")
BOUNDS = Bounds(
    wall_seconds=10,
    cpu_seconds=4,
    memory_bytes=64 << 20,
    folder_bytes=64 << 20,
    output_bytes=4 << 20,
)
ENDS = {
    "endless output": {SandboxVerdict.OUTPUT_LIMIT},
    "an endless loop": {SandboxVerdict.TIME_LIMIT},
    "sleeping for ever": {SandboxVerdict.TIME_LIMIT},
    "a gigabyte of memory": {SandboxVerdict.MEMORY_LIMIT},
    "a core dump": {SandboxVerdict.SIGNAL},
}
NEEDS_GROUP = {"half a million files", "pipes full of data"}
"""Memory of the kernel itself, which only a control group counts."""


@pytest.fixture(scope="module")
def attacks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("attacks") / "attacks"
    command = ["g++", "-std=c++17", "-O1", "-w", "-o", str(made), str(SOURCE)]
    subprocess.run(command, check=True, capture_output=True)
    return made


def names() -> list[str]:
    """The names in the table of ``attacks.cpp``."""
    text = SOURCE.read_text().partition("attacks[] = {")[2]
    lines = (line.strip() for line in text.splitlines())
    return [line.split('"')[1] for line in lines if line.startswith('{"')]


def test_the_list_is_whole(attacks: Path) -> None:
    listed = subprocess.run([attacks, "--list"], capture_output=True, text=True, check=True)
    assert names() == listed.stdout.splitlines()
    assert len(names()) > 60


@pytest.mark.parametrize("name", names())
def test_a_program_under_test(name: str, attacks: Path) -> None:
    if name in NEEDS_GROUP and not control_group.bounds_memory():
        pytest.skip("no memory control group may be made here: SECURITY.md says what that means")
    before = sorted(attacks.parent.iterdir())
    done = run_sandboxed(attacks, [name], bounds=BOUNDS)
    assert done.stdout.startswith(b"BEGIN"), done
    assert b"GOT THROUGH" not in done.stdout
    assert done.verdict in ENDS.get(name, set(SandboxVerdict)), done
    assert sorted(attacks.parent.iterdir()) == before


def test_groups_are_removed(attacks: Path) -> None:
    run_sandboxed(attacks, ["a gigabyte of memory"], bounds=BOUNDS)
    parents = {control_group.pids_parent(), control_group.memory_parent()} - {None}
    left = [folder for parent in parents for folder in parent.glob(f"cass-*-{os.getpid()}-*")]
    assert left == []
