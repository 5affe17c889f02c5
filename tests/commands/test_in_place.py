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
