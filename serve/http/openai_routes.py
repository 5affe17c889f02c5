"""``/v1/chat/completions`` and ``/v1/models``, as OpenAI's clients want them.

A ``model:`` engine holds the conversation itself. Any other engine translates the last fenced block
(or the whole text) of the last user message, and answers with one fenced block; where there is no
program in it, it says what it translates. Such an engine has no tokenizer: its usage counts words
and signs.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from cass_ray.api.schema import TranslateRequest, Usage
from cass_ray.llm.code_blocks import extract
from cass_ray.task import Direction, Level
from serve.errors import ApiError, as_api_error
from serve.http.dependencies import (
    Admitted,
    Authenticated,
    RequestId,
    ServicesOf,
    facts,
    unless_gone,
)
from serve.http.json_bodies import JsonRoute
from serve.http.routes import EVENT_SCHEMA, PROBLEMS
from serve.http.streams import within
from serve.request.clients import EngineClient
from serve.request.ingress_services import IngressServices
from serve.request.pipeline import Pipeline

router = APIRouter(prefix="/v1", tags=["openai"], route_class=JsonRoute)

_OWNER = "cass-ray"
_TICKS = re.compile("`+")
_PROGRAM = re.compile(
    r"^\s*(#\s*\w|//|/\*|\.(version|target|text)\b)|[;{}]\s*(//.*)?$|<<<|\b(__\w+__|(cuda|hip)[A-Z]\w+)",
    re.MULTILINE,
)
"""Signs of source or assembly in a message without a fenced block."""
_TOKEN = re.compile(r"\w+|[^\w\s]")


class ContentPart(BaseModel):
    """A part of a message; only text is understood."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["text"]
    text: str = ""


class ChatMessage(BaseModel):
    """One turn of a conversation."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[ContentPart] = ""

    @property
    def text(self) -> str:
        """The content as text; parts are joined."""
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """Whether a stream ends with the tokens that it took."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class ChatRequest(BaseModel):
    """What is used of OpenAI's request; other fields of it are accepted and ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(max_length=200, examples=["rules"])
    messages: list[ChatMessage] = Field(min_length=1, max_length=256)
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = Field(default=None, ge=0, le=2**31 - 1)
    n: Literal[1] = 1
    stream: bool = False
    stream_options: StreamOptions | None = None


class ModelCard(BaseModel):
    """An engine, listed as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = _OWNER


class ModelList(BaseModel):
    """The engines that chat can ask for."""

    object: Literal["list"] = "list"
    data: list[ModelCard]


class ChatUsage(BaseModel):
    """Tokens of question and answer."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class ChoiceMessage(BaseModel):
    """The turn that the engine adds."""

    role: Literal["assistant"] = "assistant"
    content: str


class Choice(BaseModel):
    """The only answer, and why it ended."""

    index: int = 0
    message: ChoiceMessage
    finish_reason: Literal["stop", "length"] = "stop"
    logprobs: None = None


class ChatCompletion(BaseModel):
    """A whole answer, not streamed."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: ChatUsage


@router.get("/models", responses=PROBLEMS)
async def models(services: ServicesOf, client: Authenticated) -> ModelList:
    """Engines that can be asked for."""
    del client
    return ModelList(data=[ModelCard(id=name) for name in services.engines])


@router.get("/models/{model}", responses=PROBLEMS)
async def model(model: str, services: ServicesOf, client: Authenticated) -> ModelCard:
    """One engine as a model."""
    del client
    return ModelCard(id=_engine(services, model).info.name)


@router.post(
    "/chat/completions",
    response_model=ChatCompletion,
    responses={**PROBLEMS, 200: {"content": {"text/event-stream": {"schema": EVENT_SCHEMA}}}},
)
async def complete(
    request: Request, body: ChatRequest, services: ServicesOf, client: Admitted, id: RequestId
) -> Response:
    """Answer a conversation."""
    del client
    engine = _engine(services, body.model)
    facts(request).update(engine=body.model, stream=body.stream)
    pieces = _pieces(services, engine, body, id)
    limit = services.settings.limits.request_seconds
    if body.stream:
        chunks = within(_chunks(pieces, body, id), limit, lambda error: _failed(error, id))
        return StreamingResponse(chunks, media_type="text/event-stream")
    async with asyncio.timeout(limit):
        text, finish, usage = await unless_gone(request, _collected(pieces))
    completion = ChatCompletion(
        id=f"chatcmpl-{id}",
        created=int(time.time()),
        model=body.model,
        choices=[Choice(message=ChoiceMessage(content=text), finish_reason=finish)],
        usage=_usage(usage),
    )
    return Response(completion.model_dump_json(), media_type="application/json")


class Ending(BaseModel):
    """The last piece of an answer: why it ended, and what it took."""

    finish: Literal["stop", "length"] = "stop"
    usage: Usage = Usage()


def _engine(services: IngressServices, name: str) -> EngineClient:
    engine = services.engines.get(name)
    if engine is None:
        engines = ", ".join(services.engines)
        raise ApiError(404, "model_not_found", f"no model is called {name!r}: there are {engines}")
    return engine


async def _pieces(
    services: IngressServices, engine: EngineClient, body: ChatRequest, id: str
) -> AsyncIterator[str | Ending]:
    """Text as it comes, then the ending."""
    if engine.info.streams:
        options = {
            "temperature": body.temperature,
            "seed": body.seed or 0,
            "max_new_tokens": body.max_completion_tokens or body.max_tokens,
        }
        messages = [{"role": turn.role, "content": turn.text} for turn in body.messages]
        async for piece in engine.chat(messages, options):
            yield piece if isinstance(piece, str) else Ending.model_validate(piece)
        return
    asked = next((turn for turn in reversed(body.messages) if turn.role == "user"), None)
    if asked is None:
        raise ApiError(422, "invalid", "no message of the role user")
    prompt = "".join(turn.text for turn in body.messages)
    if "```" not in asked.text and not _PROGRAM.search(asked.text):
        answer, usage = _offer(engine), None
    else:
        request = _as_translation(engine, asked.text)
        response = await Pipeline(services, request, id).result()
        fence = "cuda" if request.direction is Direction.HIP_TO_CUDA else "hip"
        answer, usage = _fenced(fence, response.translation), response.usage
    yield answer
    counted = Usage(prompt_tokens=_tokens(prompt), completion_tokens=_tokens(answer))
    yield Ending(usage=usage or counted)


def _tokens(text: str) -> int:
    return sum(1 for _ in _TOKEN.finditer(text))


def _offer(engine: EngineClient) -> str:
    """What an engine that only translates answers to a message without a program."""
    named = {Direction.CUDA_TO_HIP: "CUDA to HIP", Direction.HIP_TO_CUDA: "HIP to CUDA"}
    assembly = engine.info.levels == [Level.ASSEMBLY]
    does = (
        "the machine code of a CUDA program to RDNA3 assembly"
        if assembly
        else " and ".join(f"{named[each]}" for each in engine.info.directions)
    )
    return (
        f"The engine {engine.info.name} translates {does}. Send a program: a fenced block (```cuda,"
        " or ```hip for the way back), or its text alone. POST /v1/translate compiles and runs the"
        " translation as well."
    )


def _as_translation(engine: EngineClient, text: str) -> TranslateRequest:
    """The program in ``text``; its fence says from which language it comes."""
    block = extract(text, ("cuda", "hip", "cpp", "c++", ""))
    source = block.code if block is not None else text
    backwards = "```hip" in text and Direction.HIP_TO_CUDA in engine.info.directions
    return TranslateRequest(
        source=source,
        engine=engine.info.name,
        level=engine.info.levels[0] if engine.info.levels else Level.SOURCE,
        direction=Direction.HIP_TO_CUDA if backwards else Direction.CUDA_TO_HIP,
    )


def _fenced(name: str, code: str) -> str:
    longest = max(map(len, _TICKS.findall(code)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{name}\n{code.rstrip()}\n{ticks}"


async def _collected(
    pieces: AsyncIterator[str | Ending],
) -> tuple[str, Literal["stop", "length"], Usage]:
    text, ending = [], Ending()
    async for piece in pieces:
        if isinstance(piece, str):
            text.append(piece)
        else:
            ending = piece
    return "".join(text), ending.finish, ending.usage


def _usage(usage: Usage) -> ChatUsage:
    return ChatUsage(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        total_tokens=usage.prompt_tokens + usage.completion_tokens,
    )


def _failed(error: Exception, id: str) -> str:
    problem = as_api_error(error, id)
    return f"data: {json.dumps({'error': problem.problem(id).model_dump(mode='json')})}\n\n"


async def _chunks(
    pieces: AsyncIterator[str | Ending], body: ChatRequest, id: str
) -> AsyncIterator[str]:
    """The answer in OpenAI's chunks."""
    head = {
        "id": f"chatcmpl-{id}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": body.model,
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"

    ending = Ending()
    yield chunk({"role": "assistant", "content": ""})
    async for piece in pieces:
        if isinstance(piece, str):
            yield chunk({"content": piece})
        else:
            ending = piece
    yield chunk({}, ending.finish)
    if body.stream_options is not None and body.stream_options.include_usage:
        usage = _usage(ending.usage).model_dump()
        yield f"data: {json.dumps({**head, 'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"
