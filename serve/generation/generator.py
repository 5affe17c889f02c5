"""Answers of one model to many requests, which take turns, some tokens at a time.

On a CPU a forward pass of several requests takes as long as theirs one by one, but for the reading
of the weights. For many requests on a GPU there is vLLM (``cluster/kuberay/serve_vllm.yaml``).
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import torch

from cass_ray.llm.batch_decode import FAMILIES, BatchDecoder, EditMarks
from cass_ray.llm.chat_format import encode_prompt
from cass_ray.llm.pretrained import positions
from cass_ray.translate.engines.model import Generator, ModelOptions
from cass_ray.translate.engines.room import answer_room
from serve.generation.detokenizer import Detokenizer
from serve.settings import GenerationSettings

_TURN = 4
"""Tokens."""


@dataclass
class Produced:
    """The end of an answer: tokens, and whether the model ended it itself."""

    prompt_tokens: int
    tokens: int
    ended: bool


class TextGenerator:
    """A loaded model. Use it inside one event loop; :meth:`close` it at the end."""

    def __init__(self, loaded: Generator, settings: GenerationSettings) -> None:
        self.settings = settings
        self.model, self.tokenizer = loaded.model, loaded.tokenizer
        ends = self.model.generation_config.eos_token_id
        ends = self.tokenizer.eos_token_id if ends is None else ends
        self._ends = frozenset(ends if isinstance(ends, list) else [ends])
        plain = settings.rope is None and self.model.config.model_type in FAMILIES
        self._decoder = BatchDecoder(self.model) if plain and len(self._ends) == 1 else None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="decode")

    @classmethod
    def load(
        cls, path: str, settings: GenerationSettings, device: str | None = None
    ) -> TextGenerator:
        """Load ``path``. Raises ``ToolMissing``, ``TranslatorError``."""
        return cls(Generator.load(path, ModelOptions(rope=settings.rope, device=device)), settings)

    def close(self) -> None:
        """End what works in the background, and wait for it."""
        self._pool.shutdown(cancel_futures=True)

    @property
    def positions(self) -> int:
        """Tokens of question and answer together."""
        limit = positions(self.model.config)
        return min(limit, self.settings.max_model_len or limit)

    def encode(self, messages: list[Any]) -> list[int]:
        """Token ids of a conversation, up to where the model begins to write."""
        return encode_prompt(self.tokenizer, messages)

    async def generate(
        self, ids: list[int], temperature: float = 0.0, max_new_tokens: int | None = None
    ) -> AsyncIterator[str | Produced]:
        """Pieces of text, then :class:`Produced`. Closing the iterator cancels the request.

        Raises ``TranslatorError``: the question does not fit.
        """
        text = Detokenizer(self.tokenizer)
        async with aclosing(self.tokens(ids, temperature, max_new_tokens)) as pieces:
            async for piece in pieces:
                shown = text.rest() if isinstance(piece, Produced) else text.add(piece)
                if shown:
                    yield shown
                if isinstance(piece, Produced):
                    yield piece

    async def tokens(
        self,
        ids: list[int],
        temperature: float = 0.0,
        max_new_tokens: int | None = None,
        edits: EditMarks | None = None,
    ) -> AsyncGenerator[list[int] | Produced, None]:
        """Do what :meth:`generate` does, with token ids in place of text.

        ``edits``: what an answer that is a list of edits may name; a Qwen2 or Qwen3 whose context
        is not extended holds to it.
        """
        wanted = min(max_new_tokens or 2 * len(ids) + 512, self.settings.max_new_tokens)
        limit = answer_room(len(ids), self.positions, wanted, "generation.rope (yarn:2)")
        warm = temperature if self.settings.sampling else 0.0
        produced, last = 0, -1
        # Not closed where the client hangs up: its last turn may be in the making.
        if self._decoder is not None:
            (end,) = self._ends
            answer = self._decoder.stream(ids, limit, warm, end, edits=edits)
        else:
            answer = self._one_by_one(ids, limit, warm)
        while turn := await self._turn(answer):
            produced, last = produced + len(turn), turn[-1]
            yield turn
        yield Produced(len(ids), produced, last in self._ends)

    async def _turn(self, answer: Iterator[int]) -> list[int]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: list(itertools.islice(answer, _TURN)))

    @torch.inference_mode()
    def _one_by_one(self, ids: Sequence[int], limit: int, temperature: float) -> Iterator[int]:
        """The tokens of an answer of any model, by transformers."""
        given, cache = torch.tensor([ids], device=self.model.device), None
        for _ in range(limit):
            output = self.model(input_ids=given, past_key_values=cache, use_cache=True)
            cache, scores = output.past_key_values, output.logits[0, -1].float()
            if temperature > 0:
                given = torch.multinomial((scores / temperature).softmax(-1), 1)[None]
            else:
                given = scores.argmax()[None, None]
            token = int(given)
            yield token
            if token in self._ends:
                return
