"""What the checker is asked and what it tells, and how its stages reach an event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Literal, TypeVar

from cass_ray.api.schema import CompileReport, ExecutionReport, TranslateRequest
from cass_ray.config import StrictModel
from cass_ray.toolchain.sandbox.process import ABANDON, Abandoned

Stage = TypeVar("Stage")


class CheckRequest(StrictModel):
    """A translation to check; ``request.check`` says how far."""

    request: TranslateRequest
    engine: str
    translation: str
    host: str = ""


class CheckStage(StrictModel):
    """Progress: a stage begins (no report) or is done. ``source`` is the repaired translation."""

    name: Literal["compile", "execute"]
    target: str = ""
    """Which of the request's further targets it is about; empty: the one that it is for."""
    compile: CompileReport | None = None
    execution: ExecutionReport | None = None
    source: str = ""


async def stages_in_thread(stages: Callable[[], Iterator[Stage]]) -> AsyncGenerator[Stage]:
    """Drive blocking stages from an event loop; ends them when the caller stops listening."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Stage | BaseException | None] = asyncio.Queue()
    abandon = threading.Event()

    def put(item: Stage | BaseException | None) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, item)

    def work() -> None:
        ABANDON.set(abandon)
        try:
            for stage in stages():
                if abandon.is_set():
                    return
                put(stage)
        except Abandoned:
            return
        except BaseException as error:  # to the caller, whose error it is
            put(error)
        else:
            put(None)

    running = loop.run_in_executor(None, contextvars.copy_context().run, work)
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        abandon.set()
        await asyncio.shield(running)
