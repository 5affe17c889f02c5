"""What generators of text have in common: limits, and tokens to text as they come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from cass_ray.llm.batch_decode import EditMarks
from cass_ray.llm.chat_format import encode_prompt
from cass_ray.llm.pretrained import positions
from cass_ray.translate.engines.model import Generator
from cass_ray.translate.engines.room import answer_room
from serve.settings import GenerationSettings

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


class TextGenerator(ABC):
    """A loaded model. Use it inside one event loop; :meth:`close` it at the end."""

    def __init__(self, loaded: Generator, settings: GenerationSettings) -> None:
        self.settings = settings
        self.model, self.tokenizer = loaded.model, loaded.tokenizer

    @abstractmethod
    def tokens(
        self,
        ids: list[int],
        temperature: float = 0.0,
        max_new_tokens: int | None = None,
        edits: EditMarks | None = None,
    ) -> AsyncGenerator[list[int] | Produced, None]:
        """As :meth:`generate`, with token ids in place of text.

        ``edits``: what an answer that is a list of edits may name, where a generator holds to it.
        """

    @abstractmethod
    def close(self) -> None:
        """End what works in the background, and wait for it."""

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

    def room(self, ids: list[int], max_new_tokens: int | None) -> int:
        """Tokens of an answer, at most. Raises ``TranslatorError``."""
        wanted = min(max_new_tokens or 2 * len(ids) + 512, self.settings.max_new_tokens)
        return answer_room(len(ids), self.positions, wanted, "generation.rope (yarn:2)")
