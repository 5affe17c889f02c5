"""What the shape of a small model costs: one GPU, rows of random tokens, lengths of a real run.

    python -m recipes.small.shapes [LENGTHS.json] --out DIR [--only NAME …]

``LENGTHS.json`` holds rows of ``train_small.yaml``: the tokens of each example, and as the last
number how many tokens are predicted. Without it lengths are drawn that are alike: 41 examples a
row, 1,590 tokens on average, 8,192 at most. Each shape is trained as the recipe trains (Muon,
compiled layers) for a few steps; a line of JSON a shape, and with ``--profile`` a table of the
kernels that take the time.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from cass_ray.config import load
from cass_ray.train.data.collate import Batch, padded
from cass_ray.train.distributed import distributed_context
from cass_ray.train.engines.replicated import ReplicatedEngine
from cass_ray.train.meters import Operations, peak_operations
from cass_ray.train.model.build import build_model, fresh_config, inner_model, prepare
from cass_ray.train.settings import TrainSettings
from recipes.small.fused_products import fuse_products

CONFIG = Path(__file__).parents[2] / "jobs/configs/train_small.yaml"
_ROW = 65536
_LONGEST = 8192


@dataclass(frozen=True)
class Shape:
    """Sizes under the names of the configuration, and the attention."""

    hidden: int
    layers: int
    heads: int
    key_value_heads: int
    width: int
    intermediate: int
    attention: str = "flash"
    fused: bool = False
    """Products of the same activations as one."""
    fp8: bool = False
    """Head and loss together; else torch's cross entropy of 4,096 predictions at once."""
    rows: int = 1
    """Rows of a step."""


SHAPES = {
    "16x768": Shape(768, 16, 12, 4, 64, 2048),
    "16x768-wide-heads": Shape(768, 16, 6, 2, 128, 2048),
    "16x768-wide-heads-cudnn": Shape(768, 16, 6, 2, 128, 2048, "cudnn"),
    "10x1024": Shape(1024, 10, 8, 2, 128, 2816),
    "10x1024-cudnn": Shape(1024, 10, 8, 2, 128, 2816, "cudnn"),
    "7x1280-cudnn": Shape(1280, 7, 8, 2, 128, 3456, "cudnn"),
    "7x1280": Shape(1280, 7, 8, 2, 128, 3456),
    "8x1152-few-heads": Shape(1152, 8, 6, 2, 128, 3584),
    "8x1152-fused": Shape(1152, 8, 6, 2, 128, 3584, fused=True),
    "8x1152-fused-2-rows": Shape(1152, 8, 6, 2, 128, 3584, fused=True, rows=2),
    "8x1152-fp8": Shape(1152, 8, 6, 2, 128, 3584, fp8=True),
    "10x1024-fused": Shape(1024, 10, 8, 2, 128, 2816, fused=True),
    "8x1536-fused": Shape(1536, 8, 8, 2, 128, 4608, fused=True),
    "8x1536-fp8": Shape(1536, 8, 8, 2, 128, 4608, fp8=True),
    "8x768-fused": Shape(768, 8, 6, 2, 128, 2048, fused=True),
}


def drawn_lengths() -> list[list[int]]:
    """Eight rows as ``LENGTHS.json`` has them: log-normal lengths, 35% of the tokens predicted."""
    chance = np.random.default_rng(0)
    made = []
    for _ in range(8):
        row = list[int]()
        while True:
            length = int(np.clip(chance.lognormal(np.log(1700) - 0.4, 0.9), 64, _LONGEST))
            if sum(row) + length > _ROW:
                break
            row.append(length)
        made.append([*row, int(0.35 * sum(row))])
    return made


def rows(path: Path | None, device: torch.device, vocabulary: int) -> list[Batch]:
    """Batches of random tokens with the lengths in ``path``, or with drawn ones."""
    chance = np.random.default_rng(0)
    made = []
    for *lengths, predicted in json.loads(path.read_text()) if path else drawn_lengths():
        total = sum(lengths)
        ids = torch.from_numpy(chance.integers(0, vocabulary, (1, total)))
        share = predicted / total
        starts = np.cumsum([0, *lengths[:-1]])
        where = np.concatenate(
            [
                np.arange(start + int((1 - share) * size) - 1, start + size - 1)
                for start, size in zip(starts, lengths, strict=True)
            ]
        )
        predictors = torch.from_numpy(where)
        batch = Batch(
            input_ids=ids,
            position_ids=torch.from_numpy(np.concatenate([np.arange(n) for n in lengths]))[None],
            lengths=tuple(lengths),
            predictors=predictors,
            targets=ids[0][predictors + 1],
            examples=(),
            weights=torch.ones(len(where)),
        )
        made.append(padded(batch, _ROW, 0).to(device))
    return made


def measured(name: str, lengths: Path | None, steps: int, profile: Path | None) -> dict[str, Any]:
    """Throughput of one shape."""
    shape = SHAPES[name]
    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    settings = load(TrainSettings, CONFIG, {})
    assert settings.model.fresh is not None
    sizes = settings.model.fresh.model_copy(
        update={
            "hidden_size": shape.hidden,
            "num_hidden_layers": shape.layers,
            "num_attention_heads": shape.heads,
            "num_key_value_heads": shape.key_value_heads,
            "head_dim": shape.width,
            "intermediate_size": shape.intermediate,
        }
    )
    changes = {"fresh": sizes, "attention": shape.attention, "fp8": shape.fp8}
    model = settings.model.model_copy(update=changes)
    config = fresh_config(sizes, sizes.vocab_size, 0, 1)
    torch._dynamo.reset()
    built = build_model(model, config=config, seed=0, device=device)
    if shape.fused:
        fuse_products(list(built.get_decoder().layers))
    prepared = prepare(built, model, device)
    prepared.model.train()
    engine = ReplicatedEngine(prepared.model, settings.optimizer, distributed_context(device))
    operations = Operations.of(inner_model(prepared.model.model).config, prepared.model.layers)
    batches = rows(lengths, device, sizes.vocab_size)
    times, rates = list[float](), list[float]()
    peak = peak_operations(device) or float("nan")

    def step(number: int) -> None:
        own = [batches[(number * shape.rows + row) % len(batches)] for row in range(shape.rows)]
        started = time.perf_counter()
        for batch in own:
            engine.accumulate(batch, 1.0 / len(batch.targets), batch is own[-1])
        engine.update(0.001)
        if device.type == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
        computed = sum(operations(batch.lengths, len(batch.targets)) for batch in own)
        rates.append(computed / times[-1] / peak)

    for number in range(8 + steps):
        step(number)
    if profile is not None:
        _profiled(step, profile / f"{name}.txt")
    return {
        "shape": name,
        "weights": prepared.parameters,
        "seconds_a_step": median(times[8 : 8 + steps]),
        "tokens_per_second": shape.rows * _ROW / median(times[8 : 8 + steps]),
        "mfu": median(rates[8 : 8 + steps]),
        "memory_gib": torch.cuda.max_memory_allocated() / 2**30,
        "attention": prepared.attention,
    }


def _profiled(step: Any, path: Path) -> None:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as kernels:
        for number in range(3):
            step(number)
    table = kernels.key_averages().table(
        sort_by="self_cuda_time_total", row_limit=45, max_name_column_width=90
    )
    path.write_text(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lengths", type=Path, nargs="?")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=1e9, help="Begin no shape after.")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + options.seconds
    with (options.out / "shapes.jsonl").open("a") as stream:
        for name in options.only:
            if time.monotonic() > until:
                break
            try:
                found = measured(
                    name, options.lengths, options.steps, options.out if options.profile else None
                )
            except Exception as error:  # one shape that fails leaves the others alone
                found = {"shape": name, "error": repr(error)[:500]}
            gc.collect()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            print(json.dumps(found), flush=True)
            stream.write(json.dumps(found) + "\n")
            stream.flush()


if __name__ == "__main__":
    main()
