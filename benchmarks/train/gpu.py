"""Training throughput on GPUs; one call measures everything that one machine can.

    python -m benchmarks.train.gpu --out DIR            one GPU: checks, throughput, packing
    python -m benchmarks.train.gpu --out DIR --scaling  several GPUs of one host: ZeRO-2 and ZeRO-3
    python -m benchmarks.train.gpu --out DIR --side-by-side  both, one-GPU parts side by side

The baseline is the plain loop that the usual recipes amount to: transformers' Qwen2 with Liger's
kernels, paged AdamW (32-bit), activation checkpointing of every layer, torch's flash attention, one
sequence of 16,384 tokens at a time, 8 of them a step. Every part runs in a process of its own, so
that one that fails leaves the others alone; results are JSON lines in ``DIR/results.jsonl``.
Without a GPU the parts run on toy shapes, to try the code.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.train.gpu_measurements import (
    ACCUMULATION,
    IN_PLACE,
    PLAIN,
    Products,
    Scaling,
    baseline,
    checks,
    ours,
    scaling,
)
from benchmarks.train.padding import packing
from benchmarks.train.shapes import REHEARSAL, WINDOW
from cass_ray.train.settings import OptimizerSettings

LONGEST_PART = 200
"""Seconds after which a part is given up."""


# --- Parts --------------------------------------------------------------------------------------


def _ours(
    shape: str,
    kind: str,
    masters: bool,
    steps: int,
    at_once: int = 1,
    products: Products = PLAIN,
) -> dict[str, Any]:
    options = {"grad_accum_dtype": "bf16"} if masters else IN_PLACE
    optimizer = OptimizerSettings(kind=kind, **options)  # type: ignore[arg-type]
    batches = [(WINDOW,) * at_once] * (ACCUMULATION // at_once)
    made = ours(shape, optimizer, batches, steps, products)
    return {"system": "ours", **made}


def _packing(task: str) -> dict[str, Any]:
    return packing("1.5b", task, 2)


COMPILED, STATIC = Products(compiled=True), Products(compiled="static")
FP8, FP8_STATIC = replace(COMPILED, fp8=True), replace(STATIC, fp8=True)
FUSED = replace(STATIC, fused_mlp=True)

PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "checks": checks,
    "7b-plain": lambda: baseline("7b", True, 2),
    "7b-ours": lambda: _ours("7b", "paged-adamw", False, 2),
    "7b-ours-8bit": lambda: _ours("7b", "paged-adamw-8bit", False, 2),
    "7b-ours-fp8": lambda: _ours("7b", "paged-adamw-8bit", False, 2, products=FP8),
    "7b-ours-static": lambda: _ours("7b", "paged-adamw-8bit", False, 3, products=STATIC),
    "7b-ours-fp8-static": lambda: _ours("7b", "paged-adamw-8bit", False, 3, products=FP8_STATIC),
    "7b-ours-masters-8bit": lambda: _ours("7b", "paged-adamw-8bit", True, 2),
    "1.5b-plain": lambda: baseline("1.5b", True, 3),
    "1.5b-plain-no-checkpointing": lambda: baseline("1.5b", False, 3),
    "1.5b-ours": lambda: _ours("1.5b", "paged-adamw", False, 3),
    "1.5b-ours-two-at-once": lambda: _ours("1.5b", "paged-adamw", False, 3, at_once=2),
    "1.5b-ours-masters": lambda: _ours("1.5b", "paged-adamw", True, 3),
    "packing-source": lambda: _packing("source"),
    "packing-assembly": lambda: _packing("assembly"),
    "packing-both": lambda: _packing("both"),
    "1.5b-ours-compiled": lambda: _ours("1.5b", "paged-adamw", False, 3, products=COMPILED),
    "1.5b-ours-fp8": lambda: _ours("1.5b", "paged-adamw", False, 3, products=FP8),
    "1.5b-ours-static": lambda: _ours("1.5b", "paged-adamw", False, 3, products=STATIC),
    "1.5b-ours-two-at-once-static": lambda: _ours(
        "1.5b", "paged-adamw", False, 3, at_once=2, products=STATIC
    ),
    "7b-ours-fused": lambda: _ours("7b", "paged-adamw-8bit", False, 3, products=FUSED),
    "1.5b-ours-two-at-once-fused": lambda: _ours(
        "1.5b", "paged-adamw", False, 3, at_once=2, products=FUSED
    ),
    "1.5b-ours-fp8-static": lambda: _ours("1.5b", "paged-adamw", False, 3, products=FP8_STATIC),
}

SCALING: dict[str, Callable[[], dict[str, Any]]] = {
    f"zero-{stage}-{gpus}": partial(scaling, Scaling("7b", stage, gpus, 2))
    for stage in (2, 3)
    for gpus in (1, 2, 4)
}
SCALING |= {
    "zero-3-whole-2": partial(scaling, Scaling("7b", 3, 2, 2, live=8_000_000_000)),
    "ulysses-64k-2": partial(scaling, Scaling("7b", 3, 2, 2, shared=2)),
}


def environment() -> dict[str, Any]:
    """What the figures were measured with."""
    from importlib.metadata import distributions

    names = ["torch", "transformers", "liger-kernel", "bitsandbytes", "deepspeed", "triton"]
    names += ["flash-attn-4", "flash-attn", "quack-kernels"]
    found = {item.metadata["Name"].replace("_", "-"): item.version for item in distributions()}
    return {
        "gpu": "none: a rehearsal" if REHEARSAL else torch.cuda.get_device_name(0),
        "gpus": torch.cuda.device_count(),
        "versions": {name: found[name] for name in names if name in found},
        "command": "python -m benchmarks.train.gpu " + " ".join(sys.argv[1:]),
    }


def run_part(name: str, out: Path, gpu: int | None, seconds: float) -> None:
    """Run one part in a process of its own, that sees ``gpu`` alone (None: all of them)."""
    if seconds < 5:
        print(f"{name}: no time left", flush=True)
        return
    command = [sys.executable, "-m", "benchmarks.train.gpu", "--out", str(out), "--part", name]
    own = {} if gpu is None else {"CUDA_VISIBLE_DEVICES": str(gpu)}
    began = time.monotonic()
    try:
        limit = min(seconds, LONGEST_PART)
        subprocess.run(command, check=True, timeout=limit, env=os.environ | own)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        traceback.print_exc(limit=0)
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)


def side_by_side(names: list[str], gpus: int) -> list[list[list[str]]]:
    """Rounds of lanes: parts of one GPU in as many lanes as GPUs, those of several alone.

    A system and what it is compared with stay in one lane.
    """
    several = [[[name]] for name in names if name in SCALING and int(name[-1]) > 1]
    alone = [name for name in names if name in SCALING and int(name[-1]) == 1]
    families: dict[str, list[str]] = {}
    for name in names:
        if name not in SCALING:
            families.setdefault(name.split("-")[0], []).append(name)
    lanes: list[list[str]] = [[] for _ in range(gpus)]
    for _, family in sorted(families.items(), key=_cost, reverse=True):
        min(lanes, key=lambda lane: sum(_cost((part, [part])) for part in lane)).extend(family)
    return [[[name] for name in alone], *several, lanes]


def _cost(family: tuple[str, list[str]]) -> float:
    """About the minutes that a family's parts take."""
    name, parts = family
    return len(parts) * (1.0 if name.startswith(("7b", "packing")) else 0.5)


def arguments() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--side-by-side", action="store_true")
    parser.add_argument("--parts", nargs="*")
    parser.add_argument("--seconds", type=float, default=540, help="Start no part after.")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    return parser


def main() -> None:
    """Run the parts, each in a process of its own."""
    options = arguments().parse_args()
    if options.part:
        row = {"part": options.part, **(PARTS | SCALING)[options.part]()}
        with (options.out / "results.jsonl").open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "environment.json").write_text(json.dumps(environment(), indent=1))
    end = time.monotonic() + options.seconds
    gpus = 2 if REHEARSAL else torch.cuda.device_count()
    scaling_parts = [name for name in SCALING if int(name[-1]) <= gpus]
    wanted = options.parts or (scaling_parts if options.scaling else list(PARTS))
    if not options.side_by_side:
        for name in wanted:
            run_part(name, options.out, None, end - time.monotonic())
        return
    for lanes in side_by_side(options.parts or [*scaling_parts, *PARTS], gpus):
        with ThreadPoolExecutor(gpus) as pool:
            for gpu, lane in enumerate(lanes):
                shown = None if len(lanes) == 1 else gpu
                pool.submit(_run_lane, lane, options.out, shown, end)


def _run_lane(names: list[str], out: Path, gpu: int | None, end: float) -> None:
    for name in names:
        run_part(name, out, gpu, end - time.monotonic())


if __name__ == "__main__":
    main()
