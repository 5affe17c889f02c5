"""The job: results on disk, resuming, errors that a person can act on; slow tests use Ray."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.bench.results import read_samples
from jobs.run_bench import app
from tests.bench.conftest import MakeTask

runner = CliRunner()


def bench(*arguments: str) -> tuple[int, str]:
    """Exit code and what was printed."""
    done = runner.invoke(app, list(arguments))
    return done.exit_code, done.output


@pytest.fixture
def folder(make_task: MakeTask) -> str:
    return str(make_task().parent.parent)


@pytest.mark.amd
def test_a_run_leaves_results_and_goes_on_where_it_stopped(folder: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"task": "sum_of_squares", "answer": "int main() {"}) + "\n")
    systems = [f"--system={name}" for name in ("reference", "echo", f"answers:{answers}")]
    common = ["--no-cluster", f"--set=tasks_folder={folder}", f"--out={out}"]
    code, said = bench(*systems, *common)  # without `run`, as cass bench --system
    assert code == 0, said
    assert "1 tasks, 3 samples, 3 to make" in said
    verdicts = {sample.system: sample.judgement for sample in read_samples(out)}
    assert verdicts["reference"].passed
    assert not verdicts["echo"].compiled
    assert not verdicts[f"answers:{answers}"].compiled
    assert {path.name for path in out.iterdir()} >= {"report.md", "report.html", "scores.json"}
    first = (out / "samples.jsonl").read_bytes()

    code, said = bench("run", *systems, "--system=rules", *common, "--resume")
    assert code == 0, said
    assert "1 tasks, 4 samples, 1 to make" in said
    assert first.splitlines()[0] in (out / "samples.jsonl").read_bytes()

    code, said = bench("report", str(out), f"--out={tmp_path / 'again'}", "--rescore")
    assert code == 0, said
    assert (tmp_path / "again" / "report.html").exists()
    code, said = bench("leaderboard", str(tmp_path / "board.json"), str(out), "--json")
    assert code == 0, said
    assert [entry["scores"]["system"] for entry in json.loads(said)["entries"]][:2] == [
        "reference",
        "rules",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--system=ruls"], "did you mean rules?"),
        (["--system=rules", "--set=smaples=3"], "did you mean `samples`?"),
        (["--system=rules", "--arch=sm_8"], "sm_8: did you mean `sm_8"),
        (["--system=rules", "--task=sum_of_square"], "did you mean `sum_of_squares`?"),
        (["--system=answers:missing.jsonl"], "missing.jsonl"),
        ([], "systems"),
    ],
)
@pytest.mark.amd
def test_mistakes_are_named(
    folder: str, tmp_path: Path, arguments: list[str], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    common = ["--no-cluster", f"--set=tasks_folder={folder}", f"--out={tmp_path / 'out'}"]
    code, said = bench("run", *arguments, *common)
    assert code == 2
    assert words in said + capfd.readouterr().err


@pytest.mark.amd
@pytest.mark.slow
def test_the_cluster_gives_the_same(folder: str, tmp_path: Path) -> None:
    results = {}
    for mode, flags in (("threads", ["--no-cluster"]), ("ray", [])):
        out = tmp_path / mode
        systems = [f"--system={name}" for name in ("reference", "echo", "rules", "rules+repair")]
        code, said = bench(*systems, *flags, f"--set=tasks_folder={folder}", f"--out={out}")
        assert code == 0, said
        results[mode] = [
            (sample.system, sample.answer.files, sample.judgement.passed)
            for sample in read_samples(out)
        ]
    assert results["ray"] == results["threads"]


@pytest.mark.amd
@pytest.mark.nvidia
@pytest.mark.slow
def test_the_assembly_level(folder: str, tmp_path: Path) -> None:
    systems = [f"--system={name}" for name in ("reference", "echo", "lift")]
    flags = ["--level=assembly", "--arch=sm_80", "--arch=sm_90", "--no-cluster"]
    code, said = bench(*systems, *flags, f"--set=tasks_folder={folder}", f"--out={tmp_path}")
    assert code == 0, said
    verdicts = {
        (sample.system, sample.architecture): sample.judgement.passed
        for sample in read_samples(tmp_path)
    }
    assert verdicts == {
        ("reference", "sm_80"): True,
        ("reference", "sm_90"): True,
        ("echo", "sm_80"): False,
        ("echo", "sm_90"): False,
        ("lift", "sm_80"): True,
        ("lift", "sm_90"): True,
    }
