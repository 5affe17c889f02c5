"""A replica that holds a language model and answers many requests at once."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

from cass_ray.api.schema import CountsModel, FindingModel, TranslateRequest, Usage
from cass_ray.llm.code_blocks import extract
from cass_ray.llm.edit_stream import EditStream
from cass_ray.llm.translation_format import TranslationFormat, UnusableAnswer
from cass_ray.task import Task
from cass_ray.translate.engines.edits import formatted_question, load_form
from cass_ray.translate.engines.model import ModelTranslator
from cass_ray.translate.protocol import TranslatorError
from serve.engines.base import EngineAnswer
from serve.generation.detokenizer import Detokenizer
from serve.generation.generator import Produced, TextGenerator
from serve.settings import EngineSettings

_TEMPERATURE = 0.8
"""Where several candidates are asked for and no temperature is."""


class ModelReplica:
    """Holds the model of a ``model:`` engine; see :class:`serve.request.clients.EngineClient`."""

    def __init__(self, settings: EngineSettings) -> None:
        self._translator = ModelTranslator.from_engine(settings.translator)
        self._generator = TextGenerator.load(
            self._translator.path, settings.generation, self._translator.options.device
        )
        formatted = self._translator.formatted_tasks
        self._form = load_form(self._generator.tokenizer) if formatted else None

    async def version(self) -> str:
        return self._translator.version

    async def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        async for piece in self.stream(request, seed):
            if isinstance(piece, EngineAnswer):
                return piece
        raise TranslatorError("the model gave no answer")

    async def stream(
        self, request: TranslateRequest, seed: int
    ) -> AsyncIterator[str | EngineAnswer]:
        """The model's words, then the answer. ``seed`` says which of several answers it is: the
        first is greedy unless a temperature is asked for.
        """
        started = time.perf_counter()
        task = Task(request.level, request.direction)
        first = 0.0 if request.candidates == 1 or seed == request.seed else _TEMPERATURE
        temperature = first if request.temperature is None else request.temperature
        if self._form is not None and task in self._translator.formatted_tasks:
            async for formatted in self._formatted(self._form, request, temperature, started):
                yield formatted
            return
        layout = self._translator.format
        try:
            messages = layout.messages(task, request.source)
        except ValueError as error:
            raise TranslatorError(str(error)) from None
        text: list[str] = []
        produced = Produced(0, 0, False)
        ids = self._generator.encode(list(messages))
        limit = self._translator.options.max_new_tokens
        async for piece in self._generator.generate(ids, temperature, limit):
            if isinstance(piece, Produced):
                produced = piece
            else:
                text.append(piece)
                yield piece
        yield self._answer(request, task, "".join(text), produced, started)

    async def _formatted(
        self, form: TranslationFormat, request: TranslateRequest, temperature: float, started: float
    ) -> AsyncIterator[str | EngineAnswer]:
        """As :meth:`stream`, of a model that knows both answer formats; its words are the lines of
        the program that edits have settled.
        """
        options = self._translator.options
        question = formatted_question(form, request.source, options.answer, request.direction)
        limit = question.room(self._generator.positions, options.max_new_tokens)
        shown = EditStream(form, question.edited) if question.edited is not None else None
        text = Detokenizer(self._generator.tokenizer)
        ids: list[int] = []
        produced = Produced(0, 0, False)
        async for piece in self._generator.tokens(
            question.ids, temperature, limit, question.marks(1)
        ):
            if isinstance(piece, Produced):
                produced = piece
                continue
            ids += piece
            words = text.add(piece) if shown is None else shown.feed(piece)
            if words:
                yield words
        code, failed = "", ""
        try:
            code = question.read(ids)
            if shown is not None and (words := shown.rest()):
                yield words
        except UnusableAnswer as error:
            failed = f"no usable answer: {error}"
        yield EngineAnswer(
            source=request.source if failed else code,
            version=self._translator.version,
            counts=CountsModel(converted=int(not failed)),
            usage=Usage(prompt_tokens=produced.prompt_tokens, completion_tokens=produced.tokens),
            seconds=time.perf_counter() - started,
            failed=failed,
        )

    async def chat(
        self, messages: list[dict[str, str]], options: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """The model's words, then why it ended and what it took."""
        ids = self._generator.encode(messages)
        temperature = options.get("temperature")
        async for piece in self._generator.generate(
            ids, 0.0 if temperature is None else temperature, options.get("max_new_tokens")
        ):
            if isinstance(piece, Produced):
                usage = {"prompt_tokens": piece.prompt_tokens, "completion_tokens": piece.tokens}
                yield {"finish": "stop" if piece.ended else "length", "usage": usage}
            else:
                yield piece

    async def propose(self, source: str, messages: str) -> str | None:
        """Nothing: these models are trained to translate, not to repair."""
        del source, messages
        return None

    def _answer(
        self, request: TranslateRequest, task: Task, text: str, produced: Produced, started: float
    ) -> EngineAnswer:
        block = extract(text, (self._translator.format.wording(task).answer_fence,))
        cut = block is not None and not block.closed and not produced.ended
        findings = []
        if cut:
            message = "the answer was cut at the limit of its length"
            findings.append(
                FindingModel(line=0, column=0, name="", severity="error", message=message)
            )
        return EngineAnswer(
            source=request.source if block is None else block.code,
            version=self._translator.version,
            findings=findings,
            counts=CountsModel(converted=int(block is not None)),
            usage=Usage(prompt_tokens=produced.prompt_tokens, completion_tokens=produced.tokens),
            seconds=time.perf_counter() - started,
            failed="the model's answer holds no code block" if block is None else "",
        )
