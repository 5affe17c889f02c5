"""Answers that are streams: one task makes all pieces, within the time of one request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack

HEARTBEAT_SECONDS = 15.0


async def within(
    pieces: AsyncIterator[str],
    limit: float,
    failed: Callable[[Exception], str],
    held: ExitStack | None = None,
) -> AsyncIterator[str]:
    """``pieces``, with comments in between so that proxies stay.

    A limit inside a generator counts for the task that asks for the next piece, and each piece may
    be asked for by another: so one task asks for all. A client that does not read stops it at the
    limit too, and ``held`` is given back then. ``failed`` is the last piece for an error.
    """
    ready: asyncio.Queue[str | None] = asyncio.Queue(1)
    making = asyncio.ensure_future(_make(pieces, ready, limit, failed, held or ExitStack()))
    try:
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    piece = await ready.get()
            except TimeoutError:
                yield ": still at it\n\n"
                continue
            if piece is None:
                return
            yield piece
    finally:
        making.cancel()
        await asyncio.gather(making, return_exceptions=True)


async def _make(
    pieces: AsyncIterator[str],
    ready: asyncio.Queue[str | None],
    limit: float,
    failed: Callable[[Exception], str],
    held: ExitStack,
) -> None:
    last = None
    with held:
        try:
            async with asyncio.timeout(limit):
                async for piece in pieces:
                    await ready.put(piece)
        except Exception as error:
            last = failed(error)
        finally:
            await pieces.aclose()  # type: ignore[attr-defined]
    if last is not None:
        await ready.put(last)
    await ready.put(None)
