"""What a change brings in: only what is new counts, and text of the change stays text."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cass_ray.project.changes import Change, compare, main, summary
from cass_ray.translate.protocol import Finding, Severity

BAD = """\
void f(float *p) {
    int h[4];
    cudaMalloc(&p, 16);
    cudaMemcpy(h, p, 16, cudaMemcpyHostToDevice);
}
"""
GOOD = BAD.replace("HostToDevice", "DeviceToHost")


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "old.cu").write_text(BAD)
    (folder / "fine.cu").write_text(GOOD)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    git(folder, "checkout", "-qb", "change")
    return folder


def checked(folder: Path, *options: str) -> tuple[int, list[tuple[str, str, int]], str]:
    """Exit code, (rule, file, line) of the SARIF, and the summary."""
    sarif, markdown = folder.parent / "out.sarif", folder.parent / "out.md"
    outputs = ["--sarif", str(sarif), "--summary", str(markdown)]
    code = main(["--root", str(folder), "--base", "main", *outputs, *options])
    [run] = json.loads(sarif.read_text())["runs"]
    found = []
    for each in run["results"]:
        place = each["locations"][0]["physicalLocation"]
        line = place["region"]["startLine"]
        found.append((each["ruleId"], place["artifactLocation"]["uri"], line))
    return code, found, markdown.read_text()


def test_what_was_there_before_does_not_count(repository: Path) -> None:
    (repository / "old.cu").write_text("// a line above\n" + BAD)
    (repository / "notes.txt").write_text("cudaMemcpy")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "moved")
    code, found, markdown = checked(repository)
    assert (code, found) == (0, [])
    assert "0 new finding(s) in 1 changed file(s)" in markdown
    assert "1 that were there before" in markdown


def test_a_regression_fails_and_is_named(repository: Path) -> None:
    (repository / "fine.cu").write_text(BAD)
    git(repository, "commit", "-qam", "broken")
    code, found, markdown = checked(repository)
    assert (code, found) == (1, [("CASS1018", "fine.cu", 4)])
    assert "| fine.cu:4 | CASS1018 | error |" in markdown
    assert checked(repository, "--fail-on", "never")[0] == 0


def test_warnings_fail_only_where_asked(repository: Path) -> None:
    launch = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n"
    (repository / "new.cu").write_text(launch)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "launch")
    code, found, _ = checked(repository)
    assert (code, found) == (0, [("CASS1023", "new.cu", 2)])
    assert checked(repository, "--fail-on", "warning")[0] == 1


def test_files_are_checked_without_a_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.cu").write_text(BAD)
    assert main(["--root", str(tmp_path), "a.cu"]) == 1
    assert "a.cu:4:5: error: wrong direction" in capsys.readouterr().out
    assert main(["--root", str(tmp_path), "missing.cu"]) == 2
    assert main(["--root", str(tmp_path), "--base", "main"]) == 2
    for wrong in ([], ["--base", "--output=x"]):
        with pytest.raises(SystemExit) as ended:
            main(wrong)
        assert ended.value.code == 2


def test_findings_are_compared_by_what_they_say() -> None:
    one, moved = (Finding(line, 1, "k", Severity.ERROR, "same") for line in (1, 9))
    other = Finding(2, 1, "k", Severity.ERROR, "other")
    assert compare([one], [moved]) == ()
    assert compare([one], [moved, one, other]) == (one, other)


def test_a_comment_holds_no_markup_of_the_change() -> None:
    hostile = "</td><img src=x>@everyone [a](http://x) | `b`\n# head\x1b[2J"
    text = summary([Change(hostile, (Finding(1, 1, "k", Severity.ERROR, hostile),))])
    row = text.splitlines()[-1]
    assert row.startswith("| ")
    assert row.count("|") == 6
    assert not set("<@`[\x1b") & set(row)
