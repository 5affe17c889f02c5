"""A shipped recipe as it stands, by ``cass train``: Ray Train, DeepSpeed's ZeRO, real pairs.

    python -m benchmarks.train.recipe_run --out DIR [--workers 2 1] [--seconds 85]

Measured is ``jobs/configs/train_1.5b_source.yaml`` on the GPUs of this machine, but for the model,
which has the recipe's shape, fresh weights and a tokenizer learned from the pairs (nothing is
downloaded), and for the number of windows a step, eight a worker. Pairs are the shipped programs
with their names changed. Each run is ended after a few steps; its own ``metrics.jsonl`` is read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from benchmarks.train.shapes import REHEARSAL, SHAPES
from cass_ray.dataset.schema import PAIR_SCHEMA

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "jobs/configs/train_1.5b_source.yaml"
WARM, STEPS = 2, 3
"""Steps before what is measured, and measured ones."""
WINDOWS = 2 if REHEARSAL else 8
"""Windows of a worker in a step."""


def write_pairs(folder: Path) -> None:
    """The shipped programs, both sides, as a data set of pairs."""
    rows = []
    for path in sorted((ROOT / "cass_ray/corpus/shipped/programs").rglob("*.cu")):
        cuda = path.read_text(errors="replace")
        hip = cuda.replace("cuda_runtime.h", "hip/hip_runtime.h").replace("cuda", "hip")
        row: dict[str, Any] = dict.fromkeys(PAIR_SCHEMA.names)
        row |= {"id": hashlib.sha256(cuda.encode()).hexdigest(), "filename": path.name}
        rows.append(row | {"cuda_source": cuda, "hip_source": hip, "verified": "compiled"})
    (folder / "pairs").mkdir(parents=True)
    table = pa.Table.from_pylist(rows, schema=PAIR_SCHEMA)
    pq.write_table(table, folder / "pairs" / "part-00000.parquet")


def settings(out: Path, workers: int) -> dict[str, Any]:
    """The recipe's settings with what the docstring names changed."""
    recipe: dict[str, Any] = yaml.safe_load(RECIPE.read_text())
    sizes = SHAPES["toy" if REHEARSAL else "1.5b"]
    fresh = {key: value for key, value in sizes.items() if key != "tie_word_embeddings"}
    recipe["out"] = str(out / f"workers-{workers}")
    recipe["data"] |= {"pairs": [str(out / "data")]}
    recipe["model"] |= {
        "base": None,
        "fresh": {**fresh, "family": "qwen2", "max_position_embeddings": 32768},
    }
    recipe["batch"]["global_batch_size"] = WINDOWS * workers
    recipe["workers"] |= {"number": workers, "gpus": 0 if REHEARSAL else 1, "failures": 0}
    recipe["steps"] = 1000
    recipe["checkpoints"]["every"] = recipe["evaluation"]["every"] = 1000
    recipe["evaluation"]["bench"] = None
    if REHEARSAL:
        recipe["data"]["window"] = 8192
        recipe["model"]["compile"] = False
        recipe["model"]["fresh"]["vocab_size"] = 1024
    return recipe


def run(out: Path, workers: int, seconds: float) -> dict[str, Any]:
    """Some steps of the recipe: tokens a second of a worker, its MFU, seconds before a step."""
    config = out / f"workers-{workers}.yaml"
    config.write_text(yaml.safe_dump(settings(out, workers)))
    metrics = out / f"workers-{workers}" / "metrics.jsonl"
    started = time.time()
    with (out / f"workers-{workers}.log").open("w") as log:
        job = subprocess.Popen(
            [sys.executable, "-m", "jobs.train", "--config", str(config), "--restart"],
            stdout=log, stderr=log, cwd=ROOT, start_new_session=True,
        )  # fmt: skip
        try:
            first = None
            while job.poll() is None and time.time() < started + seconds:
                done = metrics.read_text().count("\n") if metrics.exists() else 0
                if done and first is None:
                    first = time.time() - started
                if done >= WARM + STEPS:
                    break
                time.sleep(0.5)
        finally:
            _end(job)
    text = metrics.read_text() if metrics.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()][WARM:]
    if not rows:
        log_end = (out / f"workers-{workers}.log").read_text()[-2000:]
        return {"workers": workers, "failed": f"no step within {seconds} s: {log_end}"}
    taken = sum(row["seconds"] for row in rows)
    weighted = sum(row.get("mfu", 0.0) * row["seconds"] for row in rows) / taken
    return {
        "system": "recipe",
        "workers": workers,
        "tokens_per_second": sum(row["tokens"] for row in rows) / taken / workers,
        "mfu": weighted,
        "memory_gib": max(row.get("memory_gib", 0.0) for row in rows),
        "data_wait_seconds": sum(row["data_wait_seconds"] for row in rows) / len(rows),
        "steps": len(rows),
        "startup_seconds": first,
    }


def _end(job: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            job.wait(15)
        os.killpg(job.pid, signal.SIGKILL)


def main() -> None:
    """Run the recipe with each number of workers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workers", nargs="+", type=int, default=[2, 1])
    parser.add_argument("--seconds", type=float, default=85)
    options = parser.parse_args()
    out: Path = options.out.absolute()
    out.mkdir(parents=True)
    write_pairs(out / "data")
    for workers in options.workers:
        row = run(out, workers, options.seconds)
        print(json.dumps(row), flush=True)
        with (out / "recipe.jsonl").open("a") as stream:
            stream.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
