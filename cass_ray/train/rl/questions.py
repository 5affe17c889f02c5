"""Which questions are asked in a step: those whose answers differ in worth teach something."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from cass_ray.train.rl.rollouts import EditQuestion
from cass_ray.train.rl.settings import SamplingSettings

_REMEMBERED = 100
"""Groups over which the share of those of different worth is averaged."""


class QuestionChooser:
    """Draws questions: new ones in random order, and again those of mixed rewards.

    ``reworded`` puts a question in other words each time that it is asked; what is heard of it
    then is said of the question that it is ``of``.

    Groups whose rewards are all alike have no advantage and so no gradient; DAPO draws until a
    batch has none of them. Here a step asks as many questions as had ``settings.mixed`` groups of
    different worth among the last hundred or so, and a question that was mixed comes back after a
    rest, until it is not.
    """

    def __init__(
        self,
        questions: Sequence[EditQuestion],
        settings: SamplingSettings,
        seed: int = 0,
        reworded: Callable[[EditQuestion, random.Random], EditQuestion] = lambda question, _: (
            question
        ),
    ) -> None:
        if not questions:
            raise ValueError("there are no questions to ask")
        self._chance = random.Random(seed)
        self._questions = {question.id: question for question in questions}
        self._settings = settings
        self._reworded = reworded
        self._unseen: list[str] = []
        self._mixed: dict[str, int] = {}
        """Questions of mixed rewards, and the step that they were last asked in."""
        self._share = 0.5
        """The share of groups of different worth among those heard of lately."""

    @property
    def wanted(self) -> int:
        """Questions of the next step."""
        settings = self._settings
        number = settings.questions
        if settings.mixed:
            most = max(number, settings.most_questions)
            number = min(max(number, round(settings.mixed / max(self._share, 1e-3))), most)
        return min(number, len(self._questions))

    def choose(self, step: int) -> list[EditQuestion]:
        """Different questions for ``step``."""
        wanted = self.wanted
        rested = [name for name, last in self._mixed.items() if step - last > self._settings.rest]
        most = min(len(rested), round(self._settings.revisited * wanted))
        chosen = dict.fromkeys(self._chance.sample(rested, most))
        looked_at = 0
        while len(chosen) < wanted:
            name, looked_at = self._next(), looked_at + 1
            # Mixed ones rest, unless there are too few others.
            if name not in self._mixed or looked_at > 2 * len(self._questions):
                chosen[name] = None
        for name in chosen:
            if name in self._mixed:
                self._mixed[name] = step
        return [self._reworded(self._questions[name], self._chance) for name in chosen]

    def _next(self) -> str:
        if not self._unseen:
            self._unseen = list(self._questions)
            self._chance.shuffle(self._unseen)
        return self._unseen.pop()

    def heard(self, question: EditQuestion, rewards: Sequence[float], step: int) -> None:
        """``rewards`` of the answers to ``question`` that were drawn in ``step``."""
        name = question.of or question.id
        differ = len(set(rewards)) > 1
        self._share += (differ - self._share) / _REMEMBERED
        if differ:
            self._mixed[name] = step
        else:
            self._mixed.pop(name, None)

    @property
    def mixed(self) -> int:
        """Questions whose last answers were of different worth."""
        return len(self._mixed)
