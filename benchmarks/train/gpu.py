"""Training throughput on one GPU, ours beside loops that an engineer would write today.

    python -m benchmarks.train.gpu --out DIR                    everything
    python -m benchmarks.train.gpu --out DIR --parts checks 7b   parts, by name or by its beginning
    python -m benchmarks.train.gpu --out DIR --scaling           several GPUs: ZeRO-2 and ZeRO-3
    python -m benchmarks.train.report DIR...                     the page

Every part runs in a process of its own, one after the other; the next one imports its packages
while it waits for its turn. Results are JSON lines in ``DIR/results.jsonl``. Without a GPU the
parts run on toy shapes, to try the code.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from benchmarks.train import gpu_measurements
from benchmarks.train.gpu_measurements import Scaling, scaling
from benchmarks.train.parts import PARTS
from benchmarks.train.shapes import REHEARSAL

LONGEST_PART = 400
"""Seconds after which a part is given up."""

SCALING: dict[str, Callable[[], dict[str, Any]]] = {
    f"zero-{stage}-{gpus}": partial(scaling, Scaling("7b", stage, gpus, 2))
    for stage in (2, 3)
    for gpus in (1, 2, 4)
}
SCALING |= {
    "zero-3-whole-2": partial(scaling, Scaling("7b", 3, 2, 2, live=8_000_000_000)),
    "ulysses-64k-2": partial(scaling, Scaling("7b", 3, 2, 2, shared=2)),
}


def environment(out: Path) -> dict[str, Any]:
    """Versions, card and command of a measurement; ``out`` is DIR in the command."""
    from importlib.metadata import distributions

    names = ["torch", "transformers", "liger-kernel", "bitsandbytes", "deepspeed", "triton"]
    names += ["nvidia-cudnn-frontend"]
    names += ["torchtitan", "torchao", "vllm"]
    found = {item.metadata["Name"].replace("_", "-"): item.version for item in distributions()}
    return {
        "gpu": "none: a rehearsal" if REHEARSAL else torch.cuda.get_device_name(0),
        "gpus": torch.cuda.device_count(),
        "versions": {name: found[name] for name in names if name in found},
        "command": "python -m benchmarks.train.gpu "
        + " ".join(sys.argv[1:]).replace(str(out), "DIR"),
        "day": time.strftime("%Y-%m-%d"),
    }


def start_part(name: str, out: Path, deadline: float) -> subprocess.Popen[bytes]:
    """A part in a process of its own, which waits for its turn."""
    command = [sys.executable, "-m", "benchmarks.train.gpu", "--out", str(out)]
    return subprocess.Popen([*command, "--part", name, "--deadline", str(deadline)])


def run_part(name: str, out: Path, deadline: float) -> None:
    """In that process: import, wait for the GPU, measure, write the row."""
    for module in ("transformers.models.qwen2.modeling_qwen2", "bitsandbytes", "torch._inductor"):
        import_module(module)
    turn = os.open(
        out / "turn", os.O_CREAT | os.O_RDWR
    )  # until the process and its memory are gone
    fcntl.flock(turn, fcntl.LOCK_EX)
    if time.time() > deadline:
        print(f"{name}: no time left", flush=True)
        return
    signal.alarm(LONGEST_PART)
    gpu_measurements.begin()
    row = {"part": name, **(PARTS | SCALING)[name]()}
    row["part_seconds"] = time.perf_counter() - gpu_measurements.STARTED
    with (out / "results.jsonl").open("a") as stream:
        stream.write(json.dumps(row) + "\n")
    shown = ("tokens_per_second", "mfu", "peak_gib", "device_gib", "startup_seconds")
    figures = {key: round(row[key], 3) for key in shown if key in row}
    print(name, figures or row, f"{row['part_seconds']:.0f} s", flush=True)


def arguments() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--parts", nargs="*", help="Names, or what several names begin with.")
    parser.add_argument("--seconds", type=float, default=3600, help="Start no part after.")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--deadline", type=float, help=argparse.SUPPRESS)
    return parser


def wanted(names: list[str] | None, is_scaling: bool) -> list[str]:
    """The parts to run, in their order."""
    gpus = 2 if REHEARSAL else torch.cuda.device_count()
    known = [*PARTS, *(name for name in SCALING if int(name[-1]) <= gpus)]
    if names:
        return [
            part
            for name in names
            for part in ([name] if name in known else known)
            if part == name or part.startswith(f"{name}-")
        ]
    return [name for name in known if (name in SCALING) == is_scaling]


def main() -> None:
    """Run the parts, each in a process of its own."""
    options = arguments().parse_args()
    if options.part:
        run_part(options.part, options.out, options.deadline)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "environment.json").write_text(json.dumps(environment(options.out), indent=1))
    deadline = time.time() + options.seconds
    running: list[tuple[str, subprocess.Popen[bytes]]] = []
    names = wanted(options.parts, options.scaling)
    while names or running:
        while names and len(running) < 2 and time.time() < deadline:
            name = names.pop(0)
            running.append((name, start_part(name, options.out, deadline)))
        if not running:
            print("no time left for", *names, flush=True)
            return
        name, process = running.pop(0)
        if code := process.wait():
            print(f"{name}: failed with {code}", flush=True)


if __name__ == "__main__":
    main()
