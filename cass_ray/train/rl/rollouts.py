"""Answers drawn from a model: what is asked, what came back, and who makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from cass_ray.llm.batch_decode import BatchDecoder, EditMarks
from cass_ray.llm.line_edits import MARKS
from cass_ray.llm.translation_format import TranslationFormat, UnusableAnswer
from cass_ray.train.rl.settings import SamplingSettings


class RolloutsLost(RuntimeError):
    """Whoever made rollouts is gone, and they with it."""


@dataclass(frozen=True)
class Question:
    """A CUDA program that is to be translated by numbered edits."""

    id: str
    cuda: str
    translation: str = ""
    """What the rules make of it, for comparison; the model is not shown it."""
    of: str = ""
    """The id of the question that this one asks in other words, if it does."""
    names: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What is written in that one instead of which of these words."""

    @property
    def lines(self) -> list[str]:
        return self.cuda.replace("\r\n", "\n").split("\n")


@dataclass(frozen=True)
class Rollout:
    """One answer."""

    question: Question
    tokens: list[int]
    log_probs: list[float]
    """Of each token, under the weights and constraints that it was drawn with."""
    text: str
    """The answer as it was written."""
    code: str | None
    """The program that it makes; None where it makes none."""
    problem: str = ""
    """Why not."""


class RolloutMaker(Protocol):
    """Draws groups of answers: here, in a process of its own, or on a cluster."""

    def use_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Draw with ``weights`` (by the model's names) from now on."""
        ...

    def rollouts(self, questions: Sequence[Question]) -> list[list[Rollout]]:
        """A group of answers to each of ``questions``. Raises :class:`RolloutsLost`."""
        ...


class DecoderRollouts:
    """A :class:`RolloutMaker` of this process: ``model`` under the batching decoder."""

    def __init__(
        self, model: Any, form: TranslationFormat, settings: SamplingSettings, seed: int = 0
    ) -> None:
        self._model, self._form, self._settings = model, form, settings
        self._decoder = BatchDecoder(model)
        torch.manual_seed(seed)

    @torch.no_grad()
    def use_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        own = self._model.state_dict()
        for name, tensor in weights.items():
            own[name].copy_(tensor)

    def rollouts(self, questions: Sequence[Question]) -> list[list[Rollout]]:
        settings = self._settings
        return self._answers(questions, settings.group, settings.temperature)

    def greedy(self, questions: Sequence[Question]) -> list[Rollout]:
        """The likeliest answer to each of ``questions``, of as many tokens as rollouts may have."""
        return [answer for [answer] in self._answers(questions, 1, 0.0)]

    def _answers(
        self, questions: Sequence[Question], number: int, temperature: float
    ) -> list[list[Rollout]]:
        form = self._form
        asked = sorted(questions, key=lambda question: len(question.cuda))
        rows = [question for question in asked for _ in range(number)]
        ids = {question.id: form.edit_question(question.lines) for question in asked}
        sampled = self._decoder.sample(
            [ids[question.id] for question in rows],
            self._settings.max_new_tokens,
            [temperature] * len(rows),
            form.end,
            edits=edit_marks(form, rows),
        )
        groups: dict[str, list[Rollout]] = {question.id: [] for question in questions}
        for question, answer in zip(rows, sampled, strict=True):
            made = read_rollout(form, question, answer.tokens, answer.log_probs)
            groups[question.id].append(made)
        return list(groups.values())


def edit_marks(form: TranslationFormat, rows: Sequence[Question]) -> EditMarks:
    """What answers to ``rows`` may hold."""
    return EditMarks(form.first_mark, MARKS, [len(question.lines) for question in rows])


def read_rollout(
    form: TranslationFormat, question: Question, tokens: list[int], log_probs: list[float]
) -> Rollout:
    """The program of an answer, or why there is none."""
    code, problem = None, ""
    try:
        code = form.read_edits(question.lines, tokens)
    except UnusableAnswer as error:
        problem = str(error)
    return Rollout(question, tokens, log_probs, form.text_of(tokens), code, problem)
