"""A wheel and a source distribution of this tree, and an environment with the wheel installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.folders import REPOSITORY


def copy_of_sources(folder: Path) -> Path:
    """What git would clone: tracked files and new ones, and none that are ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, folder / name, follow_symlinks=False)
    return folder


def install(wheel: Path, folder: Path) -> Path:
    """An environment with the wheel, whose requirements come from the one that runs the tests."""
    venv.create(folder, with_pip=False)
    pip = (sys.executable, "-m", "pip", "--quiet", "--python", folder, "install")
    # What $PYTHONPATH leads to would count as installed.
    options = ("--no-deps", "--no-index", "--no-compile", "--ignore-installed")
    subprocess.run([*pip, *options, wheel], check=True)
    paths = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", vars=paths))
    (packages / "requirements.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_sources(tmp_path_factory.mktemp("sources"))


def build(sources: Path, folder: Path, *kinds: str) -> Path:
    """What ``python -m build`` makes of ``sources``; times of files are always the same."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", *kinds, "--outdir", folder],
        cwd=sources,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return folder


@pytest.fixture(scope="session")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    [made] = build(sources, tmp_path_factory.mktemp("wheel"), "--wheel").iterdir()
    return made


@pytest.fixture(scope="session")
def dist(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As a release has it: a source distribution, and the wheel that is made of that."""
    return build(sources, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(wheel, tmp_path_factory.mktemp("installed"))
