"""Cluster files: valid for Ray's launcher, images true to the repository."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from ray.autoscaler._private.util import prepare_config, validate_config

from cluster.package import pack
from tests.folders import REPOSITORY

PYTHON = "python:3.11.13-slim-bookworm"
CLUSTER = REPOSITORY / "cluster"
JOBS = REPOSITORY / "jobs"
DOCKERFILES = sorted((CLUSTER / "docker").glob("*.Dockerfile"))

TOOLCHAIN_OF = {"cuda": "nvidia", "rocm": "amd"}
"""Node type -> the custom resource that ``actors.build_pipeline`` asks for."""


# --- Ray cluster launcher ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def launcher() -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load((CLUSTER / "ray_cluster.yaml").read_text())
    return config


def test_ray_accepts_the_launcher_file(launcher: dict[str, Any]) -> None:
    prepared = prepare_config(launcher)  # fills in defaults and checks the Docker part
    validate_config(prepared)  # Ray's own JSON schema


def test_ray_rejects_a_misspelled_key(launcher: dict[str, Any]) -> None:
    nodes = launcher["available_node_types"]
    broken = {**launcher, "available_node_types": {**nodes, "cuda": {"resource": {}}}}
    with pytest.raises(Exception, match="resource"):
        validate_config(prepare_config(broken))


@pytest.mark.parametrize(("node_type", "resource"), TOOLCHAIN_OF.items())
def test_node_types_offer_one_slot_a_core(
    launcher: dict[str, Any], node_type: str, resource: str
) -> None:
    node = launcher["available_node_types"][node_type]
    assert node["resources"][resource] == node["resources"]["CPU"]
    assert node["docker"]["worker_image"].endswith(f"/{node_type}:0.1.0")


def test_the_head_takes_reading_tasks_and_compiles_nothing(launcher: dict[str, Any]) -> None:
    resources = launcher["available_node_types"][launcher["head_node_type"]]["resources"]
    assert resources["CPU"] >= 1
    assert not {"nvidia", "amd"} & set(resources)


def test_every_node_starts_ray_with_the_token(launcher: dict[str, Any]) -> None:
    for role in ("head", "worker"):
        start = launcher[f"{role}_start_ray_commands"][-1]
        assert start.startswith("RAY_AUTH_MODE=token ray start")
    assert "~/.ray/auth_token" in launcher["file_mounts"]


# --- Docker --------------------------------------------------------------------------------------


def instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """(instruction, rest) of each line, continued lines joined, comments left out."""
    lines = [line for line in dockerfile.read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    pairs = (line.split(maxsplit=1) for line in joined.splitlines() if line.strip())
    return [(name, rest) for name, rest in pairs]


def values(dockerfile: Path, name: str) -> list[str]:
    return [rest for instruction, rest in instructions(dockerfile) if instruction == name]


def working_directory(image: str) -> str:
    return values(CLUSTER / "docker" / f"{image}.Dockerfile", "WORKDIR")[-1]


def test_there_is_an_image_for_the_head_and_each_toolchain() -> None:
    assert {path.stem for path in DOCKERFILES} == {"head", *TOOLCHAIN_OF}


def links_out() -> list[Path]:
    """Files of the library that are links to what lies elsewhere."""
    return [path for path in (REPOSITORY / "cass_ray").rglob("*") if path.is_symlink()]


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.stem)
def test_every_copied_source_exists_and_none_is_forgotten(dockerfile: Path) -> None:
    copied = set()
    for rest in values(dockerfile, "COPY"):
        *sources, _ = shlex.split(rest)
        if not sources[0].startswith("--from="):
            copied |= set(sources)
    assert [source for source in copied if not (REPOSITORY / source).exists()] == []
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    packages = project["tool"]["setuptools"]["packages"]["find"]["include"]
    needed = {name.removesuffix("*") for name in packages} | {"pyproject.toml", "constraints.txt"}
    needed |= {project["project"]["readme"], *project["project"]["license-files"]}
    needed |= set(project["build-system"]["backend-path"])
    needed |= {link.resolve().relative_to(REPOSITORY).as_posix() for link in links_out()}
    assert needed <= copied


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.stem)
def test_installs_are_pinned_and_extras_exist(dockerfile: Path) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    installs = [rest for rest in values(dockerfile, "RUN") if "pip install" in rest]
    assert installs
    for install in installs:
        assert "--constraint constraints.txt" in install
        for extras in re.findall(r"\.\[([\w,-]+)\]", install):
            assert set(extras.split(",")) <= set(project["project"]["optional-dependencies"])


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.stem)
def test_images_share_python_and_do_not_run_as_root(dockerfile: Path) -> None:
    bases = [rest.split()[0] for rest in values(dockerfile, "FROM")]
    assert {base for base in bases if base.startswith("python:")} == {PYTHON}
    # By number: Kubernetes does not start a user of whom it knows only the name.
    assert values(dockerfile, "USER")[-1] == "1000"


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.stem)
def test_what_builds_an_image_stays_out_of_it(dockerfile: Path) -> None:
    stages = values(dockerfile, "FROM")
    assert stages[0].endswith(" AS build") and len(stages) == 2
    lines = instructions(dockerfile)
    final = lines[max(at for at, (name, _) in enumerate(lines) if name == "FROM") :]
    assert all(rest.startswith("--from=build ") for name, rest in final if name == "COPY")
    assert not any("pip install" in rest for _, rest in final)


def test_the_launcher_names_images_that_there_are(launcher: dict[str, Any]) -> None:
    names = {launcher["docker"]["image"]}
    for node in launcher["available_node_types"].values():
        names |= {node["docker"]["worker_image"]} if "docker" in node else set()
    assert names == {image_of(dockerfile) for dockerfile in DOCKERFILES}


def image_of(dockerfile: Path) -> str:
    """As the file says that it is to be built."""
    command = re.search(r"docker build .* -t (\S+) \.", dockerfile.read_text())
    assert command is not None
    return command[1]


# --- Grafana -------------------------------------------------------------------------------------


def test_the_board_draws_metrics_that_jobs_have() -> None:
    board = (CLUSTER / "dashboards" / "grafana.json").read_text()
    drawn = set(re.findall(r"ray_cass_\w+", board))
    source = (REPOSITORY / "actors" / "metrics.py").read_text()
    made = re.findall(r'(Counter|Gauge)\(\s*"(\w+)"', source)
    # Ray shows them with its own prefix, and counters as OpenMetrics has them.
    assert drawn == {f"ray_{name}{'_total' if kind == 'Counter' else ''}" for kind, name in made}


# --- Jobs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("job", sorted(JOBS.glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_a_job_can_be_submitted_by_its_path(job: Path) -> None:
    assert job.read_text().startswith("#!/usr/bin/env python3\n")
    assert os.access(job, os.X_OK)


def test_what_travels_with_a_job_is_small_and_has_all_that_jobs_import(tmp_path: Path) -> None:
    package = tmp_path / "package.zip"
    pack(REPOSITORY, package)
    assert package.stat().st_size < 5 << 20
    with zipfile.ZipFile(package) as opened:
        names = set(opened.namelist())
        modes = {entry.filename: entry.external_attr >> 16 for entry in opened.infolist()}
    code = [
        path.relative_to(REPOSITORY).as_posix()
        for folder in ("cass_ray", "actors", "jobs", "cluster")
        for path in (REPOSITORY / folder).rglob("*.py")
    ]
    assert set(code) <= names
    assert modes["jobs/build_dataset.py"] & 0o111
    assert not any(name.startswith(("tests/", ".git/", ".venv")) for name in names)
