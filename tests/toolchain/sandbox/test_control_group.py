"""What is left of killed processes goes; groups of others who share the hierarchy stay."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from cass_ray.toolchain.sandbox import control_group


def a_dead_process() -> int:
    with subprocess.Popen(["true"]) as process:
        return process.pid


def test_only_groups_of_the_dead_are_swept(tmp_path: Path) -> None:
    here = Path("/proc/self/ns/pid").stat().st_ino
    dead = a_dead_process()
    names = {
        "left behind": f"cass-{here}-{dead}-a",
        "ours": f"cass-{here}-{os.getpid()}-b",
        # The same number in another container may be somebody alive, who has just made it.
        "of another container": f"cass-{here + 1}-{dead}-c",
        "of a container of last week": f"cass-{here + 1}-{dead}-d",
        "not ours at all": "docker",
    }
    for name in names.values():
        (tmp_path / name).mkdir()
    last_week = time.time() - 7 * 24 * 3600
    os.utime(tmp_path / names["of a container of last week"], (last_week, last_week))
    control_group._sweep(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {names["ours"], names["of another container"], names["not ours at all"]}
