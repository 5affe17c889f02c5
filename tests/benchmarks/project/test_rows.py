"""Rows of projects: lists, clones from a folder of repositories, results and their table."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks.folders import REPOSITORY
from benchmarks.project.cloning import CloneFailed, clone
from benchmarks.project.rows import ProjectRow, read_rows
from benchmarks.project.seen import Results, Seen, port_row
from benchmarks.project.table import write_table

CANARY = REPOSITORY / "tests" / "project" / "canaries" / "make_cu_alone"
PAGE = "# Projects\n\n<!-- last seen: mine -->\nold\n<!-- end of mine -->\n\nthe rest\n"


def repository(place: Path, name: str, source: Path) -> Path:
    """A git repository ``OWNER+NAME/repo`` below ``place`` with the files of ``source``."""
    folder = place / name.replace("/", "+") / "repo"
    shutil.copytree(source, folder, symlinks=True)
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@localhost"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *command], check=True)
    return folder


def seen(project: str, verdict: str, target: str = "gfx1100", said: str = "") -> Seen:
    return Seen.model_validate(
        {
            "list": "mine",
            "project": project,
            "commit": "0123456789",
            "target": target,
            "date": "2026-11-29",
            "verdict": verdict,
            "seconds": 2.4,
            "said": said,
        }
    )


@pytest.mark.parametrize("name", ["projects", "moat"])
def test_the_lists_are_read(name: str) -> None:
    rows = read_rows(REPOSITORY / "benchmarks" / "project" / f"{name}.yaml")
    assert len({row.project for row in rows}) == len(rows) >= 5


def test_a_newer_outcome_replaces_the_older_one_of_its_target() -> None:
    results = Results()
    for each in (seen("b/b", "failed"), seen("a/a", "passed"), seen("b/b", "passed", "gfx90a")):
        results.replace(each)
    results.replace(seen("b/b", "passed"))
    assert [(each.project, each.target, each.verdict) for each in results.seen] == [
        ("a/a", "gfx1100", "passed"),
        ("b/b", "gfx1100", "passed"),
        ("b/b", "gfx90a", "passed"),
    ]


def test_the_table_stands_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    results = Results(seen=[seen("a/a", "passed"), seen("b/b", "built", said="x | y\nError 1")])
    write_table(results, "mine", page)
    text = page.read_text()
    assert "gfx1100: 1 of 2 pass." in text
    assert "| b/b | 01234567 | gfx1100 | built |  | 2026-11-29 |  | 2 | 0 | `Error 1` |" in text
    assert "old" not in text and text.endswith("<!-- end of mine -->\n\nthe rest\n")
    with pytest.raises(ValueError, match="last seen: other"):
        write_table(results, "other", page)


def test_clones_come_with_what_fills_their_submodules(tmp_path: Path) -> None:
    repositories, library = tmp_path / "repositories", tmp_path / "library"
    library.mkdir()
    (library / "sum.h").write_text("int sum();\n")
    own = repository(repositories, "me/own", CANARY)
    repository(repositories, "you/library", library)
    row = ProjectRow(
        project="me/own",
        submodules={"one": "you/library", "two": str(library)},
        dependencies={"three": "you/library"},
    )
    made = clone(row, tmp_path / "place", repositories)
    head = subprocess.run(
        ["git", "-C", str(own), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    assert made.commit == head.stdout.strip()
    folders = (made.tree / "one", made.tree / "two", made.dependencies["three"])
    assert all((folder / "sum.h").is_file() for folder in folders)
    with pytest.raises(CloneFailed, match="you\\+absent"):
        clone(ProjectRow(project="you/absent"), tmp_path / "other", repositories)


def test_outcomes_of_another_machine_are_joined_by_their_day(tmp_path: Path) -> None:
    def on(day: str, where: str, verdict: str) -> Seen:
        return seen("a/a", verdict).model_copy(update={"date": f"2026-11-{day}", "where": where})

    results = Results(seen=[on("28", "", "failed"), seen("b/b", "built")])
    results.join(Results(seen=[on("29", "elsewhere", "passed")]))
    assert [(each.where, each.verdict) for each in results.seen] == [
        ("elsewhere", "passed"),
        ("", "built"),
    ]
    results.join(Results(seen=[on("27", "long ago", "failed")]))
    assert results.seen[0].where == "elsewhere"


@pytest.mark.amd
@pytest.mark.slow
def test_a_row_is_ported_by_the_command(tmp_path: Path) -> None:
    repository(tmp_path / "repositories", "me/own", CANARY)
    row = ProjectRow(project="me/own", test="make check && false")
    made = clone(row, tmp_path / "place", tmp_path / "repositories")
    assert port_row("mine", row, made, "gfx1100").verdict == "built"
    right = row.model_copy(update={"test": "make check"})
    outcome = port_row("mine", right, made, "gfx1100")
    assert (outcome.verdict, outcome.commit) == ("passed", made.commit)
    assert outcome.added_lines > 0
