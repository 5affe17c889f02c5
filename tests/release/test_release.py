"""The release workflow's shell, run step by step, and files that agree with the project."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from notes import main, project_version, section

from cass_ray.version import __version__
from tests.cluster.test_files import DOCKERFILES, values
from tests.folders import REPOSITORY
from tests.github_steps import run_step
from tests.release.conftest import install

WORKFLOW = REPOSITORY / ".github" / "workflows" / "release.yml"
RECIPE = REPOSITORY / "release" / "conda" / "recipe.yaml"
IMAGES = [
    REPOSITORY / "release" / "docker" / "Dockerfile",
    REPOSITORY / ".github" / "actions" / "cass-container" / "Dockerfile",
]
PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]

NEEDS_REGISTRY = {"Tools", "Install"}
"""Steps that install packages: what they leave behind is made without a network here."""

CHANGES = """\
## [Unreleased]

## [1.1.0] - 2026-01-02

### Added

- New.

## [1.0.0]

- Old.

[1.1.0]: https://example.com/1.1.0
[1.0.0]: https://example.com/1.0.0
"""


def steps_of(job: str) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = yaml.safe_load(WORKFLOW.read_text())["jobs"][job]["steps"]
    return [step for step in steps if "run" in step]


def value(expression: str) -> str:
    return {"github.ref_name": f"v{__version__}", "github.token": "token"}[expression]


def environment_of(folder: Path) -> dict[str, str]:
    """A runner's, in which what would go to GitHub is written down."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "gh").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{folder}/gh.txt"\n')
    (tools / "gh").chmod(0o755)
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    path = f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**environment, "PATH": path, "GITHUB_REPOSITORY": "someone/cass-ray"}


@pytest.mark.slow
def test_the_steps_make_a_release(sources: Path, tmp_path: Path) -> None:
    tree = shutil.copytree(sources, tmp_path / "tree", symlinks=True)
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for command in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "release")):
        subprocess.run(["git", *command], cwd=tree, check=True)
    environment = environment_of(tmp_path)
    outputs = tmp_path / "outputs"
    for step in steps_of("build"):
        if step["name"] == "Install":
            [wheel] = (tree / "dist").glob("*.whl")
            install(wheel, tree / "out" / "release" / "venv")
        if step["name"] not in NEEDS_REGISTRY:
            done, _ = run_step(step, tree, environment, outputs, value)
            assert done.returncode == 0, f"{step['name']}: {done.stdout}"

    bill = json.loads((tree / "out/release/cass-ray.cdx.json").read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "cass-ray")
    components = {each["name"].lower(): each["version"] for each in bill["components"]}
    pinned = dict(
        line.lower().split("==")
        for line in (REPOSITORY / "constraints.txt").read_text().splitlines()
        if "==" in line
    )
    assert components["pydantic"] == pinned["pydantic"]
    assert components["ray"] == pinned["ray"]

    # The next machine gets what was uploaded as artifacts.
    shutil.copytree(tree / "out" / "release", tree / "release", dirs_exist_ok=True)
    [announce] = steps_of("announce")
    done, _ = run_step(announce, tree, environment, outputs, value)
    assert done.returncode == 0, done.stdout
    said = (tmp_path / "gh.txt").read_text().splitlines()
    assert said[:3] == ["release", "create", f"v{__version__}"]
    assert {Path(word).suffix for word in said[-3:]} == {".whl", ".gz", ".json"}


def test_a_step_that_is_left_out_here_has_a_reason() -> None:
    names = {step["name"] for step in steps_of("build")}
    assert names >= NEEDS_REGISTRY
    for step in steps_of("build"):
        installs = "pip install" in step["run"]
        assert installs is (step["name"] in NEEDS_REGISTRY)
        assert not installs or "--constraint constraints.txt" in step["run"]


def test_only_what_uploads_may_write() -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text())
    assert workflow["permissions"] == {}
    rights = {
        name: {right for right, level in job["permissions"].items() if level == "write"}
        for name, job in workflow["jobs"].items()
    }
    assert rights == {
        "build": set(),
        "attest": {"id-token", "attestations"},
        "publish": {"id-token"},
        "announce": {"contents"},
    }
    assert workflow["jobs"]["publish"]["environment"] == "release"


def test_notes_are_the_section_of_the_version() -> None:
    assert section(CHANGES, "1.1.0") == "### Added\n\n- New."
    assert section(CHANGES, "1.0.0") == "- Old."
    assert section(CHANGES, "Unreleased") == section(CHANGES, "2.0.0") == ""


@pytest.mark.parametrize(
    ("tag", "version", "words"),
    [
        ("v1.2.0", "1.1.0", "the tag is v1.2.0, pyproject.toml says 1.1.0"),
        ("v2.0.0", "2.0.0", "CHANGELOG.md has nothing under `## [2.0.0]`"),
    ],
)
def test_no_notes_no_release(
    tag: str,
    version: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)
    monkeypatch.setattr("notes.ROOT", tmp_path)
    assert main(tag) == 1
    assert words in capsys.readouterr().err


def test_the_version_is_one_everywhere() -> None:
    recipe = yaml.safe_load(RECIPE.read_text())
    assert project_version(REPOSITORY) == __version__ == recipe["context"]["version"]


def test_the_conda_recipe_requires_what_the_project_requires() -> None:
    recipe = yaml.safe_load(RECIPE.read_text())

    def split(requirement: str) -> tuple[str, str]:
        found = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])? ?(.*)", requirement)
        assert found, requirement
        return found[1], found[2]

    wanted = dict(split(each) for each in PROJECT["dependencies"])
    ray = wanted.pop("ray")  # conda has a package for each of its extras
    wanted |= {"python": PROJECT["requires-python"]}
    wanted |= dict.fromkeys(("ray-core", "ray-data", "ray-default"), ray)
    assert dict(split(each) for each in recipe["requirements"]["run"]) == wanted
    [script] = recipe["build"]["python"]["entry_points"]
    assert script == f"cass = {PROJECT['scripts']['cass']}"


@pytest.mark.parametrize("image", [*IMAGES, *DOCKERFILES], ids=lambda path: path.stem)
def test_images_are_made_with_care(image: Path) -> None:
    """Versions of apt's packages are Debian's business, hence not DL3008."""
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [linter, "--ignore", "DL3008", image],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == ""
    bases = [rest.split()[0] for rest in values(image, "FROM")]
    assert any(re.fullmatch(r"python:3\.11(\.\d+)?-slim-bookworm", base) for base in bases)


def test_the_image_for_users_has_the_sources_and_is_not_root() -> None:
    image = IMAGES[0]
    assert values(image, "USER") == ["1000"]
    copied = {word for rest in values(image, "COPY") for word in rest.split()[:-1]}
    paths = {word for word in copied if not word.startswith(("--from", "/"))}
    assert [path for path in paths if not (REPOSITORY / path).exists()] == []
    packages = ("cass_ray", "jobs", "actors", "serve", "cluster", "release")
    assert paths >= {*packages, "MANIFEST.in", PROJECT["readme"], *PROJECT["license-files"]}
    [install_line] = [run for run in values(image, "RUN") if "pip install" in run]
    extras = re.search(r"\[([\w,]+)\]", install_line)
    assert extras
    assert set(extras[1].split(",")) <= PROJECT["optional-dependencies"].keys()


def test_the_container_of_the_action_is_of_this_release() -> None:
    assert values(IMAGES[1], "ARG") == [f"RELEASE=v{__version__}"]
    [entry] = values(IMAGES[1], "ENTRYPOINT")
    inside = Path(json.loads(entry)[0]).relative_to("/opt/cass-ray")
    assert os.access(REPOSITORY / inside, os.X_OK)
