"""A client of OpenAI-compatible chat endpoints: bounded, patient, counted and cached.

Any server with ``/chat/completions`` will do: a provider's, vLLM's, ``cass serve``'s. The key comes
from an environment variable and appears in no message, log or cache.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from cass_ray.cache import ContentCache, digest
from cass_ray.config import StrictModel
from cass_ray.llm.prompts import Message
from cass_ray.toolchain.errors import ToolMissing

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_CHARACTERS_PER_TOKEN = 3
"""A token of code has at least so many: it is reserved before the endpoint has counted."""

_RETRIED_STATUS = frozenset({408, 409, 425, 429})


class Prices(StrictModel):
    """US dollars for a million tokens."""

    prompt: float = Field(default=0.0, ge=0.0)
    completion: float = Field(default=0.0, ge=0.0)


class Budget(StrictModel):
    """What may be spent; None is no limit. No request starts that could go over one of them."""

    requests: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    dollars: float | None = Field(default=None, ge=0.0)


class ChatSettings(StrictModel):
    """Which model at which endpoint, and how patiently it is asked."""

    RENAMED = {"longest": "max_new_tokens", "longest_wait_seconds": "max_wait_seconds"}

    model: str
    endpoint: str = ""
    """Base URL; default: ``$OPENAI_BASE_URL``, else the provider's own."""
    key_variable: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; local servers need none."""
    temperature: float = Field(default=0.0, ge=0.0)
    max_new_tokens: int = Field(default=8192, ge=1)
    concurrency: int = Field(default=16, ge=1)
    attempts: int = Field(default=6, ge=1)
    timeout_seconds: float = Field(default=300.0, gt=0.0)
    first_wait_seconds: float = Field(default=1.0, ge=0.0)
    max_wait_seconds: float = Field(default=60.0, ge=0.0)
    prices: Prices = Field(default_factory=Prices)
    budget: Budget = Field(default_factory=Budget)


@dataclass(frozen=True)
class Reply:
    """An answer. ``finish`` is the endpoint's reason (``stop``, ``length``, ``content_filter``)."""

    text: str
    finish: str = "stop"
    refusal: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 1
    cached: bool = False


@dataclass
class ClientUsage:
    """What a client has used so far. ``reserved_*`` is for requests that are under way."""

    requests: int = 0
    failed_requests: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float = 0.0
    reserved_tokens: int = 0
    reserved_dollars: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Counts and cost, without what is reserved for requests under way."""
        fields = asdict(self)
        return {name: value for name, value in fields.items() if not name.startswith("reserved")}


class ChatError(Exception):
    """No answer came: the last attempt's problem, and how many there were."""


class BudgetSpent(ChatError):
    """The request was not sent: it might cost more than is left."""


class _BadReply(Exception):
    """The endpoint answered 200 with something that is no completion."""


class ChatClient:
    """Asks one model. Make it, and use it, inside one event loop; close it afterwards."""

    def __init__(
        self,
        settings: ChatSettings,
        cache: ContentCache | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.settings = settings
        self.usage = ClientUsage()
        self._cache = cache
        self._slots = asyncio.Semaphore(settings.concurrency)
        variables = os.environ if environment is None else environment
        self._key = variables.get(settings.key_variable, "")
        self._endpoint = settings.endpoint or variables.get("OPENAI_BASE_URL", "")

    async def ask(
        self,
        messages: Sequence[Message],
        sample: int = 0,
        before_sending: Callable[[], None] | None = None,
    ) -> Reply:
        """The answer to ``messages``; another ``sample`` is another answer.

        ``before_sending`` is called once, when nothing but the network is left before the request.

        Raises:
            BudgetSpent: nothing was sent.
            ChatError: every attempt failed, or the endpoint rejects the request.
        """
        key = self.key(messages, sample)
        entry = self._cache.get(key) if self._cache is not None else None
        if entry is not None:
            self.usage.cached += 1
            return Reply(**{**json.loads(entry), "cached": True})
        reply = await self._ask_patiently(messages, sample, before_sending)
        if self._cache is not None:
            self._cache.put(key, json.dumps(asdict(reply)).encode())
        return reply

    def key(self, messages: Sequence[Message], sample: int = 0) -> str:
        """Names an answer in the cache: endpoint, model, parameters and conversation."""
        settings = self.settings
        parts = [
            self._endpoint,
            settings.model,
            str(settings.temperature),
            str(settings.max_new_tokens),
        ]
        return digest([*parts, str(sample), json.dumps(list(messages), sort_keys=True)])

    async def close(self) -> None:
        if "_client" in self.__dict__:
            await self._client.close()

    async def __aenter__(self) -> ChatClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @cached_property
    def _client(self) -> AsyncOpenAI:
        try:
            from openai import AsyncOpenAI
        except ImportError as error:
            raise ToolMissing("openai", "pip install 'cass-ray[serve]'", str(error)) from None
        return AsyncOpenAI(
            api_key=self._key or "none",
            base_url=self._endpoint or None,
            timeout=self.settings.timeout_seconds,
            max_retries=0,
        )

    async def _ask_patiently(
        self, messages: Sequence[Message], sample: int, before_sending: Callable[[], None] | None
    ) -> Reply:
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        settings = self.settings
        attempts = 0
        try:
            async for attempt in AsyncRetrying(
                stop=stop_after_attempt(settings.attempts),
                wait=self._wait,
                retry=retry_if_exception(_is_passing),
                reraise=True,
            ):
                with attempt:
                    attempts = attempt.retry_state.attempt_number
                    # A slot is held by requests only, not by who waits for another try.
                    async with self._slots:
                        release = self._reserve(messages)
                        if before_sending is not None and attempts == 1:
                            before_sending()
                        return await self._ask_once(messages, sample, attempts, release)
        except (BudgetSpent, ToolMissing):
            raise
        except Exception as error:
            times = f"{attempts} attempt{'s' if attempts > 1 else ''}"
            raise ChatError(f"{settings.model}: {self._said(error)} ({times})") from None
        raise AssertionError("tenacity returns or raises")

    def _wait(self, state: Any) -> float:
        """Seconds to the next attempt: what the endpoint asks for, else exponential with jitter."""
        from tenacity import wait_random_exponential

        settings = self.settings
        asked = _retry_after(state.outcome.exception())
        if asked is not None:
            return min(asked, settings.max_wait_seconds)
        wait = wait_random_exponential(settings.first_wait_seconds, settings.max_wait_seconds)
        return float(wait(state))

    async def _ask_once(
        self, messages: Sequence[Message], sample: int, attempt: int, release: Callable[[], None]
    ) -> Reply:
        try:
            completion: Any = await self._client.chat.completions.create(
                model=self.settings.model,
                messages=list(messages),  # type: ignore[arg-type]
                temperature=self.settings.temperature,
                max_tokens=self.settings.max_new_tokens,
                seed=sample,
            )
            reply = _reply_of(completion, messages, attempt)
        except BaseException:
            self.usage.failed_requests += 1
            raise
        finally:
            release()
        self.usage.prompt_tokens += reply.prompt_tokens
        self.usage.completion_tokens += reply.completion_tokens
        self.usage.dollars += self._cost(reply.prompt_tokens, reply.completion_tokens)
        return reply

    def _reserve(self, messages: Sequence[Message]) -> Callable[[], None]:
        """Set aside what a request may cost; returns how to give it back."""
        usage, budget = self.usage, self.settings.budget
        prompt = sum(len(item["content"]) for item in messages) // _CHARACTERS_PER_TOKEN + 16
        tokens = prompt + self.settings.max_new_tokens
        dollars = self._cost(prompt, self.settings.max_new_tokens)
        spent = usage.prompt_tokens + usage.completion_tokens + usage.reserved_tokens
        if budget.requests is not None and usage.requests + 1 > budget.requests:
            raise BudgetSpent(f"the budget of {budget.requests} requests is spent")
        if budget.tokens is not None and spent + tokens > budget.tokens:
            raise BudgetSpent(f"{spent} of {budget.tokens} tokens are spent or set aside")
        money = usage.dollars + usage.reserved_dollars
        if budget.dollars is not None and money + dollars > budget.dollars:
            raise BudgetSpent(f"${money:.4f} of ${budget.dollars:.4f} are spent or set aside")
        usage.requests += 1
        usage.reserved_tokens += tokens
        usage.reserved_dollars += dollars

        def release() -> None:
            usage.reserved_tokens -= tokens
            usage.reserved_dollars -= dollars

        return release

    def _cost(self, prompt: int, completion: int) -> float:
        prices = self.settings.prices
        return (prompt * prices.prompt + completion * prices.completion) / 1e6

    def _said(self, error: BaseException) -> str:
        """The problem in one line, without the key: endpoints quote it back."""
        text = " ".join(str(error).split()) or type(error).__name__
        return text.replace(self._key, "(key)")[:500] if self._key else text[:500]


def _is_passing(error: BaseException) -> bool:
    """Whether another attempt may succeed."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return error.status_code in _RETRIED_STATUS or error.status_code >= 500
    passing = (openai.APIConnectionError, openai.APIResponseValidationError, _BadReply, ValueError)
    return isinstance(error, passing)


def _retry_after(error: BaseException | None) -> float | None:
    """Seconds of the ``Retry-After`` header, where there is one."""
    response = getattr(error, "response", None)
    if response is None:
        return None
    try:
        return max(0.0, float(response.headers.get("retry-after", "")))
    except ValueError:
        return None


def _reply_of(completion: Any, messages: Sequence[Message], attempt: int) -> Reply:
    """The reply in a completion. Raises :class:`_BadReply` where it has none."""
    choices: Any = getattr(completion, "choices", None) or []
    message = getattr(choices[0], "message", None) if choices else None
    if message is None:
        raise _BadReply(f"the endpoint's answer is no completion: {str(completion)[:200]!r}")
    text, refusal = message.content or "", getattr(message, "refusal", None) or ""
    usage = getattr(completion, "usage", None)
    asked = sum(len(item["content"]) for item in messages)
    return Reply(
        text=text,
        finish=choices[0].finish_reason or "stop",
        refusal=refusal,
        prompt_tokens=getattr(usage, "prompt_tokens", None) or asked // _CHARACTERS_PER_TOKEN,
        completion_tokens=getattr(usage, "completion_tokens", None)
        or len(text) // _CHARACTERS_PER_TOKEN,
        attempts=attempt,
    )


def answer_cache(folder: Path) -> ContentCache:
    """The cache of answers below ``folder``."""
    return ContentCache(folder / "answers")
