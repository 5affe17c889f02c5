"""``cass translate --in-place`` and ``--branch``: nothing that a person wrote is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands.translate import app

CUDA = "int main() { cudaFree(0); }\n"
HIP = "int main() { hipFree(0); }"
RUN = CliRunner()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src/a.cu").write_text(CUDA)
    (root / "src/a.cu").chmod(0o755)
    (root / "notes.txt").write_text("cudaFree\n")
    return root


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@b"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@b")
    git(folder, "init", "--quiet", "--initial-branch", "trunk")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "as it was")
    return folder


@pytest.mark.parametrize("what", ["", "src/a.cu"])
def test_originals_stay_beside_their_ports(folder: Path, what: str) -> None:
    done = RUN.invoke(app, [str(folder / what), "--in-place"])
    assert done.exit_code == 0, done.output
    port = folder / "src/a.cu"
    assert HIP in port.read_text()
    assert port.stat().st_mode & 0o777 == 0o755
    assert (folder / "src/a.cu.orig").read_text() == CUDA
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        "a.cu",
        "a.cu.orig",
        "notes.txt",
    ]
    again = RUN.invoke(app, [str(folder / what), "--in-place"])
    assert again.exit_code == 0, again.output
    assert "0 file(s) changed" in again.output
    assert (folder / "src/a.cu.orig").read_text() == CUDA


def test_an_older_backup_is_not_written_over(folder: Path) -> None:
    (folder / "src/a.cu.orig").write_text("mine\n")
    done = RUN.invoke(app, [str(folder), "--in-place"])
    assert done.exit_code == 2
    assert "a.cu.orig is there" in done.output
    assert (folder / "src/a.cu").read_text() == CUDA
    assert (folder / "src/a.cu.orig").read_text() == "mine\n"


def test_a_branch_holds_the_port(repository: Path) -> None:
    done = RUN.invoke(app, [str(repository), "--branch", "hip"])
    assert done.exit_code == 0, done.output
    assert git(repository, "branch", "--show-current").strip() == "hip"
    assert git(repository, "show", "--name-only", "--format=").split() == ["src/a.cu"]
    assert git(repository, "show", "trunk:src/a.cu") == CUDA
    assert HIP in git(repository, "show", "hip:src/a.cu")
    assert not git(repository, "status", "--porcelain")


def test_a_branch_wants_a_clean_tree_and_a_new_name(repository: Path) -> None:
    done = RUN.invoke(app, [str(repository), "--branch", "trunk"])
    assert (done.exit_code, "trunk is there" in done.output) == (2, True)
    (repository / "src/a.cu").write_text(CUDA + "// mine\n")
    done = RUN.invoke(app, [str(repository), "--branch", "hip"])
    assert (done.exit_code, "not committed" in done.output) == (2, True)
    assert (repository / "src/a.cu").read_text() == CUDA + "// mine\n"
    assert git(repository, "branch", "--show-current").strip() == "trunk"


def test_a_branch_wants_a_repository(folder: Path) -> None:
    done = RUN.invoke(app, [str(folder), "--branch", "hip"])
    assert done.exit_code == 2
    assert "not a git repository" in done.output


def test_an_output_and_in_place_exclude_each_other(folder: Path) -> None:
    done = RUN.invoke(app, [str(folder), "--in-place", "-o", str(folder.with_name("out"))])
    assert (done.exit_code, "exclude each other" in done.output) == (2, True)


MAKEFILE = "all: a\na: a.cu\n\tnvcc -O2 -arch=sm_80 -o a a.cu -lcublas\n"
CMAKE = """cmake_minimum_required(VERSION 3.20)
project(demo LANGUAGES CXX CUDA)
aux_source_directory(src SRC)
file(GLOB MORE more/*.cu)
add_library(device STATIC src/a.cu)
set_target_properties(device PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
"""


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_second_time_nothing_changes_and_backups_stay(folder: Path) -> None:
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    assert RUN.invoke(app, [str(folder), "--in-place"]).exit_code == 0
    once = contents(folder)
    assert once["Makefile.orig"].decode() == MAKEFILE
    assert once["CMakeLists.txt.orig"].decode() == CMAKE
    again = RUN.invoke(app, [str(folder), "--in-place"])
    assert again.exit_code == 0, again.output
    assert "0 file(s) changed" in again.output
    assert contents(folder) == once


def test_in_place_after_a_branch_changes_nothing(repository: Path) -> None:
    (repository / "CMakeLists.txt").write_text(CMAKE)
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "CMake")
    assert RUN.invoke(app, [str(repository), "--branch", "hip"]).exit_code == 0
    done = RUN.invoke(app, [str(repository), "--in-place"])
    assert "0 file(s) changed" in done.output
    assert not git(repository, "status", "--porcelain")


def test_a_file_that_git_does_not_have_is_not_lost(repository: Path) -> None:
    for name, ignored in (("new.cu", False), ("made.cu", True)):
        if ignored:
            (repository / ".git/info/exclude").write_text(f"{name}\n")
        (repository / name).write_text(CUDA)
        done = RUN.invoke(app, [str(repository), "--branch", "hip"])
        assert (done.exit_code, f"git does not have {name}" in done.output) == (2, True)
        assert (repository / name).read_text() == CUDA
        assert git(repository, "branch", "--show-current").strip() == "trunk"
        (repository / name).unlink()


def test_git_is_asked_who_commits_before_anything_changes(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    monkeypatch.delenv("EMAIL", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    git(repository, "config", "user.useConfigOnly", "true")
    done = RUN.invoke(app, [str(repository), "--branch", "hip"])
    assert (done.exit_code, "git config user.name" in done.output) == (2, True)
    assert git(repository, "branch", "--format=%(refname:short)").split() == ["trunk"]
    assert (repository / "src/a.cu").read_text() == CUDA


@pytest.mark.parametrize("detached", [False, True])
def test_what_git_refuses_to_commit_is_undone(repository: Path, detached: bool) -> None:
    if detached:
        git(repository, "switch", "--quiet", "--detach")
    hook = repository / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no tabs please >&2\nexit 1\n")
    hook.chmod(0o755)
    done = RUN.invoke(app, [str(repository), "--branch", "hip"])
    assert (done.exit_code, "no tabs please" in done.output) == (2, True)
    assert not git(repository, "status", "--porcelain")
    assert git(repository, "branch", "--format=%(refname:short)").split()[-1] == "trunk"
    assert (repository / "src/a.cu").read_text() == CUDA
    assert (repository / "src/a.cu").stat().st_mode & 0o777 == 0o755
    hook.unlink()
    assert RUN.invoke(app, [str(repository), "--branch", "hip"]).exit_code == 0


def test_what_is_staged_elsewhere_is_not_committed(repository: Path) -> None:
    (repository / "other.txt").write_text("mine\n")
    git(repository, "add", "other.txt")
    done = RUN.invoke(app, [str(repository / "src"), "--branch", "hip"])
    assert done.exit_code == 0, done.output
    assert git(repository, "show", "--name-only", "--format=").split() == ["src/a.cu"]
    assert git(repository, "status", "--porcelain").split() == ["A", "other.txt"]
