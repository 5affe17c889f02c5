"""On a CPU: requests take turns, some tokens at a time.

There a forward pass of several requests takes as long as theirs one by one, but for the reading of
the weights; the manager of :mod:`serve.generation.continuous` has more to do between two tokens
than a small model for one.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor

from cass_ray.llm.batch_decode import BatchDecoder, EditMarks
from cass_ray.translate.engines.model import Generator
from serve.generation.base import Produced, TextGenerator
from serve.settings import GenerationSettings

_TURN = 4
"""Tokens."""


class RoundRobinGenerator(TextGenerator):
    """A loaded Qwen2 or Qwen3; an answer of edits names lines that its program has, in order."""

    def __init__(self, loaded: Generator, settings: GenerationSettings) -> None:
        """Raises ``ValueError``: the model is of another family."""
        super().__init__(loaded, settings)
        self._decoder = BatchDecoder(self.model)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="decode")

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    async def tokens(
        self,
        ids: list[int],
        temperature: float = 0.0,
        max_new_tokens: int | None = None,
        edits: EditMarks | None = None,
    ) -> AsyncGenerator[list[int] | Produced, None]:
        limit = self.room(ids, max_new_tokens)
        end = int(self.tokenizer.eos_token_id)
        warm = temperature if self.settings.sampling else 0.0
        made, last = 0, -1
        # Not closed where the client hangs up: its last turn may be in the making.
        answer = self._decoder.stream(ids, limit, warm, end, edits=edits)
        while turn := await self._turn(answer):
            made, last = made + len(turn), turn[-1]
            yield turn
        yield Produced(len(ids), made, last == end)

    async def _turn(self, answer: Iterator[int]) -> list[int]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: list(itertools.islice(answer, _TURN)))
