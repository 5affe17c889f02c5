"""Packed windows against padded batches, on the lengths of real examples (1.5B shapes).

Three ways to train on examples of unequal length are measured on the same draw of them:

- packed: windows of examples end to end, as the training loop makes them;
- padded, same kernels: batches of four examples in random order, each padded to the longest of its
  batch, by the same engine. What is between the two is packing alone;
- padded, plain loop: the same batches as the usual recipe trains them, transformers with Liger's
  kernels, an attention mask, and every layer checkpointed (four long rows do not fit otherwise).

The share of useful tokens is that of ten thousand drawn examples; speeds are measured on batches of
quantiles of the longest example's length, so that a few of them stand for all.
"""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.train.gpu_measurements import (
    IN_PLACE,
    measure,
    ours,
    plain_model,
    rates,
    this_device,
)
from benchmarks.train.shapes import WINDOW, make_batch
from cass_ray.train.data.packing import best_fit, fill_rate
from cass_ray.train.meters import Operations
from cass_ray.train.settings import OptimizerSettings

LENGTHS = Path(__file__).with_name("lengths.json")
"""Tokens of the examples of the demo's pairs, by task (``python -m benchmarks.train.lengths``)."""

DRAWN = 10_000
ROWS = 4
"""Examples of a padded batch: the CASS paper's batch size."""
WINDOWS, BATCHES = 8, 4
"""Windows, and padded batches, of a measured step."""


def draw(task: str) -> list[int]:
    """Lengths drawn, with a seed, from those of the shipped programs' examples of ``task``."""
    known = json.loads(LENGTHS.read_text())
    tasks = ("source", "assembly") if task == "both" else (task,)
    lengths = [length * WINDOW // 16384 for name in tasks for length in known[name]]
    chosen: list[int] = np.random.default_rng(0).choice(lengths, DRAWN).tolist()
    return chosen


def padded_batches(drawn: list[int]) -> tuple[list[list[int]], float]:
    """Batches that stand for all of them, and the share of useful tokens of all."""
    batches = [drawn[start : start + ROWS] for start in range(0, len(drawn), ROWS)]
    useful = sum(map(sum, batches)) / sum(len(batch) * max(batch) for batch in batches)
    batches.sort(key=max)
    places = [(2 * number + 1) * len(batches) // (2 * BATCHES) for number in range(BATCHES)]
    return [batches[place] for place in places], useful


def plain_padded(shape: str, batches: list[list[int]], steps: int) -> dict[str, float]:
    """The plain loop on ``batches``, each padded to its longest; every token counts here."""
    model, optimizer = plain_model(shape, checkpointing=True)
    device, vocabulary = this_device(), model.config.vocab_size
    made = []
    for number, lengths in enumerate(batches):
        longest = max(lengths)
        ids = torch.zeros((len(lengths), longest), dtype=torch.int64, device=device)
        mask, labels = torch.zeros_like(ids), torch.full_like(ids, -100)
        for row, length in enumerate(lengths):
            ids[row, :length] = make_batch(
                (length,), vocabulary, device, number * 8 + row
            ).input_ids
            mask[row, :length] = 1
            labels[row, length // 2 : length] = ids[row, length // 2 : length]
        made.append((ids, mask, labels))
    turn = iter(range(10**9))

    def work() -> None:
        ids, mask, labels = made[next(turn) % len(made)]
        loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
        (loss / len(made)).backward()

    def step() -> None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    found = measure(step, work, len(made), steps)
    operations = Operations.of(model.config, list(model.model.layers))
    total = sum(
        operations(tuple(lengths), sum(length - length // 2 for length in lengths))
        for lengths in batches
    )
    return rates(found, sum(ids.numel() for ids, _, _ in made), total, steps)


def packing(shape: str, task: str, steps: int) -> dict[str, Any]:
    """Useful tokens a second of the three ways; see the module's docstring."""
    drawn = draw(task)
    windows = best_fit(drawn, range(len(drawn)), WINDOW)
    chosen = np.random.default_rng(1).choice(len(windows), WINDOWS, replace=False)
    packed_lengths = [tuple(drawn[example] for example in windows[int(i)]) for i in chosen]
    optimizer = OptimizerSettings(kind="paged-adamw", **IN_PLACE)  # type: ignore[arg-type]
    packed = ours(shape, optimizer, packed_lengths, steps)
    _forget()
    batches, useful = padded_batches(drawn)
    same = ours(shape, optimizer, [(max(batch),) * len(batch) for batch in batches], 1)
    _forget()
    plain = plain_padded(shape, batches, 1)
    rate = packed["tokens_per_second"]
    rates_of_padding = {
        "same_kernels": same["tokens_per_second"] * useful,
        "plain_loop": plain["tokens_per_second"] * useful,
    }
    return {
        "system": "packing",
        "shape": shape,
        "task": task,
        "examples_a_window": len(drawn) / len(windows),
        "fill": fill_rate(windows, drawn, WINDOW),
        "useful_share_longest_of_four": useful,
        "useful_share_window": sum(drawn) / len(drawn) / WINDOW,
        "packed_tokens_per_second": rate,
        "packed_mfu": packed["mfu"],
        "padded_tokens_per_second": same["tokens_per_second"],
        "plain_padded_tokens_per_second": plain["tokens_per_second"],
        "useful_tokens_per_second_padded": rates_of_padding,
        "gain": {name: rate / value for name, value in rates_of_padding.items()},
        "padded_recompute": same["recompute"],
    }


def _forget() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
