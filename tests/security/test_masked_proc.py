"""A container that hides parts of /proc: programs cannot be run in it, and that is said."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cass_ray.toolchain.sandbox import executable, isolation
from tests.folders import REPOSITORY

# As container runtimes do it: a file system of its own over a part of /proc.
MASKED = """
mount -t proc proc /proc && mount -t tmpfs none /proc/irq && exec "$@"
"""
ASK = """
from cass_ray.toolchain.sandbox import executable, isolation
print(f"sandbox: {isolation.problem()!r}")
print(executable.problem())
"""


def test_programs_can_be_run_here() -> None:
    if not isolation.available():
        pytest.skip(isolation.problem())
    assert executable.problem() == ""


def test_the_message_names_the_remedy() -> None:
    spaces = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork"]
    mask = [*spaces, "sh", "-c", MASKED, "sh"]
    if subprocess.run([*mask, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no name spaces here to make such a container of")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    environment.pop(isolation.ALLOW_UNISOLATED, None)
    done = subprocess.run(
        [*mask, sys.executable, "-c", ASK],
        env=environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    first, _, rest = done.stdout.partition("\n")
    assert first == "sandbox: ''"  # compilers need no /proc
    assert "no program can be run" in rest
    for remedy in ("systempaths=unconfined", "procMount: Unmasked", isolation.ALLOW_UNISOLATED):
        assert remedy in rest
