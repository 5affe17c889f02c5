"""A load generator: requests at a concurrency or at a rate, latencies, refusals."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import aiohttp


@dataclass
class LoadOutcome:
    """What came back: seconds of each success, how many of each status."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    """How connections ended that closed without an answer; the request was sent once more."""
    wall: float = 0.0

    def quantile(self, share: float) -> float:
        """Seconds that ``share`` of the successes took at most."""
        ordered = sorted(self.seconds)
        return (
            ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
        )

    def as_dict(self) -> dict[str, Any]:
        good = len(self.seconds)
        return {
            "requests": sum(self.statuses.values()),
            "succeeded": good,
            "per_second": round(good / self.wall, 1) if self.wall else 0.0,
            "p50_ms": round(1000 * self.quantile(0.5), 2),
            "p99_ms": round(1000 * self.quantile(0.99), 2),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            **({"failures": dict(self.failures)} if self.failures else {}),
        }


async def closed(
    url: str,
    bodies: Iterable[dict[str, Any]],
    concurrency: int,
    headers: dict[str, str] | None = None,
) -> LoadOutcome:
    """Send ``bodies``, ``concurrency`` at a time."""
    pending = iter(bodies)
    made = LoadOutcome()

    async def worker(session: aiohttp.ClientSession) -> None:
        for body in pending:
            await _one(session, url, body, made)

    async with _session(concurrency, headers) as session:
        started = time.perf_counter()
        await asyncio.gather(*(worker(session) for _ in range(concurrency)))
        made.wall = time.perf_counter() - started
    return made


async def at_rate(
    url: str,
    body_of: Callable[[int], dict[str, Any]],
    per_second: float,
    seconds: float,
    headers: dict[str, str] | None = None,
) -> LoadOutcome:
    """Start requests at a rate, whatever becomes of them: an open load, as of many people."""
    made = LoadOutcome()
    tasks = []
    async with _session(0, headers) as session:
        started = time.perf_counter()
        for number in range(int(per_second * seconds)):
            delay = started + number / per_second - time.perf_counter()
            if delay > 0:
                await asyncio.sleep(delay)
            tasks.append(asyncio.create_task(_one(session, url, body_of(number), made)))
        await asyncio.gather(*tasks)
        made.wall = time.perf_counter() - started
    return made


def _session(connections: int, headers: dict[str, str] | None) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=connections)
    timeout = aiohttp.ClientTimeout(total=600)
    return aiohttp.ClientSession(connector=connector, headers=headers, timeout=timeout)


async def _one(
    session: aiohttp.ClientSession, url: str, body: dict[str, Any], made: LoadOutcome
) -> None:
    """A request, sent again when its connection closes without an answer, as our client does."""
    started = time.perf_counter()
    status = 0  # no answer at all
    for _ in range(2):
        try:
            async with session.post(url, json=body) as answer:
                await answer.read()
                status = answer.status
                break
        except aiohttp.ClientError as error:
            made.failures[f"{type(error).__name__}: {error}"] += 1
    made.statuses[status] += 1
    if status == 200:
        made.seconds.append(time.perf_counter() - started)


def median_of(call: Callable[[], object], times: int) -> float:
    """Median seconds of a call, after one to warm up."""
    call()
    found = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        found.append(time.perf_counter() - started)
    return statistics.median(found)
