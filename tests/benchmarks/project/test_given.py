"""Checkouts in archives."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks.project.cloning import CloneFailed
from benchmarks.project.given import LARGE_MEDIUM, pack, unpack
from benchmarks.project.rows import ProjectRow
from tests.benchmarks.project.test_rows import repository


@pytest.fixture
def row(tmp_path: Path) -> ProjectRow:
    own, library, given = (tmp_path / name for name in ("own", "library", "given"))
    for folder in (own, library, given):
        folder.mkdir()
    (own / "a.cu").write_text("int a;\n")
    (own / "build.sh").write_text("#!/bin/sh\n")
    (own / "build.sh").chmod(0o755)
    (own / "linked.cu").symlink_to("a.cu")
    (own / ".gitignore").write_text("*.log\n")
    (own / "small.png").write_bytes(b"x")
    (own / "large.PNG").write_bytes(b"x" * (LARGE_MEDIUM + 1))
    (own / "large.csv").write_bytes(b"1," * LARGE_MEDIUM)
    (library / "sum.h").write_text("int sum();\n")
    (given / "CMakeLists.txt").write_text("project(given)\n")
    repository(tmp_path / "mirrors", "me/own", own)
    repository(tmp_path / "mirrors", "you/library", library)
    return ProjectRow(
        project="me/own",
        submodules={"third/library": "you/library"},
        dependencies={"given": str(given), "library": "you/library"},
    )


def test_a_checkout_comes_back_as_it_was_packed(row: ProjectRow, tmp_path: Path) -> None:
    if shutil.which("xz") is None:
        pytest.skip("xz is not installed")
    head = ["git", "-C", str(tmp_path / "mirrors/me+own/repo"), "rev-parse", "HEAD"]
    commit = subprocess.run(head, check=True, capture_output=True, text=True).stdout.strip()
    assert pack(row, tmp_path / "archives", tmp_path / "mirrors").name == "me+own.tar.xz"
    (tmp_path / "place").mkdir()
    made = unpack(row, tmp_path / "archives", tmp_path / "place")
    assert made.commit == commit
    assert {path.name for path in made.tree.iterdir()} == {
        *(".git", ".gitignore", "a.cu", "build.sh", "linked.cu", "small.png", "large.csv", "third")
    }
    assert (made.tree / "build.sh").stat().st_mode & 0o111
    assert (made.tree / "linked.cu").is_symlink()
    assert (made.tree / "third/library/sum.h").is_file()
    assert not (made.tree / "third/library/.git").exists()
    assert (made.dependencies["given"] / "CMakeLists.txt").is_file()
    assert (made.dependencies["library"] / "sum.h").is_file()
    status = ["git", "-C", str(made.tree), "status", "--porcelain"]
    assert subprocess.run(status, check=True, capture_output=True, text=True).stdout == ""


def test_what_was_not_packed_is_named(row: ProjectRow, tmp_path: Path) -> None:
    with pytest.raises(CloneFailed, match=r"me\+own\.tar\.xz is missing"):
        unpack(row, tmp_path, tmp_path)
