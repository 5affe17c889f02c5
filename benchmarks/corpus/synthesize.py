"""How busy ``cass synthesize`` keeps an endpoint, measured by a local one.

``python -m benchmarks.corpus.synthesize [--prompts N] [--slots N] [--json FILE] [--markdown FILE]``

The server answers like a model that takes between half and one and a half times ``--seconds``,
and fails or is wrong now and then; its answers are shipped programs. Busy is the integral of
requests inside over time, from the first request until fewer prompts than slots were left, divided
by slots and time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.measure.machine import this_machine
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT
from cass_ray.corpus.synthetic.ledger import Ledger
from cass_ray.corpus.synthetic.synthesis import (
    Synthesis,
    SynthesisOutcome,
    SynthesisSettings,
    Yield,
)
from cass_ray.llm.client import ChatClient

Json = dict[str, Any]

_PROGRAMS = sorted(SHIPPED_ROOT.joinpath("programs/general_compute").glob("*.cu"))


class Endpoint:
    """A model that is asleep most of the time, and counts who waits for it."""

    def __init__(self, seconds: float, prompts: int, slots: int) -> None:
        self.seconds = seconds
        self.until = prompts - slots
        self.chance = random.Random(1)
        self.answers = [path.read_text() for path in _PROGRAMS]
        self.started = self.inside = self.most = 0
        self.busy = self.last = self.first = 0.0
        self.window = 0.0

    def _note(self, change: int) -> None:
        now = time.monotonic()
        if self.first and self.started <= self.until:
            self.busy += self.inside * (now - self.last)
            self.window = now - self.first
        self.first = self.first or now
        self.last = now
        self.inside += change
        self.started += change > 0
        self.most = max(self.most, self.inside)

    async def complete(self, request: web.Request) -> web.Response:
        await request.read()
        self._note(1)
        try:
            await asyncio.sleep(self.seconds * self.chance.uniform(0.5, 1.5))
            if self.chance.random() < 0.02:
                return web.Response(status=500)
            text = f"```cuda\n{self.chance.choice(self.answers)}\n```"
            if self.chance.random() < 0.05:
                text = "I would use shared memory for that."
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return web.json_response(
                {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                 "choices": [choice],
                 "usage": {"prompt_tokens": 300, "completion_tokens": 1500, "total_tokens": 1800}}
            )  # fmt: skip
        finally:
            self._note(-1)


async def measure(prompts: int, slots: int, seconds: float) -> Json:
    """One run against a server in the same loop."""
    endpoint = Endpoint(seconds, prompts, slots)
    application = web.Application(client_max_size=1 << 24)
    application.router.add_post("/v1/chat/completions", endpoint.complete)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    counts = Yield()
    with tempfile.TemporaryDirectory() as folder:
        settings = SynthesisSettings.model_validate(
            {
                "out": folder,
                "count": prompts,
                "chat": {
                    "model": "m",
                    "endpoint": f"http://127.0.0.1:{runner.addresses[0][1]}/v1",
                    "concurrency": slots,
                    "first_wait_seconds": 0.2,
                },
            }
        )
        began = time.monotonic()
        cpu = time.process_time()
        with Ledger(Path(folder) / ".work") as ledger:
            async with ChatClient(settings.chat) as client:

                def add(outcome: SynthesisOutcome) -> None:
                    counts.add(outcome)

                await Synthesis(settings, client, ledger, on_outcome=add).run()
        wall, cpu = time.monotonic() - began, time.process_time() - cpu
    await runner.cleanup()
    return {
        "prompts": prompts,
        "slots": slots,
        "seconds_per_answer": seconds,
        "busy": round(endpoint.busy / (endpoint.window * slots), 4),
        "most_requests_at_once": endpoint.most,
        "wall_seconds": round(wall, 2),
        "cpu_seconds": round(cpu, 2),
        "requests": endpoint.started,
        "verdicts": counts.as_dict()["verdicts"],
    }


def markdown(figures: Json) -> str:
    """The page made from ``figures``."""
    machine = figures["machine"]
    lines = [
        "# cass synthesize: is the endpoint kept busy?",
        "",
        f"    {figures['command']}",
        "",
        f"{machine['cores']} cores, {machine['processor']}, shared with other work; the server "
        "runs in the same process. Busy is the share of slots with a request inside, from the "
        "first request until fewer prompts than slots are left.",
        "",
        "| prompts | slots | mean answer, s | busy | requests | wall, s | CPU, s | verdicts |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for run in figures["runs"]:
        verdicts = ", ".join(f"{count} {name}" for name, count in run["verdicts"].items())
        lines.append(
            f"| {run['prompts']} | {run['slots']} | {run['seconds_per_answer']} "
            f"| {run['busy']:.1%} | {run['requests']} | {run['wall_seconds']} "
            f"| {run['cpu_seconds']} | {verdicts} |"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--prompts", type=int, default=400)
    parser.add_argument("--slots", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    slots = " ".join(map(str, given.slots))
    figures: Json = {
        "command": f"python -m benchmarks.corpus.synthesize --prompts {given.prompts} "
        f"--slots {slots} --seconds {given.seconds}",
        "machine": this_machine().model_dump(),
        "runs": [
            asyncio.run(measure(given.prompts, number, given.seconds)) for number in given.slots
        ],
    }
    print(json.dumps(figures["runs"], indent=1))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n")
    if given.markdown:
        given.markdown.write_text(markdown(figures))


if __name__ == "__main__":
    main()
