"""Aligned pairs to instruction examples, as tokens.

A pair gives one example per task it has code for; the answer alone is learned.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cass_ray.assembly import sass
from cass_ray.dataset.row import Verified
from cass_ray.llm.chat_format import ChatTokenizer, encode_with_answer
from cass_ray.llm.prompts import PromptFormat, prompt_format
from cass_ray.task import Level, Task
from cass_ray.train.settings import DataSettings

COLUMNS = (
    "id",
    "verified",
    "cuda_source",
    "hip_source",
    "cuda_device",
    "hip_device",
    "cuda_device_by_arch",
)
"""Columns of a pair that examples are made of."""
LIFTED = "lifted"
"""Needed too where the lifter's assembly is learned; older data sets do not have it."""
LEVEL_COLUMNS = ("level", "lifted_side")
"""Say which rows have a port; older data sets have such rows only."""

_LEVELS = {"none": 0, "compiled": 1, "executed": 2}


class DataError(ValueError):
    """The data cannot be trained on; the message says what to change."""


def is_held_out(pair: str, share: float) -> bool:
    """Whether a program is kept for evaluation: a property of its id, not of the run."""
    number = int.from_bytes(hashlib.sha256(f"held-out {pair}".encode()).digest()[:8], "big")
    return number < share * 2**64


@dataclass(frozen=True)
class ExampleGenerator:
    """Makes the examples of pairs, by settings."""

    settings: DataSettings
    tokenizer: ChatTokenizer

    def examples(self, pair: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Rows of ``EXAMPLE_SCHEMA``, also for what is dropped."""
        for task in self.settings.parsed_tasks:
            for code in codes(pair, task, self.settings):
                row = self._example(task, code)
                if _LEVELS.get(code.verified, 0) < _LEVELS[self.settings.require]:
                    row |= _dropped(f"not {self.settings.require}")
                executed = code.verified == Verified.EXECUTED
                yield row | {
                    "pair": pair["id"],
                    "task": f"{task}{code.suffix}",
                    "weight": self.settings.executed_weight if executed else 1.0,
                    "held_out": is_held_out(pair["id"], self.settings.held_out),
                }

    def _example(self, task: Task, code: Code) -> dict[str, Any]:
        question, answer = code.question, code.answer
        if not question.strip() or not answer.strip():
            return _dropped(code.why_none)
        style: PromptFormat = prompt_format(self.settings.prompt)
        asked, said = style.messages(task, question), style.answer(task, answer)
        tokens, start = encode_with_answer(self.tokenizer, asked, said)
        if len(tokens) > self.settings.window:
            return _dropped("longer than the window")
        return {"tokens": tokens, "answer_start": start, "dropped": ""}


def _dropped(reason: str) -> dict[str, Any]:
    return {"tokens": [], "answer_start": 0, "dropped": reason}


@dataclass(frozen=True)
class Code:
    """Both sides of an example; ``suffix`` goes after the task's name."""

    suffix: str
    question: str
    answer: str
    verified: str
    why_none: str = "no code"
    """Why there is no example, where a side is empty."""


def codes(pair: Mapping[str, Any], task: Task, settings: DataSettings) -> Iterator[Code]:
    """One of the source level; at the assembly level one for each Nvidia architecture asked for."""
    question, answer = task.columns
    verified = pair["verified"] or Verified.NONE.value
    if task.level is Level.SOURCE:
        why = "no source on both sides" if pair.get("level") == Level.ASSEMBLY else "no code"
        yield Code("", pair[question] or "", pair[answer] or "", verified, why)
        return
    listings = {item["arch"]: item["sass"] for item in pair["cuda_device_by_arch"] or ()}
    lifted = {item["arch"]: item for item in pair.get(LIFTED) or ()}
    side = pair.get("lifted_side")
    if side is not None:
        here = {"rdna3": pair["hip_device"], "verified": verified}
        lifted = {side["arch"]: here, **lifted}
    why = "lifted, and data.rdna3 is compiled" if side and settings.rdna3 != LIFTED else "no code"
    for name in [name for name in settings.architectures if name in listings] or [""]:
        nvidia = sass.normalize(listings[name] if name else pair["cuda_device"] or "")
        amd = "" if side else pair["hip_device"] or ""
        if settings.rdna3 == LIFTED:
            # Without a name it is the first architecture's, as `cuda_device` is.
            module = lifted.get(name) if name else next(iter(lifted.values()), None)
            amd, verified = (module["rdna3"], module["verified"]) if module else ("", verified)
        sides = {"cuda_device": nvidia, "hip_device": amd}
        yield Code(f":{name}" if name else "", sides[question], sides[answer], verified, why)


def is_source_pair(row: Mapping[str, Any]) -> bool:
    """Whether ``row`` has a source on both sides."""
    return bool(row.get("cuda_source") and row.get("hip_source"))


def split_rows(
    rows: Iterable[dict[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Counter[str]]:
    """Rows for training, rows held out, and how many were dropped for which reason.

    Raises ``DataError`` when nothing is left to train on.
    """
    train: list[dict[str, Any]] = []
    held_out: list[dict[str, Any]] = []
    dropped: Counter[str] = Counter()
    for row in rows:
        if row["dropped"]:
            dropped[row["dropped"]] += 1
        else:
            (held_out if row["held_out"] else train).append(row)
    if not train:
        reasons = ", ".join(f"{number} {reason}" for reason, number in dropped.most_common())
        raise DataError(
            "no example to train on"
            + (f" ({reasons})" if reasons else " (the data sets hold no pairs)")
            + "; raise data.window, lower data.require or data.held_out, or name more data sets"
        )
    return train, held_out, dropped
