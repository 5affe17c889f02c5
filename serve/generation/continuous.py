"""Continuous batching: many conversations share each forward pass of one model.

transformers' manager does the batching, with a paged KV cache and blocks shared by equal prefixes;
this module gives it an asynchronous face: tokens as text, limits, cancellation.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from typing import Any

from cass_ray.llm.batch_decode import EditMarks
from cass_ray.translate.engines.model import Generator
from cass_ray.translate.protocol import TranslatorError
from serve.generation.base import Produced, TextGenerator
from serve.generation.batching import make_manager
from serve.settings import GenerationSettings


class ContinuousGenerator(TextGenerator):
    """A loaded model that answers many requests in each forward pass."""

    def __init__(self, loaded: Generator, settings: GenerationSettings) -> None:
        super().__init__(loaded, settings)
        self._numbers = itertools.count()
        ends, end = self.model.generation_config.eos_token_id, self.tokenizer.eos_token_id
        self._manager = make_manager(
            self.model,
            settings,
            ends=end if ends is None else ends,
            padding=self.tokenizer.pad_token_id or end,
        )
        self._manager.start()

    def close(self) -> None:
        self._manager.stop(block=True)

    async def tokens(
        self,
        ids: list[int],
        temperature: float = 0.0,
        max_new_tokens: int | None = None,
        edits: EditMarks | None = None,
    ) -> AsyncGenerator[list[int] | Produced, None]:
        del edits  # each token is chosen among all
        limit = self.room(ids, max_new_tokens)
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

    def _sampling(self, temperature: float) -> dict[str, Any]:
        if not self.settings.sampling:
            return {}
        if temperature <= 0:
            return {"top_k": 1, "temperature": 1.0}
        return {"top_k": self.model.config.get_text_config().vocab_size, "temperature": temperature}

    @property
    def _ends(self) -> frozenset[int]:
        end = self._manager.generation_config.eos_token_id
        return frozenset(end if isinstance(end, list) else [end])
