"""Clones of the projects of a list."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.project.cloning import CloneFailed, clone
from benchmarks.project.rows import ProjectRow

ROW = ProjectRow(project="someone/thing")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def mirror(folder: Path, files: dict[str, str], absent: str = "") -> Path:
    """Git directories below ``folder``, of which one file's content is missing."""
    work = folder / "work"
    work.mkdir(parents=True)
    git(work, "init", "-q")
    for name, text in files.items():
        (work / name).write_text(text)
    git(work, "add", ".")
    git(work, "commit", "-qm", "a")
    if absent:
        name = git(work, "rev-parse", f"HEAD:{absent}")
        (work / ".git/objects" / name[:2] / name[2:]).unlink()
    place = folder / "mirrors" / "someone+thing"
    place.mkdir(parents=True)
    (work / ".git").rename(place / "repo")
    return folder / "mirrors"


def test_a_copy_without_its_largest_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mirrors = mirror(tmp_path / "a", {"a.cu": "int a;\n", "film.gif": "GIF"}, "film.gif")
    made = clone(ROW, tmp_path / "place", mirrors)
    assert (made.tree / "a.cu").read_text() == "int a;\n"
    assert not (made.tree / "film.gif").exists()
    assert "film.gif" in capsys.readouterr().err


def test_an_older_commit_of_a_copy_without_its_largest_files(tmp_path: Path) -> None:
    mirrors = mirror(tmp_path / "a", {"a.cu": "int a;\n", "film.gif": "GIF"})
    repository = mirrors / "someone+thing/repo"
    older = git(repository, "rev-parse", "HEAD")
    tree = git(repository, "rev-parse", "HEAD^{tree}")
    newer = git(repository, "commit-tree", "-p", older, "-m", "b", tree)
    git(repository, "update-ref", "HEAD", newer)
    name = git(repository, "rev-parse", "HEAD:film.gif")
    (repository / "objects" / name[:2] / name[2:]).unlink()
    made = clone(ROW.model_copy(update={"commit": older}), tmp_path / "place", mirrors)
    assert made.commit == older and (made.tree / "a.cu").is_file()
    assert not (made.tree / "film.gif").exists()


def test_a_whole_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mirrors = mirror(tmp_path / "a", {"a.cu": "int a;\n"})
    assert (clone(ROW, tmp_path / "place", mirrors).tree / "a.cu").is_file()
    assert capsys.readouterr().err == ""


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CloneFailed, match="is missing"):
        clone(ROW, tmp_path / "place", tmp_path)


@pytest.mark.parametrize(("wanted", "text"), [("", "2"), ("@v1", "1"), ("@v2", "2")])
def test_a_submodule_of_another_commit(tmp_path: Path, wanted: str, text: str) -> None:
    mirrors = mirror(tmp_path / "a", {"a.cu": "int a;\n"})
    work, place = tmp_path / "part", mirrors / "some+part"
    work.mkdir()
    git(work, "init", "-q")
    for version in "12":
        (work / "version").write_text(version)
        git(work, "add", ".")
        git(work, "commit", "-qm", version)
        git(work, "tag", f"v{version}")
    place.mkdir()
    (work / ".git").rename(place / "repo")
    row = ROW.model_copy(update={"submodules": {"third/part": f"some/part{wanted}"}})
    made = clone(row, tmp_path / "place", mirrors)
    assert (made.tree / "third/part/version").read_text() == text
