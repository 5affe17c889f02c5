"""Scores, reports and the leaderboard, over samples made by hand."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cass_ray.bench.authoring.index import length_bin
from cass_ray.bench.compile_errors import ErrorClass
from cass_ray.bench.question import AnswerUsage, BenchAnswer, BenchLevel
from cass_ray.bench.reporting.leaderboard import (
    Leaderboard,
    entries_of,
    merge,
    read_board,
    write_board,
)
from cass_ray.bench.reporting.publish import publish
from cass_ray.bench.reporting.report import make_report
from cass_ray.bench.results import BenchSample, Judgement, read_samples, write_samples
from cass_ray.bench.scoring.scores import outcomes, score
from cass_ray.bench.task import Difficulty
from cass_ray.config import SettingsError
from cass_ray.task import Direction


def sample(
    task: str, marks: str, *, number: int = 0, system: str = "rules", **more: object
) -> BenchSample:
    """``marks``: of ``c`` compiled, ``e`` exact and numeric, ``h`` hidden ones, ``p`` passed."""
    judgement = Judgement(
        compiled="c" in marks,
        executed="c" in marks,
        exact="e" in marks,
        numeric="e" in marks,
        hidden_exact="h" in marks,
        hidden_numeric="h" in marks,
        passed="p" in marks,
        errors=[] if "c" in marks else [ErrorClass.UNDECLARED, ErrorClass.UNDECLARED],
        diagnostic="" if "c" in marks else "a.cu:1:2: error: use of undeclared identifier 'x'",
        seconds=2.0,
    )
    values = {
        "system": system,
        "system_version": "1",
        "level": BenchLevel.SOURCE,
        "direction": Direction.CUDA_TO_HIP,
        "task": task,
        "task_id": f"id of {task}",
        "category": "Graph" if task < "c" else "Search",
        "difficulty": Difficulty.HARD if task < "b" else Difficulty.EASY,
        "features": ["atomics"] if task < "c" else ["atomics", "streams"],
        "sass_lines": {"a": 90, "b": 101, "c": 750, "d": 751}.get(task),
        "sample": number,
        "answer": BenchAnswer(
            usage=AnswerUsage(input_tokens=10, output_tokens=5, cost=0.25), seconds=0.5
        ),
        "judgement": judgement,
        "chrf": 50.0 if task == "a" else 100.0,
    }
    return BenchSample.model_validate({**values, **more})


FOUR = [sample("a", "cehp"), sample("b", "ceh"), sample("c", "c"), sample("d", "")]


def test_shares_of_four_tasks() -> None:
    scores = score(FOUR)
    found = {name: (share.right, share.total) for name, share in scores.measures.items()}
    assert found == {
        "compiled": (3, 4),
        "exact": (2, 4),
        "numeric": (2, 4),
        "hidden_exact": (2, 4),
        "hidden_numeric": (2, 4),
        "passed": (1, 4),
    }
    # Wilson, 1 of 4, z = 1.96: (0.25 + 0.4802 ± 1.96·√(0.046875 + 0.060031)) / 1.9604.
    passed = scores.measures["passed"]
    assert (passed.low, passed.high) == pytest.approx((0.0456, 0.6994), abs=5e-5)
    assert scores.chrf == (50 + 100 + 100 + 100) / 4
    assert scores.pass_at == {1: 0.25}
    assert scores.errors == {"undeclared_identifier": 1}
    assert scores.totals.input_tokens == 40
    assert scores.totals.cost == 1.0
    assert scores.totals.judge_seconds == 8.0


def test_strata() -> None:
    strata = score(FOUR).strata
    categories = {name: (share.right, share.total) for name, share in strata["category"].items()}
    assert categories == {"Graph": (1, 2), "Search": (0, 2)}
    features = {name: (share.right, share.total) for name, share in strata["feature"].items()}
    assert features == {"atomics": (1, 4), "streams": (0, 2)}
    assert {name: share.total for name, share in strata["length"].items()} == {
        "1-100": 1,
        "101-250": 1,
        "501-750": 1,
        "> 750": 1,
    }


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (1, "1-100"),
        (100, "1-100"),
        (101, "101-250"),
        (750, "501-750"),
        (751, "> 750"),
        (None, "unknown"),
    ],
)
def test_length_bins(lines: int | None, name: str) -> None:
    assert length_bin(lines) == name


def test_samples_give_pass_at_k_and_the_best() -> None:
    # Task a: 1 of 5 right, its best by the visible inputs is the one that is right.
    # Task b: 2 of 5 right, but a wrong one looks right on the visible inputs and comes first.
    group = [sample("a", marks, number=n) for n, marks in enumerate(["c", "", "cehp", "c", "c"])]
    group += [
        sample("b", marks, number=n) for n, marks in enumerate(["c", "ce", "cehp", "cehp", ""])
    ]
    scores = score(group)
    assert scores.samples == 10
    assert scores.measures["passed"].right == 0  # the first samples
    assert scores.pass_at[1] == pytest.approx((1 / 5 + 2 / 5) / 2)
    assert scores.pass_at[2] == pytest.approx((2 / 5 + (1 - 3 / 10)) / 2)
    assert scores.pass_at[5] == 1.0
    assert (scores.best_of.right, scores.best_of.total) == (1, 2)


def test_a_failed_call_is_no_answer_and_not_right() -> None:
    failed = sample("d", "", judgement=Judgement(answered=False, problem="429"))
    scores = score([*FOUR[:3], failed])
    assert (scores.answered, scores.samples, scores.undecided) == (3, 4, 0)
    assert scores.measures["passed"].total == 4


def test_outcomes_are_of_first_samples() -> None:
    again = [sample("c", "cehp", number=1), *FOUR]
    assert outcomes(again, "passed") == {"a": True, "b": False, "c": False, "d": False}


def test_results_survive_the_file(tmp_path: Path) -> None:
    assert write_samples(tmp_path / "samples.jsonl", FOUR) == 4
    assert list(read_samples(tmp_path)) == FOUR


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    write_samples(path, FOUR)
    path.write_text(path.read_text().replace('"system_version"', '"system_versoin"', 1))
    with pytest.raises(SettingsError, match=r"jsonl:1: .*did you mean `system_version`"):
        list(read_samples(path))


def two_systems() -> list[BenchSample]:
    other = [sample(task, "cehp", system="other") for task in "abc"]
    return [*FOUR, *other, sample("d", "", system="other")]


def test_the_report_compares_in_pairs() -> None:
    report = make_report(two_systems())
    (pair,) = report.pairs
    result = pair.result
    assert (result.both, result.only_first, result.only_second, result.neither) == (1, 0, 2, 1)
    assert result.p == 0.5  # 2 / 2^2
    earlier = make_report(FOUR, {"before": [sample(task, "cehp") for task in "abcd"]})
    assert earlier.pairs[0].second == "before: rules"
    assert earlier.pairs[0].result.only_second == 3


def test_ablations_and_steps_come_from_tags() -> None:
    runs = [
        sample("a", marks, system="model:x", tags={"data": "stack", "step": step})
        for step, marks in (("100", "c"), ("200", "cehp"))
    ]
    report = make_report(runs)
    (table,) = [table for table in report.tables if table.title == "Ablation"]
    assert table.head == ["system", "data", "step", "compiles", "exact", "right"]
    assert table.rows == [
        ["model:x", "stack", "100", "100.0%", "0.0%", "0.0%"],
        ["model:x", "stack", "200", "100.0%", "100.0%", "100.0%"],
    ]


class _Page(HTMLParser):
    """Checks nesting, and collects what a page would load."""

    VOID = frozenset({"meta", "br", "link", "img"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        values = [value or "" for name, value in attrs if name in {"src", "href", "xlink:href"}]
        self.loads += [value for value in values if not value.startswith("#")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def test_the_page_is_whole_and_loads_nothing(tmp_path: Path) -> None:
    stepped = [
        sample("a", "cehp", system="model:x", tags={"step": step}) for step in ("100", "200")
    ]
    publish(tmp_path, [*two_systems(), *stepped], title="A <b>title</b> & more")
    text = (tmp_path / "report.html").read_text()
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert page.loads == []
    assert "A &lt;b&gt;title&lt;/b&gt; &amp; more" in text
    assert text.count("<svg") == 5
    assert {"Systems", "Paired comparison", "By category", "By training step"} <= set(page.headings)
    markdown = (tmp_path / "report.md").read_text()
    assert re.search(r"\| rules \| 4 \| 4/4 \| 75\.0% \| 50\.0% \|", markdown)
    assert "undeclared_identifier: a.cu:1:2: error: use of undeclared identifier 'x'" in markdown


def test_the_leaderboard_merges_runs(tmp_path: Path) -> None:
    for name, samples in (("one", FOUR), ("two", two_systems())):
        (tmp_path / name).mkdir()
        write_samples(tmp_path / name / "samples.jsonl", samples)
    path = tmp_path / "board.json"
    write_board(path, merge(Leaderboard(), entries_of(tmp_path / "one")))
    board = merge(read_board(path), entries_of(tmp_path / "two"))
    assert [(entry.scores.system, entry.source) for entry in board.entries] == [
        ("other", "two"),
        ("rules", "two"),  # the same run again: the later one stands
    ]
    write_board(path, board)
    assert read_board(path) == board


def test_other_tasks_are_another_contest(tmp_path: Path) -> None:
    for name, samples in (("all", FOUR), ("some", FOUR[:2])):
        (tmp_path / name).mkdir()
        write_samples(tmp_path / name / "samples.jsonl", samples)
    board = merge(Leaderboard(), entries_of(tmp_path / "all"))
    board = merge(board, entries_of(tmp_path / "some"))
    assert len({entry.tasks_digest for entry in board.entries}) == 2
