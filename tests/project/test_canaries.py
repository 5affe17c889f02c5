"""Small projects of each kind of build, ported as a user ports them.

Each folder of ``canaries`` is a project of our own: CUDA with exceptions, streams, threads and
containers of C++, and ``expected.txt``, what its programs print (computed by hand). What it is
built and tested with, where that is not found by itself, is in ``canary.yaml``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

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
PYTHON = Path(sysconfig.get_path("include")) / "Python.h"


def names() -> list[str]:
    return sorted(folder.name for folder in CANARIES.iterdir() if folder.is_dir())


NOT_SHARED = ("configure_script", "script_of_commands", "setup_py_ctypes", "setup_py_extension")
"""Their build files become HIP's alone."""


def port(
    name: str,
    targets: tuple[str, ...],
    folder: Path,
    *,
    style: str = "",
    beside_cuda: bool = False,
) -> dict[str, Any]:
    """Port the canary ``name`` in ``folder`` and compare what its tests print; the report."""
    root, out = folder / name, folder / "out"
    shutil.copytree(CANARIES / name, root, ignore=shutil.ignore_patterns(SETTINGS))
    settings = CANARIES / name / SETTINGS
    commands = yaml.safe_load(settings.read_text()) if settings.exists() else {}
    arguments = [str(root), "-o", str(out), "--check-seconds", "0"]
    arguments += ["--style", style] if style else []
    arguments += [] if beside_cuda else ["--no-reference"]
    for option, value in commands.items():
        arguments += [f"--{option}", value]
    for target in targets:
        arguments += ["--arch", target]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, f"{done.stdout}\n{done.stderr}"
    report: dict[str, Any] = json.loads((out / "report.json").read_text())
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
    if style == "shared":
        lines = patch.read_text().splitlines()
        assert [line for line in lines if line.startswith("-") and line[1:3] != "--"] == []
    return report


@pytest.mark.amd
@pytest.mark.parametrize("name", QUICK)
def test_quick(name: str, tmp_path: Path) -> None:
    if name.startswith("setup_py") and not PYTHON.exists():
        pytest.skip("python3-dev is not installed")
    port(name, ("gfx1100",), tmp_path)


@pytest.mark.amd
def test_quick_for_amd_alone(tmp_path: Path) -> None:
    port("make_c_and_cxx", ("gfx1100",), tmp_path, style="hip")


@pytest.mark.amd
@pytest.mark.nvidia
def test_quick_for_both_vendors(tmp_path: Path) -> None:
    report = port("make_c_and_cxx", ("gfx1100",), tmp_path, style="shared", beside_cuda=True)
    assert report["cuda"]["outcome"] == "passed"


@pytest.mark.amd
@pytest.mark.nvidia
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in names() if name not in NOT_SHARED])
def test_for_both_vendors(name: str, tmp_path: Path) -> None:
    """nvcc builds what it built before; what it does not build here has a reason."""
    report = port(name, ("gfx1100",), tmp_path, style="shared", beside_cuda=True)
    problem = report["targets"][0]["comparison"]["problem"]
    built = report["cuda"] is not None and report["cuda"]["outcome"] == "passed"
    assert built or "does not build with nvcc" in problem


@pytest.mark.amd
@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_on_both_wave_widths(name: str, tmp_path: Path) -> None:
    port(name, ("gfx1100", "gfx942"), tmp_path, style="hip")
