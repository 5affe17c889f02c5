"""Every answer that was rewarded, kept so that a person can read what the reward was given for."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cass_ray.execute.rewards.verdicts import RewardVerdict
from cass_ray.train.rl.rollouts import EditQuestion, Rollout

ANSWERS, QUESTIONS, GUIDED = "answers.jsonl", "questions.jsonl", "guided.jsonl"


class RewardRecords:
    """JSON lines in ``folder``: of every step its answers, and each question once that has one to
    be read for hacks.

    An answer has its ``reward``, the ``outcome`` and ``reason``, and whether it is the rules'
    translation to the letter (``as_rules``). To be read are those that are rewarded and are not:
    these have the ``difference`` from it, line by line.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._answers, self._questions = folder / ANSWERS, folder / QUESTIONS
        self._known = {row["id"] for row in _rows(self._questions)}

    def keep(self, step: int, group: Sequence[Rollout], verdicts: Sequence[RewardVerdict]) -> None:
        """The answers of a group, as they were judged."""
        question = group[0].question
        pairs = list(zip(group, verdicts, strict=True))
        read = [bool(v.reward) and each.code != question.translation for each, v in pairs]
        if any(read) and question.id not in self._known:
            self._known.add(question.id)
            row = {"id": question.id, "cuda": question.cuda, "rules": question.translation}
            _append(self._questions, [row])
        rows: list[dict[str, Any]] = []
        for (rollout, verdict), compared in zip(pairs, read, strict=True):
            code = rollout.code
            rows.append(
                {
                    "step": step,
                    "question": question.id,
                    "reward": verdict.reward,
                    "outcome": verdict.outcome.value,
                    "reason": verdict.reason[:600],
                    "as_rules": code == question.translation,
                    "answer": rollout.text,
                    "difference": _difference(question.translation, code) if compared else [],
                }
            )
        _append(self._answers, rows)

    def keep_guided(self, step: int, questions: Sequence[EditQuestion]) -> None:
        """Questions whose known answer was learned from in ``step``."""
        _append(self._folder / GUIDED, [{"step": step, "question": each.id} for each in questions])


def read_answers(folder: Path) -> Iterator[dict[str, Any]]:
    """The answers in ``folder``, in the order in which they were judged."""
    yield from _rows(folder / ANSWERS)


def _difference(translation: str, code: str | None) -> list[str]:
    if code is None or not translation:
        return []
    compared = difflib.unified_diff(translation.split("\n"), code.split("\n"), lineterm="", n=0)
    return [line for line in compared if not line.startswith(("---", "+++"))]


def _append(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        return
    with path.open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        with path.open(encoding="utf-8") as stream:
            yield from map(json.loads, stream)
