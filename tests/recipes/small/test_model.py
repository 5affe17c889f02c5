"""How many steps a run has that is begun once more."""

from __future__ import annotations

from pathlib import Path

from recipes.small.model import Pace


def test_a_run_goes_on_with_no_more_steps_than_fit() -> None:
    pace = Pace(steps=1000, step_seconds=0.5)
    assert pace.after(400, seconds=100) == Pace(600, 0.5)
    assert pace.after(900, seconds=100) == pace
    assert pace.after(400, seconds=0) == Pace(401, 0.5)  # the one that makes it a whole run
    assert pace.steps_in(180) == 360


def test_the_pace_is_kept(tmp_path: Path) -> None:
    assert Pace.kept(tmp_path / "pace.json") is None
    Pace(1000, 0.5).keep(tmp_path / "pace.json")
    assert Pace.kept(tmp_path / "pace.json") == Pace(1000, 0.5)
