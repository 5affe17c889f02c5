from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.folders import REPOSITORY

BASICS = [
    "bash",
    "cat",
    "cut",
    "dirname",
    "grep",
    "id",
    "mkdir",
    "rm",
    "sha256sum",
    "touch",
    "tr",
    "env",
    "python3",
]


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder for PATH with a shell's usual programs and no compiler, sandbox or apt."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in BASICS:
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What the script reads of the repository."""
    tree = tmp_path / "checkout"
    for name in ("scripts/setup.sh", "pyproject.toml", "constraints.txt"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tree / name)
    return tree


def setup(checkout: Path, path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "scripts/setup.sh", *arguments],
        cwd=checkout,
        env={"PATH": str(path), "HOME": os.environ.get("HOME", "/")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_system_that_it_may_not_change_gets_a_list_and_exit_3(
    checkout: Path, bare_path: Path
) -> None:
    done = setup(checkout, bare_path)
    assert done.returncode == 3
    assert "this system has no apt-get" in done.stderr
    packages = ["g++", "bubblewrap", "git"]
    if not list(Path("/opt").glob("rocm*")):  # ROCm brings its own clang
        packages += ["clang-19", "lld-19"]
    for package in packages:
        assert package in done.stderr.splitlines()[-1]


def test_without_root_or_sudo_it_says_so(checkout: Path, bare_path: Path) -> None:
    for name, text in (("apt-get", "exit 100"), ("apt-cache", "exit 0"), ("id", "echo 1000")):
        program = bare_path / name
        program.unlink(missing_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    done = setup(checkout, bare_path)
    assert done.returncode == 3
    assert "neither root nor sudo is at hand" in done.stderr
    assert not (checkout / ".venv").exists()


def test_usage(checkout: Path, bare_path: Path) -> None:
    done = setup(checkout, bare_path, "--everything")
    assert done.returncode == 2
    assert "usage:" in done.stderr


def test_the_pinned_versions_satisfy_the_project() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    pinned = {}
    for line in (REPOSITORY / "constraints.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, version = line.split("==")
            pinned[canonicalize_name(name)] = version
    pending = [*project["dependencies"], *extras["nvidia"], *extras["train"], *extras["dev"]]
    while pending:
        text = pending.pop()
        requirement = Requirement(text)
        if requirement.name == project["name"]:
            pending += [entry for extra in requirement.extras for entry in extras[extra]]
            continue
        version = pinned[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{text}: {version}"
