"""Answers drawn from a model: what is asked, what came back, and who makes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from queue import SimpleQueue
from typing import Any, Protocol

import torch

from cass_ray.execute.rewards.verdicts import RewardItem
from cass_ray.llm.batch_decode import BatchDecoder, EditMarks, Sampled
from cass_ray.llm.continuous_decode import ContinuousDecoder, GroupAsked
from cass_ray.llm.line_edits import MARKS
from cass_ray.llm.translation_format import TranslationFormat, UnusableAnswer
from cass_ray.train.rl.rollouts_lost import RolloutsLost
from cass_ray.train.rl.settings import SamplingSettings
from cass_ray.train.rl.worker_thread import WorkerThread


class RenamedItem(RewardItem):
    """An answer to a question that may have been asked in other words."""

    names: dict[str, str] = {}
    """Each key is a name of this question; its value stands in the first question instead."""


@dataclass(frozen=True)
class EditQuestion:
    """A CUDA program that is to be translated by numbered edits."""

    id: str
    cuda: str
    translation: str = ""
    """What the rules make of it, for comparison; the model is not shown it."""
    of: str = ""
    """The id of the question that this one asks in other words, if it does."""
    names: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What is written in that one instead of which of these words."""
    answer_tokens: int = 0
    """Of the answer that makes ``translation``, in the words of the question it is ``of``; 0: not
    known."""

    @property
    def lines(self) -> list[str]:
        return self.cuda.replace("\r\n", "\n").split("\n")


@dataclass(frozen=True)
class Rollout:
    """One answer."""

    question: EditQuestion
    tokens: list[int]
    log_probs: list[float]
    """The log-probability of each token, as it was drawn."""
    text: str
    """The answer as it was written."""
    code: str | None
    """The program that it makes; None where it makes none."""
    problem: str = ""
    """Why not."""
    is_reference: bool = False
    """Whether no policy drew it: it is the known right answer."""


class RolloutGenerator(Protocol):
    """Draws groups of answers: here, in a process of its own, or on a cluster.

    May be asked by several threads; what one asks is drawn beside what another has asked.
    """

    def use_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Draw with ``weights`` (by the model's names) from now on, answers that are begun too."""
        ...

    def rollouts(self, questions: Sequence[EditQuestion]) -> Iterator[list[Rollout]]:
        """A group of answers to each of ``questions``, in the order in which they have ended.

        Raises :class:`RolloutsLost`.
        """
        ...


_SLACK = 64
"""Tokens that an answer may have beyond ``beyond_reference``."""
_LONGEST_GREEDY, _BEYOND_QUESTION = 3000, 500
"""Tokens of a likeliest answer, at most, and how many more than its question has: those of the
measurements outside a run (``recipes.small.answers``)."""
_GREEDY_ROWS = 160

_Drawn = tuple[EditQuestion, list[Sampled]] | RolloutsLost


class DecoderRollouts:
    """A :class:`RolloutGenerator` of this process: ``model`` under the batching decoder.

    One thread decodes all that is asked in one batch without an end; ``longest``: tokens of a
    question, at most.
    """

    def __init__(
        self,
        model: Any,
        form: TranslationFormat,
        settings: SamplingSettings,
        seed: int = 0,
        longest: int = 3500,
    ) -> None:
        self._model, self._form, self._settings = model, form, settings
        self._decoder = BatchDecoder(model)
        most: int = model.config.max_position_embeddings
        self._longest = min(longest + settings.max_new_tokens, most)
        self._continuous: ContinuousDecoder | None = None
        self._asked: dict[int, tuple[EditQuestion, SimpleQueue[_Drawn]]] = {}
        self._keys = count()
        self._thread = WorkerThread(self._advance, "cass-rl-decoder")
        torch.manual_seed(seed)

    def use_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        self._thread.call(lambda: self._take(weights))

    @torch.no_grad()
    def _take(self, weights: Mapping[str, torch.Tensor]) -> None:
        own = self._model.state_dict()
        for name, tensor in weights.items():
            own[name].copy_(tensor)

    def rollouts(self, questions: Sequence[EditQuestion]) -> Iterator[list[Rollout]]:
        queue: SimpleQueue[_Drawn] = SimpleQueue()
        groups = [(question, self._group(question)) for question in longest_first(questions)]
        asked = [(question, group) for question, group in groups if self._has_room(group)]
        self._thread.call(lambda: self._ask(asked, queue))
        for _ in asked:
            drawn = queue.get()
            if isinstance(drawn, RolloutsLost):
                raise drawn
            question, sampled = drawn
            yield [read_rollout(self._form, question, s.tokens, s.log_probs) for s in sampled]

    def _group(self, question: EditQuestion) -> GroupAsked:
        settings, form = self._settings, self._form
        most = settings.max_new_tokens
        if settings.beyond_reference and question.answer_tokens:
            most = min(most, round(settings.beyond_reference * question.answer_tokens) + _SLACK)
        return GroupAsked(
            next(self._keys),
            form.edit_question(question.lines),
            settings.group,
            settings.temperature,
            most,
            len(question.lines),
        )

    def _has_room(self, group: GroupAsked) -> bool:
        """Whether a question fits, which in other words may have become too long."""
        return len(group.question) + group.most <= self._longest

    def _ask(
        self, asked: Sequence[tuple[EditQuestion, GroupAsked]], answers: SimpleQueue[_Drawn]
    ) -> None:
        if self._continuous is None:
            self._continuous = self._fresh()
        for question, group in asked:
            self._continuous.ask(group)
            self._asked[group.key] = question, answers

    def _fresh(self) -> ContinuousDecoder:
        settings = self._settings
        device = next(self._model.parameters()).device
        if device.type == "cuda":
            torch.cuda.set_device(device)  # a thread has a device of its own
        return ContinuousDecoder(
            self._decoder,
            max(settings.group, min(settings.rows, settings.questions * settings.group)),
            self._longest,
            settings.max_new_tokens,
            end=self._form.end,
            first_mark=self._form.first_mark,
            marks=MARKS,
        )

    def _advance(self) -> bool:
        """Some steps of the batch; whether there is more to be drawn."""
        if self._continuous is None:
            return False
        try:
            for key, sampled in self._continuous.advance():
                question, queue = self._asked.pop(key)
                queue.put((question, sampled))
        except Exception as error:  # everything that was begun is lost
            lost = RolloutsLost(f"the decoder failed: {error!r}")
            for _, queue in self._asked.values():
                queue.put(lost)
            self._asked.clear()
            self._continuous = None
            return False
        return not self._continuous.is_idle

    def greedy(
        self, questions: Sequence[EditQuestion], weights: Mapping[str, torch.Tensor] | None = None
    ) -> list[Rollout]:
        """The likeliest answer to each of ``questions``, with ``weights`` where they are given.

        Nothing else is drawn meanwhile, and what is drawn then is with the weights of before.
        """
        return self._thread.call(lambda: self._greedy(questions, weights))

    def _greedy(
        self, questions: Sequence[EditQuestion], weights: Mapping[str, torch.Tensor] | None
    ) -> list[Rollout]:
        device = next(self._model.parameters()).device
        if device.type == "cuda":
            torch.cuda.set_device(device)
        if weights is None:
            return self._likeliest(questions)
        own = self._model.state_dict()
        kept = {name: own[name].detach().clone() for name in weights}
        self._take(weights)
        try:
            return self._likeliest(questions)
        finally:
            self._take(kept)

    def _likeliest(self, questions: Sequence[EditQuestion]) -> list[Rollout]:
        form, answers = self._form, dict[str, Rollout]()
        room = self._model.config.max_position_embeddings
        rows = [(question, form.edit_question(question.lines)) for question in questions]
        rows.sort(key=lambda row: len(row[1]))
        for first in range(0, len(rows), _GREEDY_ROWS):
            asked = [question for question, _ in rows[first : first + _GREEDY_ROWS]]
            ids = [tokens for _, tokens in rows[first : first + _GREEDY_ROWS]]
            most = [
                min(_LONGEST_GREEDY, len(own) + _BEYOND_QUESTION, room - len(own)) for own in ids
            ]
            sampled = self._decoder.sample(
                ids, most, [0.0] * len(ids), form.end, edits=edit_marks(form, asked)
            )
            for question, answer in zip(asked, sampled, strict=True):
                answers[question.id] = read_rollout(form, question, answer.tokens, answer.log_probs)
        return [answers[question.id] for question in questions]


def longest_first(questions: Sequence[EditQuestion]) -> list[EditQuestion]:
    """``questions`` in the order in which they are best begun: the last answer ends sooner."""
    return sorted(questions, key=lambda question: (-question.answer_tokens, -len(question.cuda)))


def dealt(questions: Sequence[EditQuestion], number: int) -> list[list[EditQuestion]]:
    """``questions`` in ``number`` shares of about the same length."""
    ordered = longest_first(questions)
    return [ordered[first::number] for first in range(number)]


def edit_marks(form: TranslationFormat, rows: Sequence[EditQuestion]) -> EditMarks:
    """What answers to ``rows`` may hold."""
    return EditMarks(form.first_mark, MARKS, [len(question.lines) for question in rows])


def read_rollout(
    form: TranslationFormat, question: EditQuestion, tokens: list[int], log_probs: list[float]
) -> Rollout:
    """The program of an answer, or why there is none."""
    code, problem = None, ""
    try:
        code = form.read_edits(question.lines, tokens)
    except UnusableAnswer as error:
        problem = str(error)
    return Rollout(question, tokens, log_probs, form.text_of(tokens), code, problem)
