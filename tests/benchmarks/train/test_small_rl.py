"""What of a run's records is read for hacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.train.small_rl import read


def test_answers_that_were_rewarded_as_translations_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def row(name: str, outcome: str, reward: float, same: bool) -> dict[str, object]:
        difference = [] if same else [f"+{name}"]
        return {
            "step": 1,
            "question": name,
            "reward": reward,
            "outcome": outcome,
            "as_rules": same,
            "difference": difference,
        }

    rows = [
        row("accepted", "compiles", 1.0, False),
        row("accepted", "compiles", 1.0, False),  # an equal difference is read once
        row("letter", "compiles", 1.0, True),
        row("other", "compiles to other code", 0.1, False),
        row("broken", "does not compile", 0.1, False),
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    read(tmp_path, 200)
    said = capsys.readouterr().out
    assert said.startswith("3 rewarded answers, 2 not as the rules, 1 different differences")
    assert "+accepted" in said
    assert "+other" not in said and "+broken" not in said
