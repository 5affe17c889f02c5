"""Ask a model for programs: prompts in, checked programs out, every slot of the endpoint busy."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import Field

from cass_ray.config import StrictModel
from cass_ray.corpus.synthetic.ledger import Ledger
from cass_ray.corpus.synthetic.prompts import Prompt, sample_prompts
from cass_ray.corpus.synthetic.templates import templates_of
from cass_ray.corpus.synthetic.validation import Checked, SyntheticVerdict, check_reply
from cass_ray.llm.client import BudgetSpent, ChatClient, ChatError, ChatSettings, Reply
from cass_ray.llm.prompts import Message

_WORKERS_PER_SLOT = 2
"""A worker that checks or compiles an answer holds no slot; the other one does meanwhile."""

_DIAGNOSTIC_CHARACTERS = 3000

_REPAIR = """\
The program does not work yet. {message}

Answer with the whole corrected file in one fenced code block named cuda."""

Compile = Callable[[str], str]
"""Compiles a program; the compiler's messages, or nothing when it compiles."""


class SynthesisSettings(StrictModel):
    """What ``cass synthesize`` does."""

    out: Path
    chat: ChatSettings
    count: int = Field(default=100, ge=1)
    """Prompts to ask."""
    seed: int = Field(default=0, ge=0)
    areas: list[str] | None = None
    """Of the templates; default: all twelve."""
    compile: bool = False
    """Whether an answer must compile with nvcc."""
    repairs: int = Field(default=0, ge=0, le=5)
    """Rounds in which the model is shown what is wrong with its program."""
    ask_lost_again: bool = False
    """Ask again what an earlier run had sent when it was killed."""


@dataclass(frozen=True)
class SynthesisOutcome:
    """What became of one prompt. ``rounds`` counts the repairs that were asked for."""

    prompt: Prompt
    checked: Checked
    rounds: int = 0
    asked: bool = True
    """False when the answer was known from an earlier run."""

    def as_row(self) -> dict[str, Any]:
        """A line of ``programs.jsonl``, without the program."""
        prompt = self.prompt
        return {
            "id": prompt.id,
            "area": prompt.area,
            "template": prompt.template,
            "task": prompt.task,
            "persona": prompt.persona,
            "verdict": self.checked.verdict.value,
            "message": self.checked.message[:500],
            "repairs": self.rounds,
        }


class _Lost(Exception):
    """The question was under way when an earlier run was killed."""


@dataclass
class Synthesis:
    """One run. ``compile_source`` is given when answers must compile."""

    settings: SynthesisSettings
    client: ChatClient
    ledger: Ledger
    compile_source: Compile | None = None
    on_outcome: Callable[[SynthesisOutcome], None] = lambda outcome: None
    stopped: str = ""
    """Why no further prompt was asked, where that is so before ``count``."""
    _compilers: asyncio.Semaphore = field(init=False)
    _stop: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._compilers = asyncio.Semaphore(os.cpu_count() or 1)

    def stop(self, why: str) -> None:
        """Ask nothing new; what is under way is finished."""
        self.stopped = self.stopped or why
        self._stop.set()

    async def run(self) -> None:
        """Every prompt once. Outcomes arrive in the order in which they are ready."""
        settings = self.settings
        prompts = sample_prompts(templates_of(settings.areas), settings.seed)
        queue = islice(prompts, settings.count)
        workers = min(settings.count, _WORKERS_PER_SLOT * settings.chat.concurrency)
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(self._work(queue))

    async def _work(self, queue: Iterator[Prompt]) -> None:
        for prompt in queue:
            if self._stop.is_set():
                return
            try:
                outcome = await self._outcome(prompt)
            except BudgetSpent as error:
                self.stop(str(error))
                return
            self.on_outcome(outcome)

    async def _outcome(self, prompt: Prompt) -> SynthesisOutcome:
        messages = prompt.messages
        checked, rounds, asked = Checked(SyntheticVerdict.NO_ANSWER), 0, False
        for turn in range(self.settings.repairs + 1):
            try:
                reply, sent = await self._ask(messages)
            except _Lost:
                return SynthesisOutcome(prompt, Checked(SyntheticVerdict.LOST), rounds, asked)
            except BudgetSpent:
                if turn == 0:
                    raise
                return SynthesisOutcome(prompt, checked, rounds, asked)
            except ChatError as error:
                failed = checked if turn else Checked(SyntheticVerdict.NO_ANSWER, "", str(error))
                return SynthesisOutcome(prompt, failed, rounds, asked)
            asked, rounds = asked or sent, turn
            checked = await self._check(reply)
            if checked.verdict in (SyntheticVerdict.OK, SyntheticVerdict.REFUSED):
                break
            messages = [*messages, *_correction(reply, checked)]
        return SynthesisOutcome(prompt, checked, rounds, asked)

    async def _ask(self, messages: list[Message]) -> tuple[Reply, bool]:
        """The answer, and whether it had to be asked for."""
        key = self.client.key(messages)
        known = self.ledger.answer(key)
        if known is not None:
            return known, False
        if self.ledger.lost(key) and not self.settings.ask_lost_again:
            raise _Lost
        try:
            reply = await self.client.ask(messages, before_sending=lambda: self.ledger.ask(key))
        except ChatError:
            # It has no answer, and never will have: a later run may ask it.
            self.ledger.withdraw(key)
            raise
        self.ledger.record(key, reply)
        return reply, True

    async def _check(self, reply: Reply) -> Checked:
        checked = check_reply(reply)
        if checked.verdict is not SyntheticVerdict.OK or self.compile_source is None:
            return checked
        async with self._compilers:
            messages = await asyncio.to_thread(self.compile_source, checked.source)
        return (
            Checked(SyntheticVerdict.NOT_COMPILED, checked.source, messages)
            if messages
            else checked
        )


def _correction(reply: Reply, checked: Checked) -> list[Message]:
    """The answer, and what is wrong with it."""
    if checked.verdict is SyntheticVerdict.NOT_COMPILED:
        message = f"nvcc says:\n\n{checked.message[:_DIAGNOSTIC_CHARACTERS]}"
    else:
        message = f"Problem: {checked.verdict.value.replace('_', ' ')}: {checked.message}"
    return [
        {"role": "assistant", "content": reply.text},
        {"role": "user", "content": _REPAIR.format(message=message)},
    ]


@dataclass
class Yield:
    """Outcomes by template and verdict."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    repaired: int = 0

    def add(self, outcome: SynthesisOutcome) -> None:
        verdict = outcome.checked.verdict
        self.counts[outcome.prompt.area, outcome.prompt.template, verdict.value] += 1
        self.repaired += verdict is SyntheticVerdict.OK and outcome.rounds > 0

    def as_dict(self) -> dict[str, Any]:
        """Totals by verdict, then by template: prompts, programs and the share of them."""
        verdicts: Counter[str] = Counter()
        templates: dict[str, Counter[str]] = {}
        for (area, template, verdict), count in sorted(self.counts.items()):
            verdicts[verdict] += count
            templates.setdefault(f"{area}/{template}", Counter())[verdict] += count
        return {
            "prompts": verdicts.total(),
            "programs": verdicts[SyntheticVerdict.OK.value],
            "repaired": self.repaired,
            "verdicts": dict(verdicts),
            "templates": {
                name: {
                    "prompts": found.total(),
                    "programs": found[SyntheticVerdict.OK.value],
                    "yield": round(found[SyntheticVerdict.OK.value] / found.total(), 4),
                    "verdicts": dict(found),
                }
                for name, found in templates.items()
            },
        }
