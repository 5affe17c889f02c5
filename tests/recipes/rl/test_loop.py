"""What of a run's records is read for hacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cass_ray.train.rl.rollouts import EditQuestion, Rollout
from recipes.rl.held_out import gains, write_answers
from recipes.rl.loop import read


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


def test_gains_are_of_the_same_answers_before_and_after(tmp_path: Path) -> None:
    def row(task: str, same: bool, label: str = "public-edits") -> str:
        made = {"label": label, "task": task, "temperature": 0.0, "same": same, "compiles": True}
        return json.dumps(made) + "\n"

    before, after = tmp_path / "before", tmp_path / "after"
    before.write_text(row("a", False) + row("b", True) + row("c", False) + row("fresh-ptx-1", True))
    after.write_text(row("a", True) + row("b", False) + row("c", True) + row("d", True))
    found = list(gains(before, after))[2:]
    # Of a, b and c one was right and two are; the programs that one side lacks do not count.
    counted = "3 | 1 (33.3%) | 2 (66.7%) | +33.3 | 2, 1 |"
    assert f"| edits: same | public | {counted}" in found
    assert f"| edits: same | all | {counted}" in found
    assert not any("fresh-ptx" in line for line in found)


def test_answers_within_a_run_are_written_as_others_are(tmp_path: Path) -> None:
    asked = EditQuestion("a", "int a;")
    write_answers(
        [Rollout(asked, [1, 2], [], "", "int b;"), Rollout(asked, [1], [], "", None, "it was cut")],
        tmp_path / "rl-050",
    )
    lines = (tmp_path / "rl-050/public-edits.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"task": "a", "temperature": 0.0, "tokens": 2, "code": "int b;"},
        {"task": "a", "temperature": 0.0, "tokens": 1, "problem": "it was cut"},
    ]
