"""Figures of the service on this machine, without a GPU.

    python -m benchmarks.serve                 all but the soak; about four minutes on two cores
    python -m benchmarks.serve --soak 600      with ten minutes of load and the slope of its memory
    python -m benchmarks.serve --only rules    one part: start, rules, overhead, check, overload …

Starts ``cass serve`` itself, on a port of its own. Writes ``benchmarks/results/serve.json`` and
``serve.md``. Load generator and service share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks.folders import RESULTS
from benchmarks.serve import load
from cass_ray.api.client import Client, ServerError
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT
from cass_ray.translate.rules import RulesTranslator

PROGRAM = SHIPPED_ROOT / "programs/general_compute/block_reduce.cu"
"""101 lines."""

_START_SECONDS = 300


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(PARTS))
    parser.add_argument("--soak", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--set", action="append", default=[], help="a setting of the service")
    parser.add_argument("--proxy", choices=["serve", "haproxy"], default="haproxy")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    parts = options.only or [name for name in PARTS if name != "soak"]
    if options.soak and "soak" not in parts:
        parts.append("soak")
    target = options.out / "serve.json"
    found: dict[str, Any] = json.loads(target.read_text()) if target.exists() else {}
    found["machine"] = {
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "python": platform.python_version(),
    }
    options.out.mkdir(parents=True, exist_ok=True)
    with ServiceProcess(options.proxy, options.set) as service:
        service.soak_seconds = options.soak
        for name in parts:
            print(f"{name} …", flush=True)
            made = {"load_average": os.getloadavg()[0], "proxy": options.proxy}
            found[name] = {**made, **PARTS[name](service)}
            print(json.dumps(found[name]), flush=True)
            target.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
            (options.out / "serve.md").write_text(page(found))
    return 0


class ServiceProcess:
    """``cass serve`` as a process of its own."""

    soak_seconds = 0.0

    def __init__(self, proxy: str, settings: Sequence[str] = ()) -> None:
        self.settings = [f"proxy={proxy}", *settings]

    def __enter__(self) -> ServiceProcess:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        started = time.perf_counter()
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "cass_ray.cli", "serve", "--no-auth"),
                *("--port", str(self.port)),
                *(word for setting in self.settings for word in ("--set", setting)),
            ],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("cass-ray serves"):
                break
        else:
            raise SystemExit("cass serve ended before it served: see above")
        self.start_seconds = time.perf_counter() - started
        self.client = Client(self.url, key="")
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def translate(self) -> str:
        return f"{self.url}/v1/translate"

    def replicas(self, name: str) -> list[psutil.Process]:
        root = psutil.Process(self.process.pid)
        found = []
        for process in root.children(recursive=True):
            try:
                if f"ServeReplica:cass:{name}" in " ".join(process.cmdline()):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def ingress_cpu_seconds(self) -> float:
        """Of the replicas that answer HTTP, so far: unlike a rate, the same on a busy machine."""
        times = [process.cpu_times() for process in self.replicas("ingress")]
        return float(sum(each.user + each.system for each in times))

    def resident_mib(self) -> float:
        """Of all replicas and the proxy together."""
        total = 0
        for process in psutil.Process(self.process.pid).children(recursive=True):
            try:
                if process.cmdline()[:1] and "ray::" in process.cmdline()[0]:
                    total += process.memory_info().rss
            except psutil.Error:
                continue
        return total / 2**20


def body(number: int, **options: Any) -> dict[str, Any]:
    """A request that no earlier one equals, so that no kept answer helps."""
    return {"source": f"{PROGRAM.read_text()}// {number} {time.time_ns()}\n", **options}


def start(service: ServiceProcess) -> dict[str, Any]:
    """Cold start, and how long a killed checker replica is away."""
    replica = service.replicas("checker")[0]
    replica.kill()
    started = time.perf_counter()
    service.client.translate(**body(0, check="compile"))
    return {
        "cold_start_s": round(service.start_seconds, 2),
        "checker_replica_replaced_s": round(time.perf_counter() - started, 2),
    }


def rules(service: ServiceProcess) -> dict[str, Any]:
    """Rules only: throughput at concurrency 8, latency at half of it."""
    bodies = [body(number) for number in range(3000)]
    asyncio.run(load.closed(service.translate, bodies[:200], 8))
    before = service.ingress_cpu_seconds()
    full = asyncio.run(load.closed(service.translate, bodies[200:], 8))
    spent = service.ingress_cpu_seconds() - before
    rate = 0.5 * full.as_dict()["per_second"]
    half = asyncio.run(load.at_rate(service.translate, body, rate, 10.0))
    return {
        "concurrency_8": full.as_dict(),
        "ingress_cpu_ms_per_request": round(1000 * spent / len(full.seconds), 2),
        "at_half_that_rate": half.as_dict(),
    }


def overhead(service: ServiceProcess) -> dict[str, Any]:
    """The whole path against the bare engine, one request at a time."""
    text, translator = PROGRAM.read_text(), RulesTranslator()
    bare = load.median_of(lambda: translator.translate(text, filename=PROGRAM.name), 300)
    bodies = [body(number) for number in range(400)]
    whole = asyncio.run(load.closed(service.translate, bodies, 1)).quantile(0.5)
    return {
        "bare_ms": round(1000 * bare, 2),
        "whole_ms": round(1000 * whole, 2),
        "overhead_ms": round(1000 * (whole - bare), 2),
    }


def check(service: ServiceProcess) -> dict[str, Any]:
    """Rules and compile check, and rules and execution, one at a time, nothing kept."""
    found = {}
    for name, count in (("compile", 15), ("execute", 8)):
        bodies = [body(number, check=name) for number in range(count)]
        asyncio.run(load.closed(service.translate, bodies[:2], 1))
        found[name] = asyncio.run(load.closed(service.translate, bodies[2:], 1)).as_dict()
    return found


def overload(service: ServiceProcess) -> dict[str, Any]:
    """Five times the rate of compile checks that the machine can do, for 20 s."""
    bodies = [body(number, check="compile") for number in range(12)]
    capacity = asyncio.run(load.closed(service.translate, bodies, 4)).as_dict()["per_second"]
    before = service.resident_mib()
    made = asyncio.run(
        load.at_rate(
            service.translate, lambda n: body(n, check="compile"), max(5 * capacity, 1.0), 20.0
        )
    )
    after = service.resident_mib()
    return {
        "capacity_per_second": capacity,
        **made.as_dict(),
        "resident_mib_before": round(before),
        "resident_mib_after": round(after),
    }


def kill(service: ServiceProcess) -> dict[str, Any]:
    """500 requests while replicas of engine, checker and ingress are killed."""

    async def run() -> tuple[load.LoadOutcome, list[str]]:
        killed: list[str] = []

        def shape(number: int) -> dict[str, Any]:
            return body(number, check="compile") if number % 50 == 0 else body(number)

        async def kill_now_and_then() -> None:
            for name in ("engine-rules", "checker", "ingress", "checker", "ingress"):
                await asyncio.sleep(2.0)
                for process in service.replicas(name)[:1]:
                    process.kill()
                    killed.append(name)

        killer = asyncio.create_task(kill_now_and_then())
        made = await load.at_rate(service.translate, shape, 40.0, 12.5)
        await killer
        return made, killed

    made, killed = asyncio.run(run())
    lost = made.statuses[0]
    return {**made.as_dict(), "killed": killed, "without_an_answer": lost}


def soak(service: ServiceProcess) -> dict[str, Any]:
    """Steady load, and the slope of resident memory over its second half."""
    seconds = service.soak_seconds or 600.0
    ends = time.monotonic() + seconds
    samples: list[tuple[float, float]] = []
    failures = 0
    while time.monotonic() < ends:
        made = asyncio.run(load.at_rate(service.translate, body, 40.0, 10.0))
        failures += sum(made.statuses.values()) - len(made.seconds)
        try:
            service.client.translate(**body(0, check="execute"))
        except ServerError:
            failures += 1
        samples.append((seconds - (ends - time.monotonic()), service.resident_mib()))
    later = samples[len(samples) // 2 :]
    slope = statistics.linear_regression(*zip(*later, strict=True)).slope if len(later) > 1 else 0.0
    return {
        "seconds": seconds,
        "failures": failures,
        "resident_mib": [round(samples[0][1]), round(samples[-1][1])],
        "slope_mib_per_hour": round(3600 * slope, 1),
    }


PARTS: dict[str, Callable[[ServiceProcess], dict[str, Any]]] = {
    "start": start,
    "rules": rules,
    "overhead": overhead,
    "check": check,
    "overload": overload,
    "kill": kill,
    "soak": soak,
}


def page(found: dict[str, Any]) -> str:
    machine = found["machine"]
    lines = [
        "# Serving, without a GPU",
        "",
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, Python {machine['python']}; load "
        "generator on the same machine. `python -m benchmarks.serve --soak 600 --proxy PROXY`, "
        f"`{PROGRAM.name}` (100 lines). The load average is of the machine before the part began: "
        "what else ran there takes from the figures.",
        "",
        "| | aim | measured | proxy | load average |",
        "|---|---|---|---|---:|",
    ]

    def row(part: str, what: str, aim: str, value: Callable[[dict[str, Any]], str]) -> None:
        if part in found:
            lines.append(
                f"| {what} | {aim} | {value(found[part])} | {found[part]['proxy']} "
                f"| {found[part]['load_average']:.1f} |"
            )

    row("start", "start of Ray, proxy and all replicas", "", lambda r: f"{r['cold_start_s']} s")
    row(
        "start",
        "killed checker: noticed, replaced, next answer",
        "≤ 10 s",
        lambda r: f"{r['checker_replica_replaced_s']} s",
    )
    row(
        "rules",
        "rules only, concurrency 8",
        "≥ 300/s",
        lambda r: f"{r['concurrency_8']['per_second']}/s",
    )
    row(
        "rules",
        "CPU of the ingress for one of them",
        "",
        lambda r: f"{r.get('ingress_cpu_ms_per_request', '–')} ms",
    )
    row(
        "rules",
        "p99 at half that rate",
        "≤ 50 ms",
        lambda r: f"{r['at_half_that_rate']['p99_ms']} ms",
    )
    row(
        "overhead",
        "overhead over the bare engine, p50",
        "≤ 5 ms",
        lambda r: f"{r['overhead_ms']} ms",
    )
    row(
        "check",
        "rules and compile check, p50",
        "≤ 1.2 s",
        lambda r: f"{r['compile']['p50_ms'] / 1000:.2f} s",
    )
    row("check", "rules and execution, p50", "", lambda r: f"{r['execute']['p50_ms'] / 1000:.2f} s")
    row("overload", "5 × overload: answers", "200, 429", lambda r: str(r["statuses"]))
    row(
        "overload",
        "… memory before, after",
        "bounded",
        lambda r: f"{r['resident_mib_before']}, {r['resident_mib_after']} MiB",
    )
    row(
        "kill",
        "500 requests, replicas killed",
        "0 lost",
        lambda r: f"{r['statuses']}, {r['without_an_answer']} without an answer",
    )
    row(
        "soak",
        "soak",
        "no slope",
        lambda r: (
            f"{r['slope_mib_per_hour']} MiB/h over {r['seconds']:.0f} s, {r['failures']} failures"
        ),
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
