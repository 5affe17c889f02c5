"""The ``chat:MODEL`` engine: any model behind an OpenAI-compatible endpoint.

``MODEL`` is the endpoint's name for it. Options follow a question mark, as in a URL::

    chat:gpt-5-mini
    chat:Qwen/Qwen2.5-Coder-32B-Instruct?endpoint=http://localhost:8000/v1
    chat:ahmedheakl/cass-src-7b?endpoint=http://localhost:8000/v1&format=cass

The endpoint is ``$OPENAI_BASE_URL`` where none is given, and the key ``$OPENAI_API_KEY``, or the
variable that ``key_variable`` names. Answers are kept by content in the user's cache.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl

from pydantic import Field

from cass_ray.cache import ContentCache, default_directory, digest
from cass_ray.config import SettingsError, StrictModel, validate
from cass_ray.llm.client import ChatClient, ChatError, ChatSettings, Reply, answer_cache
from cass_ray.llm.code_blocks import code_of
from cass_ray.llm.prompts import Message, PromptFormat, prompt_format
from cass_ray.task import Direction, Level, Task, parse_task
from cass_ray.translate.engines.prefixes import CHAT_PREFIX
from cass_ray.translate.protocol import (
    NO_CONTEXT,
    Context,
    Counts,
    Finding,
    Severity,
    Translation,
    TranslationUsage,
    TranslatorError,
)

_DIAGNOSTIC_CHARACTERS = 4000

_RULES = """\
You translate GPU programs. Answer with the whole translated file in one fenced code block named \
`{fence}` and nothing else. Keep what the program prints exactly as it is. Change no algorithm, \
leave nothing out, and write no explanations."""

_REPAIR = """\
This {fence} file does not compile for an AMD GPU. The compiler says:

{messages}

Answer with the whole corrected file in one fenced code block named `{fence}`. Change only what \
the errors need: remove no code and compute nothing differently.

```{fence}
{source}
```"""


class ChatOptions(StrictModel):
    """What may follow the question mark."""

    RENAMED = {"longest": "max_new_tokens"}

    endpoint: str = ""
    key_variable: str = "OPENAI_API_KEY"
    format: str = "ours"
    """Prompt format; ``cass`` for the published checkpoints, which know no system message."""
    task: str = "source"
    temperature: float = Field(default=0.0, ge=0.0)
    seed: int = 0
    max_new_tokens: int = Field(default=16_384, ge=1)
    attempts: int = Field(default=6, ge=1)
    timeout_seconds: float = Field(default=300.0, gt=0.0)
    first_wait_seconds: float = Field(default=1.0, ge=0.0)


@dataclass(frozen=True, eq=False)
class ChatTranslator:
    """A :class:`cass_ray.translate.protocol.Translator` that asks a model."""

    model: str
    options: ChatOptions
    cache: ContentCache

    @classmethod
    def from_engine(cls, engine: str, cache: ContentCache | None = None) -> ChatTranslator:
        """From ``chat:MODEL?…``. Raises ``SettingsError``."""
        model, _, query = engine.removeprefix(CHAT_PREFIX).partition("?")
        if not model:
            raise SettingsError("chat: needs the name of a model, as in chat:gpt-5-mini")
        options = validate(ChatOptions, dict(parse_qsl(query)), engine)
        try:
            parse_task(options.task)
            prompt_format(options.format)
        except ValueError as error:
            raise SettingsError(f"{engine}: {error}") from None
        return cls(model, options, cache or answer_cache(default_directory()))

    @property
    def name(self) -> str:
        return f"{CHAT_PREFIX}{self.model}"

    @property
    def version(self) -> str:
        """Changes with the model's name, the options and the prompts; not with the key."""
        return digest([self.model, self.options.model_dump_json(), _RULES])[:16]

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        """Translate one file; see the protocol.

        ``context.settings`` may say ``level`` and ``direction`` (:mod:`cass_ray.llm.prompts`), and
        ``temperature`` and ``seed`` of this answer.
        """
        del filename
        task, asked = parse_task(self.options.task), context.settings
        try:
            task = Task(
                Level(asked.get("level", task.level)),
                Direction(asked.get("direction", task.direction)),
            )
            messages = self._messages(task, source)
            fence = self._format.wording(task).answer_fence
        except ValueError as error:
            raise TranslatorError(str(error)) from None
        reply = self._ask(messages, asked)
        usage = TranslationUsage(reply.prompt_tokens, reply.completion_tokens, reply.attempts)
        if reply.refusal or reply.finish == "content_filter":
            return _failed(source, f"the model refused: {reply.refusal or 'content filter'}"[:300])
        found = code_of(reply.text, (fence, "hip", "cpp", "c++"))
        if found is None:
            return _failed(source, "the model's answer holds no code")
        findings: tuple[Finding, ...] = ()
        if reply.finish == "length" or found.cut:
            message = "the answer was cut at the limit of its length"
            findings = (Finding(0, 0, "", Severity.ERROR, message, "raise ?max_new_tokens=N"),)
        text = found.text if found.text.endswith("\n") else found.text + "\n"
        return Translation(text, findings, Counts(converted=1), usage)

    def propose(self, source: str, messages: str) -> str | None:
        """``source``, corrected after the compiler's ``messages``; None where nothing came.

        Raises ``TranslatorError``.
        """
        question = _REPAIR.format(
            fence="hip", messages=messages[:_DIAGNOSTIC_CHARACTERS], source=source
        )
        reply = self._ask([{"role": "user", "content": question}])
        found = code_of(reply.text, ("hip", "cpp", "c++"))
        if found is None or found.cut or reply.finish == "length":
            return None
        return found.text if found.text.endswith("\n") else found.text + "\n"

    @cached_property
    def _format(self) -> PromptFormat:
        return prompt_format(self.options.format)

    def _messages(self, task: Task, source: str) -> list[Message]:
        asked = self._format.messages(task, source)
        if self.options.format != "ours":
            return asked
        rules = _RULES.format(fence=self._format.wording(task).answer_fence)
        return [{"role": "system", "content": rules}, *asked]

    def _ask(self, messages: list[Message], asked: Mapping[str, str] | None = None) -> Reply:
        options, asked = self.options, asked or {}
        settings = ChatSettings(
            model=self.model,
            endpoint=options.endpoint,
            key_variable=options.key_variable,
            temperature=float(asked.get("temperature", options.temperature)),
            max_new_tokens=options.max_new_tokens,
            attempts=options.attempts,
            timeout_seconds=options.timeout_seconds,
            first_wait_seconds=options.first_wait_seconds,
        )

        async def once() -> Reply:
            async with ChatClient(settings, self.cache) as client:
                return await client.ask(messages, int(asked.get("seed", options.seed)))

        try:
            return asyncio.run(once())
        except ChatError as error:
            raise TranslatorError(str(error)) from None


def _failed(source: str, message: str) -> Translation:
    finding = Finding(0, 0, "", Severity.ERROR, message, "ask again with another ?seed=N")
    return Translation(source, (finding,), Counts(unsupported=1))
