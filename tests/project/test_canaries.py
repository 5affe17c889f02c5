"""Small projects of each kind of build, ported as a user ports them.

Each folder of ``canaries`` is a project of our own: CUDA with exceptions, streams, threads and
containers of C++, and ``expected.txt``, what its programs print (computed by hand). What it is
built and tested with, where that is not found by itself, is in ``canary.yaml``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from cass_ray.commands.project import app

CANARIES = Path(__file__).with_name("canaries")
QUICK = (
    "cmake_cuda_alone",
    "cmake_cxx_headers",
    "findcuda_objects",
    "make_c_and_cxx",
    "make_cu_alone",
    "make_device_link",
    "make_functions",
    "make_runtime_compilation",
    "setup_py_extension",
)
"""Run always, for one target; all of them for two where slow tests run."""
SETTINGS = "canary.yaml"


def names() -> list[str]:
    return sorted(folder.name for folder in CANARIES.iterdir() if folder.is_dir())


def port(name: str, targets: tuple[str, ...], folder: Path) -> None:
    """Port the canary ``name`` in ``folder`` and compare what its tests print."""
    root, out = folder / name, folder / "out"
    shutil.copytree(CANARIES / name, root, ignore=shutil.ignore_patterns(SETTINGS))
    settings = CANARIES / name / SETTINGS
    commands = yaml.safe_load(settings.read_text()) if settings.exists() else {}
    arguments = [str(root), "-o", str(out), "--no-reference", "--check-seconds", "0"]
    for option, value in commands.items():
        arguments += [f"--{option}", value]
    for target in targets:
        arguments += ["--arch", target]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, f"{done.stdout}\n{done.stderr}"
    report = json.loads((out / "report.json").read_text())
    expected = (root / "expected.txt").read_text().splitlines()
    for target in report["targets"]:
        printed = [line.removeprefix("1: ") for line in target["test"]["log"].splitlines()]
        assert [line for line in printed if line in expected] == expected, target["test"]["log"]
        assert target["advice"] == []
    left = [item for item in report["findings"] if item["severity"] != "note"]
    assert left == []
    # The patch is what leads there.
    subprocess.run(["git", "init", "-q", root], check=True)
    patch = (out / "port.patch").resolve()
    subprocess.run(["git", "-C", root, "apply", "--check", patch], check=True)


@pytest.mark.amd
@pytest.mark.parametrize("name", QUICK)
def test_quick(name: str, tmp_path: Path) -> None:
    port(name, ("gfx1100",), tmp_path)


@pytest.mark.amd
@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_on_both_wave_widths(name: str, tmp_path: Path) -> None:
    port(name, ("gfx1100", "gfx942"), tmp_path)
