"""Measures what a request of at most 1 MB costs the ingress, and ``/healthz`` meanwhile.

python -m benchmarks.serve.ingress [--rounds 3]

Bodies are those of attacks: a bracket of a launch again and again, names, values and lists without
end, texts of escapes, what is no UTF-8. CPU time is that of the processes that take requests
(Ray Serve's proxy and the ingress), of the round that cost most.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.security.service import RealService
from tests.security.test_ports import descendants

MB = 1_000_000
_PAUSE = 0.02
_TAKES_REQUESTS = ("Ingress", "ProxyActor")


def _program(text: str, size: int = MB) -> bytes:
    """A request to translate ``text`` again and again, of at most ``size`` bytes."""
    each = len(json.dumps(text)) - 2
    return json.dumps({"source": text * ((size - 100) // each)}).encode()


def bodies() -> dict[str, bytes]:
    """Each of at most 1 MB, by what it is."""
    made = {
        f"{text!r} again and again, {size // 1000} kB": _program(text, size)
        for text in ("k<<<", "((", "/*", '"', "\\\n", "#if X\n", "min(", "x")
        for size in (16_000, 64_000, MB)
    }
    made |= {
        "names": b"{" + b",".join(b'"%d":1' % n for n in range(90_000)) + b"}",
        "values": b'{"source":"x","inputs":[' + b"{}," * 300_000 + b"{}]}",
        "lists in lists": b"[" * MB,
        "a text of escapes": b'{"source":"' + b"\\u0041" * 160_000 + b'"}',
        "no UTF-8": b'{"source":"' + b"\xff" * 900_000 + b'"}',
        "a text without an end": b'{"source":"' + b"a" * 900_000,
    }
    return {name: body for name, body in made.items() if len(body) <= MB}


def taking_requests(service: RealService) -> list[int]:
    """The processes that every request passes through."""
    found = []
    for pid in descendants(service.process.pid):
        with suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
            if any(name in line for name in _TAKES_REQUESTS):
                found.append(pid)
    return found


def cpu_seconds(processes: list[int]) -> float:
    """User and system time, children excluded (proc(5), 14 and 15)."""
    total = 0
    for pid in processes:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


@contextmanager
def asked_for_health(service: RealService) -> Iterator[list[float]]:
    """The seconds of each answer of ``/healthz`` while the block runs."""
    seconds: list[float] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.wait(_PAUSE):
            began = time.monotonic()
            service.ask("GET", "/healthz", who=None)
            seconds.append(time.monotonic() - began)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield seconds
    finally:
        stop.set()
        thread.join()


def main() -> None:
    """Print a row for each body, and the largest numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serve.ingress")
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    worst = slowest = 0.0
    print(f"load average {os.getloadavg()[0]:.1f}\n")
    print("| body | status | CPU s of the ingress | /healthz, ms: median | longest |")
    print("|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name, RealService(Path(name)) as service:
        processes = taking_requests(service)
        assert processes, "no process of that name"
        for what, body in bodies().items():
            costs, times, status = [], [], 0
            for number in range(rounds):
                # Another program in each round: none is answered from what is kept.
                sent = body.replace(b'"source": "', b'"source": "//%d\\n' % number, 1)[:MB]
                with asked_for_health(service) as seconds:
                    before = cpu_seconds(processes)
                    headers = {"Content-Type": "application/json"}
                    status = service.ask("POST", "/v1/translate", sent, headers=headers).status
                    time.sleep(5 * _PAUSE)
                    costs.append(cpu_seconds(processes) - before)
                times += seconds
            times.sort()
            cost, middle, last = max(costs), times[len(times) // 2], times[-1]
            worst, slowest = max(worst, cost), max(slowest, last)
            print(f"| {what} | {status} | {cost:.2f} | {middle * 1e3:.0f} | {last * 1e3:.0f} |")
    print(f"\nmost: {worst:.2f} CPU s; /healthz at most {slowest * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
