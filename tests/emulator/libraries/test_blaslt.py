"""hipBLASLt of the CPU backend, linked by a project as cuBLASLt is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.cache import default_directory
from cass_ray.cli import app
from cass_ray.toolchain.archive.library_root import find_library_root

ROOT = find_library_root(default_directory())

pytestmark = [pytest.mark.amd, pytest.mark.slow]


def test_epilogues_are_as_loops_have_them_and_others_are_refused(tmp_path: Path) -> None:
    if ROOT is None or "blas" not in ROOT.parts:
        pytest.skip("needs cass setup libraries blas")
    project = tmp_path / "blaslt"
    shutil.copytree(Path(__file__).parent / "blaslt", project)
    command = ["project", str(project), "--no-reference", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.stderr
    assert "build passed, tests passed" in done.stdout
