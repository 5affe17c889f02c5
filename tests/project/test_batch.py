"""Many projects: outcomes, kept between runs, and the report of all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from cass_ray.project import batch
from cass_ray.project.batch import BatchPortSettings, ProjectEntry, ProjectOutcome, TargetOutcome
from jobs.port_projects import app


def settings(out: Path, *sources: str) -> BatchPortSettings:
    return BatchPortSettings(projects=tuple(ProjectEntry(source=item) for item in sources), out=out)


def test_a_project_is_ported_once_as_long_as_its_files_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "a"
    source.mkdir()
    (source / "a.cu").write_text("int x;\n")
    done: list[str] = []

    def ported(
        entry: ProjectEntry, settings: BatchPortSettings, folder: Path, key: str
    ) -> ProjectOutcome:
        done.append(entry.folder)
        return ProjectOutcome(name=entry.folder, source=entry.source, key=key)

    monkeypatch.setattr(batch, "_ported", ported)
    wanted = settings(tmp_path / "out", str(source))
    first = batch.port_kept(wanted.projects[0], wanted)
    assert batch.port_kept(wanted.projects[0], wanted) == first
    assert done == ["a"]
    (source / "a.cu").write_text("int xy;\n")
    batch.port_kept(wanted.projects[0], wanted)
    assert done == ["a", "a"]


def target(build: str, test: str) -> TargetOutcome:
    return TargetOutcome(architecture="gfx1100", build=build, test=test, said="the end")


@pytest.mark.parametrize(
    ("targets", "standing"),
    [
        ((), "refused"),
        ((target("failed", "skipped"),), "failed"),
        ((target("passed", "skipped"),), "built"),
        ((target("passed", "passed"), target("passed", "failed")), "built"),
        ((target("passed", "passed"),), "passed"),
    ],
)
def test_the_standing_of_a_project(targets: tuple[TargetOutcome, ...], standing: str) -> None:
    outcome = ProjectOutcome(name="a", source="a", key="", targets=targets)
    assert outcome.standing == standing


def test_the_report_counts_and_escapes(tmp_path: Path) -> None:
    outcomes = [
        ProjectOutcome(name="b", source="b", key="", why="<no>"),
        ProjectOutcome(name="a", source="a", key="", targets=(target("passed", "passed"),)),
    ]
    page = batch.write_summary(outcomes, tmp_path).read_text()
    assert "&lt;no&gt;" in page and "<no>" not in page
    document = json.loads((tmp_path / batch.REPORT).read_text())
    assert document["counts"] == {"passed": 1, "built": 0, "failed": 0, "refused": 1}
    assert [item["name"] for item in document["projects"]] == ["a", "b"]


@pytest.mark.parametrize("name", ["..", "a/b", "a\nb"])
def test_a_name_is_one_folder(name: str) -> None:
    with pytest.raises(ValidationError):
        ProjectEntry(source="x", name=name)


def test_two_projects_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="two projects are called a"):
        settings(tmp_path, "https://one.org/a.git", "https://other.org/a")


def test_the_command_ports_its_list(tmp_path: Path) -> None:
    """A folder without a build system and one that is not there: both are outcomes."""
    source = tmp_path / "plain"
    source.mkdir()
    (source / "a.cu").write_text("int x;\n")
    projects = tmp_path / "projects.yaml"
    projects.write_text(f"projects:\n  - source: {source}\n  - source: {tmp_path}/none\n")
    made = CliRunner().invoke(app, [str(projects), "-o", str(tmp_path / "out")])
    assert made.exit_code == 1, made.output
    document = json.loads((tmp_path / "out/projects.json").read_text())
    reasons = {item["name"]: item["why"] for item in document["projects"]}
    assert "--build" in reasons["plain"]
    assert "is no folder" in reasons["none"]


def test_an_unknown_target_is_a_matter_of_usage(tmp_path: Path) -> None:
    projects = tmp_path / "projects.yaml"
    projects.write_text("projects: [{source: a}]\narchitectures: [gfx0]\n")
    made = CliRunner().invoke(app, [str(projects), "-o", str(tmp_path / "out")])
    assert made.exit_code == 2
    assert "gfx0" in made.output
