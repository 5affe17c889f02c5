"""Examples made anew each time a pair is drawn, and batches of them that a step number fixes.

A pair is drawn by weight, seen in one of many ways (:mod:`cass_ray.train.data.augment`), asked in
one of two formats, and packed with others into rows of one fixed size. A batch follows from the
seed and the number of its step alone: nothing but the step number needs saving to go on.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from cass_ray.llm.line_edits import MARKS, edits_of, regions
from cass_ray.llm.translation_format import TranslationFormat
from cass_ray.task import Direction
from cass_ray.train.data.augment import (
    ApiNames,
    as_written_for_hip,
    part,
    respell,
    with_foreign_text,
)
from cass_ray.train.data.collate import Batch, end_to_end, padded
from cass_ray.train.data.token_store import TokenizedExample
from cass_ray.train.settings import RecipeSettings

_CHARACTERS = {"file": 12_000, "edits": 18_000}
"""The longest question of each format: a file is written twice."""
_FROM_FIRST = 0.5
"""Share of the questions whose first line bears the first mark, as those of the engine do; the
others teach the marks of long programs."""
_OF_PEOPLE = 0.7
"""Share of the HIP programs asked about whose own names name HIP, as those that people write do."""
_TRIES = 40


@dataclass(frozen=True, slots=True)
class DrawnExample:
    """A question and its answer as tokens, and how much each answer token counts."""

    pair: str
    question: Sequence[int]
    answer: Sequence[int]
    weight: float

    def __len__(self) -> int:
        return len(self.question) + len(self.answer)


@dataclass(frozen=True, slots=True)
class RecipePair:
    """Both sides as lines, snippets collapsed; ``kind`` chooses the weight."""

    id: str
    kind: str
    cuda: Sequence[str]
    hip: Sequence[str]


class ExampleRecipe:
    """Makes examples of ``pairs`` by ``settings``."""

    def __init__(
        self,
        settings: RecipeSettings,
        pairs: Sequence[RecipePair],
        format_: TranslationFormat,
        names: ApiNames,
    ) -> None:
        self.settings = settings
        self.format = format_
        self._pairs = pairs
        self._names = names
        weights = [settings.weights.get(pair.kind, 1.0) for pair in pairs]
        self._cumulated = np.cumsum(weights)

    def draw(self, chance: random.Random, longest: int) -> DrawnExample:
        """An example of at most ``longest`` tokens.

        Raises ``ValueError`` when no draw of many gives one.
        """
        for _ in range(_TRIES):
            place = chance.random() * self._cumulated[-1]
            pair = self._pairs[int(np.searchsorted(self._cumulated, place, side="right"))]
            example = self._example(pair, chance, longest)
            if example is not None and len(example) <= longest:
                return example
        raise ValueError(f"no example of at most {longest} tokens in {_TRIES} draws")

    def _example(
        self, pair: RecipePair, chance: random.Random, longest: int
    ) -> DrawnExample | None:
        settings = self.settings
        whole_file = chance.random() < settings.file_share
        cuda, hip = list(pair.cuda), list(pair.hip)
        if chance.random() < settings.rename_share:
            cuda, hip = respell(cuda, hip, chance)
        if chance.random() < settings.api_swap_share:
            cuda, hip = self._names.exchanged(cuda, hip, chance, chance.uniform(0.2, 0.8))
        if chance.random() < settings.non_ascii_share:
            cuda, hip = with_foreign_text(cuda, hip, chance)
        characters = min(_CHARACTERS["file" if whole_file else "edits"], 2 * longest)
        size = sum(map(len, cuda)) + len(cuda)
        if size > characters or len(cuda) > MARKS or chance.random() < settings.excerpt_share:
            cut = part(cuda, hip, regions(cuda, hip), chance, characters)
            if cut is None and (size > characters or len(cuda) > MARKS):
                return None
            cuda, hip = cut or (cuda, hip)
        if len(cuda) > MARKS:
            return None
        first = 0 if chance.random() < _FROM_FIRST else chance.randrange(MARKS)
        direction = Direction.CUDA_TO_HIP
        if pair.kind in settings.backward_kinds and chance.random() < settings.backward:
            direction = Direction.HIP_TO_CUDA
            if len(hip) > MARKS or any("<|snippet " in line for line in hip):
                return None  # no CUDA program stands behind a snippet's text
            if chance.random() < _OF_PEOPLE:
                cuda, hip = as_written_for_hip(cuda, hip)
        return self.example(pair.id, cuda, hip, whole_file, first, direction)

    def example(
        self,
        pair: str,
        cuda: Sequence[str],
        hip: Sequence[str],
        whole_file: bool,
        first: int = 0,
        direction: Direction = Direction.CUDA_TO_HIP,
    ) -> DrawnExample:
        """The example of just these sides, in one of the formats."""
        form = self.format
        given, wanted = (cuda, hip) if direction is Direction.CUDA_TO_HIP else (hip, cuda)
        if whole_file:
            question = form.file_question("\n".join(given), direction)
            answer = form.file_answer("\n".join(wanted), direction)
            return DrawnExample(pair, question, answer, 1.0)
        edits = edits_of(given, wanted, regions(given, wanted))
        return DrawnExample(
            pair,
            form.edit_question(given, first, direction),
            form.edit_answer(edits, first),
            self.settings.edit_weight,
        )

    def batch(self, step: int, worker: int = 0, progress: float = 1.0) -> Batch:
        """The row of a step, ``settings.row_tokens`` long; ``progress`` is the run's, 0 to 1."""
        settings = self.settings
        chance = random.Random(f"{settings.seed} {step} {worker}")
        grown = min(1.0, progress / settings.curriculum) if settings.curriculum else 1.0
        longest = int(
            settings.initial_max_tokens
            + grown * (settings.max_tokens - settings.initial_max_tokens)
        )
        left, taken, missed = settings.row_tokens, list[DrawnExample](), 0
        while missed < 6 and left > 64 and len(taken) < settings.row_examples:
            example = self.draw(chance, longest)
            if len(example) <= left:
                taken.append(example)
                left -= len(example)
            else:
                missed += 1
        return lay_out(taken, settings.row_tokens, self.format.padding)


def lay_out(examples: Sequence[DrawnExample], tokens: int, padding: int) -> Batch:
    """``examples`` end to end in a row of just ``tokens`` tokens; what is left is padding."""
    tokenized = [
        TokenizedExample(e.pair, "", np.array([*e.question, *e.answer]), len(e.question))
        for e in examples
    ]
    weights = [np.full(len(e.answer), e.weight, dtype=np.float32) for e in examples]
    batch = replace(end_to_end(tokenized), weights=torch.from_numpy(np.concatenate(weights)))
    return padded(batch, tokens, padding)


def recipe_pairs(
    rows: Sequence[Mapping[str, Any]], snippets: Mapping[str, str]
) -> list[RecipePair]:
    """Pairs of ``id``, ``kind``, ``cuda_source``, ``hip_source``; snippets are collapsed."""
    from cass_ray.llm.snippets import collapse

    result = []
    for row in rows:
        cuda = row["cuda_source"].replace("\r\n", "\n")
        hip = row["hip_source"].replace("\r\n", "\n")
        if "CASS_" in hip:  # every snippet has a guard of this name
            hip = collapse(hip, snippets)
        result.append(RecipePair(row["id"], row["kind"], cuda.split("\n"), hip.split("\n")))
    return result
