"""Questions with their answers, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import Field, StringConstraints

from cass_ray.config import StrictModel

LONGEST_PROGRAM = 1 << 20
"""Characters of a question or an answer."""
LARGEST_BATCH = 1024

Text = Annotated[str, StringConstraints(max_length=LONGEST_PROGRAM)]
Argument = Annotated[str, StringConstraints(max_length=4096)]


class RewardItem(StrictModel):
    """A CUDA program and what a model answered: HIP, bare or in a fence."""

    question: Text
    answer: Text
    inputs: list[Annotated[list[Argument], Field(max_length=64)]] = Field(
        default=[[]], min_length=1, max_length=32
    )
    """Arguments of each run. Those that the model never saw keep it from printing constants."""
    order_free: bool = False
    """Lines may come in any order."""


class Outcome(StrEnum):
    """What became of an answer."""

    RIGHT = "right"
    NOT_SHOWN = "right output, independence not shown"
    WRONG = "wrong output"
    NOT_RUN = "does not run"
    COMPILED = "compiles"
    """By a judge that runs nothing."""
    OTHER_CODE = "compiles to other code"
    """Than the rules' translation, by that judge."""
    UNPROVED = "the rules' translation, which does not compile"
    """By that judge."""
    LITERAL = "the rules' translation to the letter"
    """By that judge, where it is worth the same whether it compiles."""
    NOT_COMPILED = "does not compile"
    NO_CODE = "no program"
    FORGED = "looks right without being right"
    UNDECIDED = "undecided"


class RewardVerdict(StrictModel):
    """The reward, from 0 to 1, and what it rests on; None where nothing can be said.

    An undecided answer is none that was wrong: it must be left out of the batch, not punished.
    """

    reward: float | None
    outcome: Outcome
    inputs: int = 0
    right: int = 0
    """Inputs on which it printed what the original printed."""
    reason: str = ""
    findings: list[str] = []
    """What it does that only forgeries do."""
    reference: str = ""
    """What it was compared with (:class:`cass_ray.execute.references.ReferenceRuns`)."""
    grade: str = ""
    """The grade of the check (:class:`cass_ray.execute.grades.Grade`)."""
    independent: bool = False
    """Whether no translation of ours made the reference."""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return self.outcome is Outcome.RIGHT


class PartialCredit(StrictModel):
    """What an answer gets that is not right; one that looks forged gets nothing."""

    compiled: float = Field(default=0.1, ge=0, le=1)
    ran: float = Field(default=0.1, ge=0, le=1)
    """It ran to its end on every input, and launched kernels where the original did."""
    right_inputs: float = Field(default=0.5, ge=0, le=1)
    """Times the share of inputs that were right."""


class ItemJudge(Protocol):
    """Judges one answer (:class:`cass_ray.execute.rewards.judge.RewardJudge`)."""

    def judge(self, item: RewardItem) -> RewardVerdict: ...


class Rewarder(Protocol):
    """Judges batches: here, on a cluster, or at a server."""

    def rewards(self, items: Sequence[RewardItem]) -> list[RewardVerdict]: ...


def undecided(reason: str, grade: str = "") -> RewardVerdict:
    """A verdict that says nothing of the answer."""
    return RewardVerdict(reward=None, outcome=Outcome.UNDECIDED, reason=reason, grade=grade)
