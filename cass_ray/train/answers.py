"""What a model that was trained on a recipe answers to a few of its programs.

The answers are read as the ``model:`` engine reads them; nothing is compiled. A loss says little
of a model that has just begun to learn; whether its answers are edits at all says more.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cass_ray.task import Task
from cass_ray.train.data.recipe_files import stored_pairs
from cass_ray.train.run_files import RunFiles
from cass_ray.translate.engines.model import ModelTranslator

_ID_SHOWN = 24


@dataclass(frozen=True)
class AnsweredProgram:
    """One program, asked greedily."""

    program: str
    """The file of the program, or what the id of its pair begins with where none was noted."""
    readable: bool
    """A program could be made of the answer, and the model ended it."""
    problem: str
    """Why not; empty where it could."""
    changed: int
    """Lines of the pair's translation that the program has not."""
    found: int
    """Lines among ``changed`` that the answer has."""
    whole: bool
    """The answer is the pair's translation to the letter."""
    difference: Sequence[str]
    """The answer against the program, as a unified diff of no context."""

    def describe(self) -> str:
        """The answer in a line."""
        if not self.readable:
            return f"{self.program}: {self.problem}"
        same = "; the whole translation, to the letter" if self.whole else ""
        return f"{self.program}: edits; {self.found} of {self.changed} lines as wanted{same}"


def answered_programs(files: RunFiles, number: int) -> list[AnsweredProgram]:
    """The ``number`` shortest programs that were held out, or learned where none were, answered.

    Raises ``cass_ray.translate.protocol.TranslatorError`` for a model that cannot be asked so.
    """
    pairs = list(stored_pairs(files.recipe_held_out)) or list(stored_pairs(files.recipe_pairs))
    pairs.sort(key=lambda pair: (len(pair["cuda_source"]), pair["id"]))
    model = ModelTranslator(str(files.model))
    return [_answered(model, pair) for pair in pairs[:number]]


def _answered(model: ModelTranslator, pair: dict[str, Any]) -> AnsweredProgram:
    asked, wanted = pair["cuda_source"], pair["hip_source"]
    answer = model.samples(asked, Task())[0]
    code = "" if answer.code is None or answer.cut else answer.code
    question_lines, answer_lines = set(asked.split("\n")), set(code.split("\n"))
    changed = [line for line in wanted.split("\n") if line not in question_lines]
    compared = difflib.unified_diff(asked.split("\n"), code.split("\n"), lineterm="", n=0)
    return AnsweredProgram(
        program=pair.get("filename") or pair["id"][:_ID_SHOWN],
        readable=bool(code),
        problem="" if code else "the answer did not end" if answer.cut else answer.problem,
        changed=len(changed),
        found=sum(line in answer_lines for line in changed),
        whole=code == wanted,
        difference=[line for line in compared if not line.startswith(("---", "+++", "@@"))]
        if code
        else [],
    )
