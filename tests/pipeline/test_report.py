from collections.abc import Mapping
from pathlib import Path

import pytest
from rich.console import Console

from cass_ray.dataset.row import Reason, Stage, rejected
from cass_ray.pipeline.progress import Progress
from cass_ray.pipeline.report import ConservationError, Tally, print_summary

PAIR = {
    "id": "a",
    "origin": "local",
    "domain": "graphics",
    "kernels": ["k", "l"],
    "verified": "compiled",
}


def filled() -> Tally:
    tally = Tally()
    tally.add(PAIR)
    tally.add(rejected(PAIR, Stage.FILTER, Reason.NO_KERNEL, ""))
    tally.add(rejected(PAIR, Stage.DEDUPLICATE, Reason.EXACT_DUPLICATE, "", "a"))
    return tally


def test_conservation_counts_pairs_rejects_and_duplicates() -> None:
    filled().check_conservation(3)


@pytest.mark.parametrize("rows_in", [2, 4])
def test_a_lost_or_doubled_row_is_an_error(rows_in: int) -> None:
    with pytest.raises(ConservationError, match=f"{rows_in} rows in"):
        filled().check_conservation(rows_in)


def test_report_counts() -> None:
    assert filled().as_dict() == {
        "rows": 3,
        "pairs": 1,
        "kernels": 2,
        "lifted": 0,
        "duplicates": {"exact_duplicate": 1},
        "rejects": [{"stage": "filter", "reason": "no_kernel", "rows": 1}],
        "origins": {"local": 3},
        "domains": {"graphics": 1},
        "verified": {"compiled": 1},
    }


def test_counts_of_two_halves_are_those_of_the_whole() -> None:
    both, twice = filled(), filled()
    both.merge(filled())
    for row in (
        PAIR,
        rejected(PAIR, Stage.FILTER, Reason.NO_KERNEL, ""),
        rejected(PAIR, Stage.DEDUPLICATE, Reason.EXACT_DUPLICATE, "", "a"),
    ):
        twice.add(row)
    assert both.as_dict() == twice.as_dict()
    both.check_conservation(6)


def test_summary_names_every_reason_and_the_path(tmp_path: Path) -> None:
    console = Console(record=True, width=100)
    print_summary(console, filled(), 1.5, tmp_path)
    text = console.export_text()
    assert "rejected at filter: no kernel" in text
    assert "exact duplicate" in text
    assert str(tmp_path) in text.replace("\n", "")


def test_progress_line_shows_rate_and_time_left() -> None:
    now = [100.0]
    progress = Progress(Console(quiet=True), clock=lambda: now[0])
    progress.expect(to_compile=10, total=12)
    now[0] = 160.0
    progress.add({"rows": 4, "pairs": 4}, compiled=True)
    progress.add({"rows": 1, "live-0": 0, "reason-no_kernel": 1})
    assert progress.line() == "rows 5/12 · pairs 4 · rejects 1 (no_kernel 1)"
    now[0] = 180.0
    progress.add({"rows": 2, "pairs": 2}, compiled=True)
    assert progress.line() == (
        "rows 7/12 · pairs 6 · rejects 1 (no_kernel 1) · 0.10 rows/s · about 40 s left"
    )


def test_progress_says_what_goes_on_and_since_when() -> None:
    now = [100.0]
    console = Console(record=True, width=200, force_terminal=False)
    with Progress(console, clock=lambda: now[0]) as progress:
        progress.step("reading local:programs")
        now[0] = 104.0
        progress.add({"reason-no_kernel": 1})  # too soon after the last line
        now[0] = 220.0
        progress.add({"reason-no_kernel": 1})
        progress.step("")
    assert console.export_text().splitlines() == [
        "0 s · reading local:programs · rows 0 · pairs 0",
        "2 min 0 s · reading local:programs · rows 2 · pairs 0 · rejects 2 (no_kernel 2)",
        "rows 2 · pairs 0 · rejects 2 (no_kernel 2)",
    ]


def test_observers_hear_what_progress_hears() -> None:
    heard: list[object] = []

    class Listener:
        def add(self, counts: Mapping[str, int]) -> None:
            heard.append(dict(counts))

        def expect(self, rows: int) -> None:
            heard.append(rows)

    progress = Progress(Console(quiet=True), observers=[Listener()])
    progress.add({"reason-no_kernel": 2})
    progress.expect(to_compile=3, total=5)
    progress.add({"pairs": 3}, compiled=True)
    assert heard == [{"reason-no_kernel": 2}, 5, {"pairs": 3}]
