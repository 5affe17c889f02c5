"""The service at five times what it can do, hostile requests among honest ones.

    python -m benchmarks.serve.overload                  ten minutes, then a drain
    python -m benchmarks.serve.overload --seconds 60     to see that it works

Starts ``cass serve`` with two kinds of keys, measures how many honest requests a second it can
answer, and offers five times as many: one in ten honest, the others of keys that attack it.
Honest clients do as they are told: on 429 and 503 they come again after ``Retry-After``. Each
honest answer is compared with what is right. Writes ``benchmarks/results/overload.{json,md}``.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from benchmarks.folders import RESULTS
from benchmarks.serve.hostile import ATTACKS, Target
from benchmarks.serve.overload_page import page
from benchmarks.serve.resources import Resources
from cass_ray.api.keys import key_digest, new_key
from cass_ray.cache import default_directory
from cass_ray.translate.rules import RulesTranslator

HONEST_SHARE = 0.1
"""Of what is offered: half of what the service can do on its own."""
FACTOR = 5.0
_SAMPLE_SECONDS = 5.0
_LONGEST_DRAIN_SECONDS = 900.0
_CAPACITY_SECONDS = 30.0
_CAPACITY_CLIENTS = 4
_HANGING_AT_ONCE = 1000

SETTINGS: dict[str, Any] = {
    "checker": {"wall_seconds": 5, "cpu_seconds": 10, "compile_seconds": 15, "memory_mib": 1024},
    "jobs": {"kept_mib": 64, "kept_mib_per_key": 32, "unpacked_mib": 128},
}
"""The defaults' order of magnitude, so that all of them are reached within minutes."""
_EXECUTABLES_MIB = 64
_OF_SETUP = ("hip-root", "hip-headers", "rdna3", "lift-support", "probes", "empty")
"""Folders of the cache that do not grow with requests."""

PROGRAM = """\
#include <cstdio>
__global__ void square(const float* in, float* out, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i] + {number};
}}
int main() {{
  float host[4] = {{1, 2, 3, 4}}, *in, *out;
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, sizeof(host));
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  square<<<1, 4>>>(in, out, 4);
  cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  for (float x : host) printf("%g\\n", x);
  cudaFree(in);
  cudaFree(out);
}}
"""
"""Right by hand: 1, 4, 9, 16, each plus ``number``."""

_RULES = RulesTranslator()


@dataclass(frozen=True)
class Honest:
    """A request and what is the right answer."""

    body: dict[str, Any]
    verified: str = ""

    def is_right(self, answer: dict[str, Any]) -> bool:
        source = self.body["source"]
        expected = _RULES.translate(source, filename="program.cu").source
        return answer["translation"] == expected and (
            not self.verified or answer["verdict"]["verification"] == self.verified
        )


def honest(number: int) -> Honest:
    """The mix: six of ten are only translated, one is compiled, three are run and compared."""
    source = PROGRAM.format(number=number)
    kind = number % 10
    if kind < 6:
        return Honest({"source": source}, "unchecked")
    if kind == 6:
        return Honest({"source": source, "check": "compile"}, "compiled")
    expected = "".join(f"{x * x + number:g}\n" for x in (1, 2, 3, 4))
    body = {"source": source, "check": "execute", "inputs": [{"expected_stdout": expected}]}
    return Honest(body, "matched")


@dataclass
class HonestOutcome:
    """What became of honest requests."""

    sent: int = 0
    answered: int = 0
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)
    """Times that a client was told to come again, by status."""
    without_retry_after: int = 0
    tries: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)


class HonestClient:
    """Sends requests and comes again when it is told to, until ``deadline``."""

    def __init__(self, session: aiohttp.ClientSession, url: str, key: str) -> None:
        self.session = session
        self.url = f"{url}/v1/translate"
        self.headers = {"Authorization": f"Bearer {key}"}
        self.outcome = HonestOutcome()
        self.under_way: list[asyncio.Task[None]] = []
        self.deadline = float("inf")

    async def send(self, request: Honest) -> None:
        made, started = self.outcome, time.monotonic()
        made.sent += 1
        for tries in itertools.count(1):
            status, wait, answer = await self._once(request)
            if answer is not None:
                made.answered += 1
                made.tries[tries] += 1
                made.seconds.append(time.monotonic() - started)
                if not request.is_right(answer):
                    made.wrong.append(json.dumps(answer["verdict"])[:2000])
                return
            made.told[status] += 1
            if wait is None:
                made.lost.append(status)
                return
            if time.monotonic() + wait > self.deadline:
                made.lost.append(f"not answered before the end of the drain ({status})")
                return
            await asyncio.sleep(wait + random.uniform(0, 1))

    async def _once(self, request: Honest) -> tuple[str, float | None, dict[str, Any] | None]:
        """Status, seconds to wait (None: not told to come again), the answer."""
        try:
            async with self.session.post(self.url, json=request.body, headers=self.headers) as got:
                text = await got.read()
                if got.status == 200:
                    return "200", None, json.loads(text)
                if got.status not in (408, 429, 503):
                    return f"{got.status} {text[:300].decode('utf-8', 'replace')}", None, None
                told = got.headers.get("Retry-After", "")
                self.outcome.without_retry_after += not told.isdigit()
                return str(got.status), float(told) if told.isdigit() else 1.0, None
        except (aiohttp.ClientError, ConnectionError, TimeoutError) as error:
            # A connection that is closed without an answer: any HTTP client sends it again.
            return type(error).__name__, 1.0, None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="overload-") as name, service(Path(name)) as target:
        found = asyncio.run(measured(target, options.seconds))
    found["command"] = "python -m benchmarks.serve.overload" + (
        f" --seconds {options.seconds:g}" if options.seconds != 600 else ""
    )
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "overload.json").write_text(json.dumps(found, indent=1) + "\n")
    (options.out / "overload.md").write_text(page(found))
    print(page(found))
    return int(bool(found["honest"]["lost"] or found["honest"]["wrong"]))


@contextmanager
def service(folder: Path) -> Iterator[Target]:
    """``cass serve`` with its caches, temporary files and jobs below ``folder``."""
    keys = {name: new_key() for name in ("honest", "hostile-1", "hostile-2")}
    settings = {
        **SETTINGS,
        "authentication": {
            "keys": [
                {
                    "name": name,
                    "sha256": key_digest(key),
                    "requests_per_minute": 60_000,
                    "concurrency": 64,
                }
                for name, key in keys.items()
            ]
        },
    }
    settings["jobs"] = {**SETTINGS["jobs"], "folder": str(folder / "jobs")}
    config = folder / "serve.yaml"
    config.write_text(yaml.safe_dump(settings))
    cache = _own_cache()
    for each in ("tmp", "ray"):
        (folder / each).mkdir()
    environment = {
        **os.environ,
        "CASS_CACHE": str(cache),
        "CASS_EXECUTABLES_MIB": str(_EXECUTABLES_MIB),
        "TMPDIR": str(folder / "tmp"),
        "RAY_TMPDIR": str(folder / "ray"),
    }
    with Target.started(config, environment, keys, folder, cache / "executables") as target:
        yield target


def _own_cache() -> Path:
    """A cache with what setting up has made, and nothing of other runs.

    It stays where it is, for the emulator is built for the paths of its headers.
    """
    cache = default_directory().with_name(f"{default_directory().name}-overload")
    cache.mkdir(exist_ok=True)
    for name in _OF_SETUP:
        made = default_directory() / name
        if made.is_dir() and not (cache / name).exists():
            shutil.copytree(made, cache / name, symlinks=True, copy_function=os.link)
    shutil.rmtree(cache / "executables", ignore_errors=True)
    return cache


async def measured(target: Target, seconds: float) -> dict[str, Any]:
    numbers = itertools.count()
    async with client(target) as sender:
        capacity = await _capacity(sender, numbers)
        if sender.outcome.wrong or sender.outcome.lost:
            raise SystemExit(f"without an attack: {sender.outcome}"[:4000])
    offered = FACTOR * capacity
    load = os.getloadavg()[0]
    print(f"capacity {capacity:.2f} a second; offering {offered:.1f}", flush=True)
    resources = Resources(target.process.pid, (target.folder, target.executables))
    sampling = asyncio.create_task(resources.sample_each(_SAMPLE_SECONDS))
    async with client(target) as sender:
        attacks = asyncio.create_task(_attack(target, offered * (1 - HONEST_SHARE), seconds))
        await _at_rate(sender, numbers, offered * HONEST_SHARE, seconds)
        hostile = await attacks
        drained = time.monotonic()
        sender.deadline = drained + _LONGEST_DRAIN_SECONDS
        await asyncio.gather(*sender.under_way)
        drain = time.monotonic() - drained
        well = Honest({"source": PROGRAM.format(number=0), "check": "execute"}, "executed")
        await sender.send(well)
    sampling.cancel()
    made = sender.outcome
    ordered = sorted(made.seconds)
    return {
        "seconds": seconds,
        "cores": os.cpu_count(),
        "load_average_before": round(load, 1),
        "settings": SETTINGS,
        "executables_mib": _EXECUTABLES_MIB,
        "capacity_per_second": round(capacity, 2),
        "offered_per_second": round(offered, 2),
        "honest": {
            "sent": made.sent,
            "answered": made.answered,
            "wrong": made.wrong,
            "lost": made.lost,
            "told_to_come_again": dict(made.told),
            "told_without_retry_after": made.without_retry_after,
            "most_tries": max(made.tries, default=0),
            "median_s": round(ordered[len(ordered) // 2], 2) if ordered else None,
            "p99_s": round(ordered[int(0.99 * len(ordered))], 2) if ordered else None,
        },
        "hostile": hostile,
        "drain_s": round(drain, 1),
        "resources": resources.as_dict(),
    }


@asynccontextmanager
async def client(target: Target) -> AsyncIterator[HonestClient]:
    timeout = aiohttp.ClientTimeout(total=400)
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        yield HonestClient(session, target.url, target.keys["honest"])


async def _capacity(sender: HonestClient, numbers: Iterator[int]) -> float:
    """Honest requests answered in a second by the service alone, some clients at once."""
    for number in itertools.islice(numbers, 10):
        await sender.send(honest(number))
    started = time.monotonic()
    before = sender.outcome.answered

    async def worker() -> None:
        while time.monotonic() - started < _CAPACITY_SECONDS:
            await sender.send(honest(next(numbers)))

    await asyncio.gather(*(worker() for _ in range(_CAPACITY_CLIENTS)))
    return (sender.outcome.answered - before) / (time.monotonic() - started)


async def _at_rate(
    sender: HonestClient, numbers: Iterator[int], per_second: float, seconds: float
) -> None:
    started = time.monotonic()
    for sent in itertools.count():
        at = started + sent / per_second
        if at > started + seconds:
            return
        await asyncio.sleep(max(0.0, at - time.monotonic()))
        sender.under_way.append(asyncio.create_task(sender.send(honest(next(numbers)))))


async def _attack(target: Target, per_second: float, seconds: float) -> dict[str, dict[str, int]]:
    """Attacks in turn at a rate; the statuses by attack."""
    found: dict[str, Counter[str]] = {name: Counter() for name in ATTACKS}
    running: set[asyncio.Task[None]] = set()
    started = time.monotonic()

    async def one(name: str, number: int) -> None:
        try:
            found[name][await ATTACKS[name](target, number)] += 1
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            found[name][type(error).__name__] += 1

    for number, name in enumerate(itertools.cycle(ATTACKS)):
        at = started + number / per_second
        if at > started + seconds:
            break
        await asyncio.sleep(max(0.0, at - time.monotonic()))
        if len(running) < _HANGING_AT_ONCE:
            task = asyncio.create_task(one(name, number))
            running.add(task)
            task.add_done_callback(running.discard)
        else:
            found[name]["not sent: too many hang"] += 1
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    return {name: dict(counts) for name, counts in found.items()}


if __name__ == "__main__":
    sys.exit(main())
