"""Prompts: tasks of the templates, drawn without repetition, dressed in a style."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from cass_ray.cache import digest
from cass_ray.corpus.dedup.near import NearDuplicates
from cass_ray.corpus.synthetic.templates import Template, style
from cass_ray.llm.prompts import Message

SIMILAR = 0.9
"""Tasks whose token runs overlap by this much count as one: they would give the same program."""


@dataclass(frozen=True)
class Prompt:
    """A task in a style. ``id`` is that of the conversation's text."""

    id: str
    area: str
    template: str
    task: str
    persona: str
    text: str

    @property
    def messages(self) -> list[Message]:
        return [
            {"role": "system", "content": self.persona},
            {"role": "user", "content": self.text},
        ]


_BATCH = 512
"""Tasks compared with the earlier ones at a time."""

ROUNDS = 8
"""How often a task is asked, each time in another style, before the prompts are used up."""


def sample_prompts(templates: Sequence[Template], seed: int) -> Iterator[Prompt]:
    """Every task of ``templates``, in an order that ``seed`` decides, near repeats left out.

    Templates take turns, so that a part of the prompts is spread evenly; one that is used up drops
    out. When all are, the tasks come again in another style. No two prompts are the same, and the
    first N are the same whatever N is.
    """
    tasks: list[tuple[Template, str]] = []
    given: set[str] = set()
    for turn in range(ROUNDS):
        for template, task in _tasks(templates, seed) if turn == 0 else tasks:
            if turn == 0:
                tasks.append((template, task))
            prompt = _dressed(template, task, seed, turn)
            if prompt.id not in given:
                given.add(prompt.id)
                yield prompt


def _tasks(templates: Sequence[Template], seed: int) -> Iterator[tuple[Template, str]]:
    """Each task once."""
    near = NearDuplicates(threshold=SIMILAR)
    everything = _in_turn(templates, seed)
    number = 0
    while batch := list(islice(everything, _BATCH)):
        names = [str(number + place) for place in range(len(batch))]
        number += len(batch)
        similar = near.offer_batch(names, [task.split() for _, task in batch])
        yield from (item for item, found in zip(batch, similar, strict=True) if found is None)


def _in_turn(templates: Sequence[Template], seed: int) -> Iterator[tuple[Template, str]]:
    """One task of each template, then the next of each."""
    queues = [(template, _numbers(template, seed)) for template in templates]
    while queues:
        remaining = []
        for template, numbers in queues:
            number = next(numbers, None)
            if number is not None:
                remaining.append((template, numbers))
                yield template, template.task(number)
        queues = remaining


def _numbers(template: Template, seed: int) -> Iterator[int]:
    """The numbers of a template's tasks, shuffled."""
    chance = random.Random(f"{seed} {template.area} {template.name}")
    return iter(chance.sample(range(template.size), template.size))


def _dressed(template: Template, task: str, seed: int, turn: int) -> Prompt:
    chance = random.Random(f"{seed} {turn} {task}")
    words = style()
    persona = chance.choice(words.personas)
    parts = [task, chance.choice(words.features), chance.choice(words.sizes), words.requirements]
    text = "\n\n".join(parts)
    return Prompt(digest([persona, text]), template.area, template.name, task, persona, text)
