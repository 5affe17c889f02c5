"""The instruction tests again, on the handlers that older CPUs get."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.amd, pytest.mark.slow]

HERE = Path(__file__).parent


@pytest.mark.parametrize("level", ["portable", "avx2"])
def test_instructions_at_a_lower_level(level: str, tmp_path: Path) -> None:
    files = [HERE / "test_vectors.py", HERE.parent / "test_execution.py"]
    command = [sys.executable, "-m", "pytest", "-x", "-rs", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, f"--basetemp={tmp_path / 'inner'}", *files],
        env={**os.environ, "CASS_EMULATOR_SIMD": level},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "[100%]" in done.stdout and "SKIPPED" not in done.stdout
