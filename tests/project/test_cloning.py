"""Builds that clone get what ``--dependency`` gives: as CMake and git themselves see it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.project.cloning import write_git

Shell = Callable[[str], subprocess.CompletedProcess[str]]

ADDRESS = "https://example.invalid/owner/GoogleTest.git"


@pytest.fixture
def run(tmp_path: Path) -> Shell:
    """Runs bash in a folder of its own, where ``googletest`` can be cloned."""
    given = tmp_path / "given here"
    given.mkdir()
    (given / "value.txt").write_text("42\n")
    (given / ".gitignore").write_text("value.txt\n")
    (tools,) = write_git(tmp_path / "tools", {"googletest": given})
    place = tmp_path / "work"
    place.mkdir()
    # Whatever a test asks for, no address is reached.
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "GIT_ALLOW_PROTOCOL": "none"}

    def shell(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-ec", script],
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return shell


@pytest.mark.parametrize(
    ("options", "folder"),
    [("", "GoogleTest"), ("--depth 1 -b v1.14.0 --recursive", "elsewhere"), ("-q --", "a b")],
)
def test_a_clone_is_a_copy_with_all_its_files(run: Shell, options: str, folder: str) -> None:
    named = "" if folder == "GoogleTest" else f"'{folder}'"
    done = run(
        f"git clone {options} {ADDRESS} {named}; cd '{folder}'; cat value.txt; git status -s"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "42\n"
    assert "as --dependency says" in done.stderr


def test_the_folder_is_whatever_revision_is_asked_for(run: Shell) -> None:
    done = run(
        f"git clone {ADDRESS} g; git -C g checkout release-1.12.1; cd g; git fetch --tags origin;"
        " git reset --hard 0123456789012345678901234567890123456789;"
        " git submodule update --init; cat value.txt; rm value.txt; git checkout -- value.txt;"
        " cat value.txt; git remote get-url origin"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"42\n42\n{ADDRESS}\n"


@pytest.mark.parametrize(
    "script",
    [
        "git clone https://example.invalid/owner/other.git",
        f"mkdir g; touch g/own; git clone {ADDRESS} g",
        "git init -q g; cd g; git checkout release-1.12.1",
    ],
)
def test_everything_else_is_as_git_has_it(run: Shell, script: str) -> None:
    done = run(script)
    assert done.returncode != 0
    assert "as --dependency says" not in done.stderr


def test_external_projects_of_cmake_are_cloned(run: Shell) -> None:
    """Twice: the second build updates what the first one cloned."""
    lists = f"""\
cmake_minimum_required(VERSION 3.18)
project(download NONE)
include(ExternalProject)
ExternalProject_Add(googletest GIT_REPOSITORY {ADDRESS} GIT_TAG main
  SOURCE_DIR "${{CMAKE_CURRENT_BINARY_DIR}}/source"
  CONFIGURE_COMMAND "" BUILD_COMMAND "" INSTALL_COMMAND "" TEST_COMMAND "")
"""
    run(f"cat > CMakeLists.txt <<'E'\n{lists}E")
    for _ in range(2):
        done = run("cmake -S . -B b && cmake --build b && cat b/source/value.txt")
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.endswith("42\n")


def test_nothing_is_written_without_dependencies(tmp_path: Path) -> None:
    assert write_git(tmp_path / "tools", {}) == ()
    assert not (tmp_path / "tools").exists()
