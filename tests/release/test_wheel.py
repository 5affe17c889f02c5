"""The wheel of this tree: its names clash with nobody's, its commands work without the tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest
from check_dist import problems, top_level
from notes import project_version

from tests.folders import REPOSITORY

OURS = {"cass_ray", "cass_ray_actors", "cass_ray_cluster", "cass_ray_jobs", "cass_ray_serve"}
PROGRAMS = REPOSITORY / "cass_ray" / "corpus" / "shipped" / "programs" / "graphics"
VERSION = project_version(REPOSITORY)


def run(
    installed: Path, folder: Path, *command: str | Path, status: int = 0
) -> subprocess.CompletedProcess[str]:
    """A command of the environment, in a folder from which the repository cannot be imported."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [installed / "bin" / command[0], *command[1:]],
        cwd=folder,
        env={**environment, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def test_nothing_in_it_has_a_generic_name(wheel: Path) -> None:
    assert top_level(wheel) == OURS


@pytest.mark.slow
def test_both_distributions_are_whole(dist: Path) -> None:
    assert problems(dist, VERSION) == []


def test_what_is_wrong_with_a_wheel_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / f"cass_ray-{VERSION}-py3-none-any.whl", "w") as archive:
        archive.writestr("jobs/__init__.py", "")
    (tmp_path / "notes.txt").touch()
    found = "\n".join(problems(tmp_path, VERSION))
    assert f"cass_ray-{VERSION}.tar.gz is missing" in found
    assert "notes.txt does not belong there" in found
    assert "jobs at its top would clash" in found
    assert "cass_ray_serve/ui/static/index.html is missing" in found


def test_metadata_are_those_of_the_project(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        folder = f"cass_ray-{VERSION}.dist-info"
        text = archive.read(f"{folder}/METADATA").decode()
        points = archive.read(f"{folder}/entry_points.txt").decode()
        assert archive.read(f"{folder}/licenses/LICENSE") == (REPOSITORY / "LICENSE").read_bytes()
    metadata = HeaderParser().parsestr(text)
    assert metadata["Name"] == "cass-ray"
    assert metadata["Requires-Python"] == ">=3.11"
    assert "serve" in (metadata.get_all("Provides-Extra") or [])
    modules = {
        line.partition(" = ")[2].partition(":")[0] for line in points.splitlines() if "=" in line
    }
    assert {module.partition(".")[0] for module in modules} == OURS - {"cass_ray_actors"}


@pytest.mark.slow
def test_the_source_distribution_gives_the_same_bytes(dist: Path, wheel: Path) -> None:
    assert (dist / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.mark.slow
def test_every_command_can_be_imported(installed: Path, tmp_path: Path) -> None:
    code = (
        "import json\n"
        "from importlib.metadata import entry_points\n"
        "import cass_ray, cass_ray_serve.http.app, cass_ray_serve.deployments.deploy as deploy\n"
        "found = entry_points(group='cass_ray.commands')\n"
        "print(json.dumps([cass_ray.__file__, deploy.IMPORT_PATH, *"
        "(type(each.load()).__name__ for each in found)]))\n"
    )
    file, path, *kinds = json.loads(run(installed, tmp_path, "python", "-c", code).stdout)
    assert Path(file).is_relative_to(installed)
    assert path == "cass_ray_serve.deployments.deploy:application"
    assert set(kinds) == {"Typer"}
    assert len(kinds) > 20
    for name in ("jobs", "actors", "serve", "cluster"):
        done = run(installed, tmp_path, "python", "-c", f"import {name}", status=1)
        assert f"No module named '{name}'" in done.stderr


@pytest.mark.slow
def test_it_translates(installed: Path, tmp_path: Path) -> None:
    assert run(installed, tmp_path, "cass", "--version").stdout.startswith(f"cass-ray {VERSION} ")
    program = PROGRAMS / "mandelbrot_fixed.cu"
    run(installed, tmp_path, "cass", "translate", program, "-o", "port.hip")
    assert "hipMemcpy(" in (tmp_path / "port.hip").read_text()


@pytest.mark.slow
@pytest.mark.nvidia
@pytest.mark.amd
def test_it_builds_a_data_set_on_ray(installed: Path, tmp_path: Path) -> None:
    run(installed, tmp_path, "cass", "doctor")
    (tmp_path / "programs").mkdir()
    for name in ("alpha_compositing", "mandelbrot_fixed"):
        shutil.copy(PROGRAMS / f"{name}.cu", tmp_path / "programs")
    build = ("build-dataset", "--source", "local:programs", "--out", "out")
    run(installed, tmp_path, "cass", *build)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (report["rows"], report["pairs"], report["rejects"]) == (2, 2, [])


@pytest.mark.slow
def test_the_documentation_builds_from_it(installed: Path, tmp_path: Path) -> None:
    """``-P`` leaves the working folder off the path, as the command ``mkdocs`` does."""
    pytest.importorskip("mkdocs", reason="the site needs the extra `docs`")
    command = [installed / "bin" / "python", "-P", "-m", "mkdocs", "build", "--strict"]
    command += ["--site-dir", tmp_path / "site"]
    done = subprocess.run(command, cwd=REPOSITORY, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "reference" / "settings" / "index.html").exists()
