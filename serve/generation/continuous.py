"""Continuous batching: many conversations share each forward pass of one model.

transformers' manager does the batching, with a paged KV cache and blocks shared by equal prefixes;
this module gives it an asynchronous face: tokens as text, limits, cancellation.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from cass_ray.llm.chat_format import encode_prompt
from cass_ray.llm.pretrained import positions
from cass_ray.translate.engines.model import Generator, ModelOptions
from cass_ray.translate.protocol import TranslatorError
from serve.generation.batching import make_manager
from serve.settings import GenerationSettings

_LEAST_ROOM = 16
_REPLACEMENT = "\ufffd"


@dataclass
class Produced:
    """The end of an answer: tokens, and whether the model ended it itself."""

    prompt_tokens: int
    tokens: int
    ended: bool


@dataclass
class Detokenizer:
    """Token ids to text as they come, in time linear in their number.

    The text of a token depends on its neighbors, so a window of the last tokens is decoded twice,
    without and with the new ones; what they add is the new text. Incomplete UTF-8 waits.
    """

    tokenizer: Any
    _ids: list[int] = field(default_factory=list)
    _start: int = 0
    _shown: int = 0

    def add(self, ids: list[int]) -> str:
        """The text that ``ids`` complete."""
        self._ids += ids
        before = self._decode(self._ids[self._start : self._shown])
        after = self._decode(self._ids[self._start :])
        if len(after) <= len(before) or after.endswith(_REPLACEMENT):
            return ""
        self._start, self._shown = self._shown, len(self._ids)
        return after[len(before) :]

    def rest(self) -> str:
        """What is left at the end, complete or not."""
        before = self._decode(self._ids[self._start : self._shown])
        return self._decode(self._ids[self._start :])[len(before) :]

    def _decode(self, ids: list[int]) -> str:
        text: str = self.tokenizer.decode(ids, skip_special_tokens=True)
        return text


class ContinuousGenerator:
    """A loaded model. Use it inside one event loop; :meth:`close` it at the end."""

    def __init__(self, path: str, settings: GenerationSettings, device: str | None = None) -> None:
        """Load ``path``. Raises ``ToolMissing``, ``TranslatorError``."""
        loaded = Generator.load(path, ModelOptions(rope=settings.rope, device=device))
        self.settings = settings
        self.model, self.tokenizer = loaded.model, loaded.tokenizer
        self._numbers = itertools.count()
        ends, end = self.model.generation_config.eos_token_id, self.tokenizer.eos_token_id
        self._manager = make_manager(
            self.model,
            settings,
            ends=end if ends is None else ends,
            padding=self.tokenizer.pad_token_id or end,
            positions=self.positions,
        )
        self._manager.start()

    @property
    def positions(self) -> int:
        """Tokens of question and answer together."""
        limit = positions(self.model.config)
        return min(limit, self.settings.max_model_len or limit)

    def close(self) -> None:
        """End the background thread, and wait for it."""
        self._manager.stop(block=True)

    def encode(self, messages: list[Any]) -> list[int]:
        """Token ids of a conversation, up to where the model begins to write."""
        return encode_prompt(self.tokenizer, messages)

    async def generate(
        self, ids: list[int], temperature: float = 0.0, max_new_tokens: int | None = None
    ) -> AsyncIterator[str | Produced]:
        """Pieces of text, then :class:`Produced`. Closing the iterator cancels the request.

        Raises ``TranslatorError``: the question does not fit, or the model failed.
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
        self, ids: list[int], temperature: float = 0.0, max_new_tokens: int | None = None
    ) -> AsyncGenerator[list[int] | Produced, None]:
        """As :meth:`generate`, with token ids in place of text."""
        limit = self._room(ids, max_new_tokens)
        request_id = f"request-{next(self._numbers)}"
        queue: asyncio.Queue[Any] = asyncio.Queue()
        self._manager.register_result_handler(request_id, queue.put_nowait)
        kwargs = self._sampling(temperature)
        added = self._manager.add_request(
            ids, request_id, max_new_tokens=limit, streaming=True, **kwargs
        )
        if added is None:
            raise TranslatorError("the model has stopped: see the replica's log")
        known, finished = 0, False
        try:
            while not finished:
                output = await queue.get()
                if output.error:
                    finished = True
                    raise TranslatorError(f"the model failed: {output.error}")
                new, known = output.generated_tokens[known:], len(output.generated_tokens)
                finished = output.is_finished()
                yield list(new)
            tokens = output.generated_tokens
            ended = bool(tokens) and tokens[-1] in self._ends
            yield Produced(len(ids), len(tokens), ended)
        finally:
            if not finished:
                self._manager.cancel_request(request_id)

    def _room(self, ids: list[int], max_new_tokens: int | None) -> int:
        room = self.positions - len(ids)
        if room < _LEAST_ROOM:
            raise TranslatorError(
                f"the question has {len(ids)} tokens, the model takes {self.positions}: extend it "
                "with generation.rope (yarn:2), or split the file"
            )
        wanted = max_new_tokens or 2 * len(ids) + 512
        return min(wanted, self.settings.max_new_tokens, room)

    def _sampling(self, temperature: float) -> dict[str, Any]:
        if not self.settings.sampling:
            return {}
        if temperature <= 0:
            return {"top_k": 1, "temperature": 1.0}
        return {"top_k": self.model.config.get_text_config().vocab_size, "temperature": temperature}

    @property
    def _ends(self) -> frozenset[int]:
        found = self._manager.generation_config.eos_token_id
        return frozenset(found if isinstance(found, list) else [found])
