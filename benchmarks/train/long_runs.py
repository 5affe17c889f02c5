"""Losses of long runs: fp32 master weights or bf16 ones updated in place, products in FP8 or not.

A model of the shape of Qwen2.5-0.5B with fresh weights learns the text of this repository (its
programs, code and pages, packed into rows of 4,096 tokens, every token but an example's first
predicted), always the same rows in the same order, by AdamW at a learning rate that rises to 3e-4
and falls as a cosine over 1,000 steps. What is compared is the loss of held-out rows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.train.gpu_measurements import fill, this_device
from benchmarks.train.shapes import REHEARSAL
from cass_ray.train.data.collate import Batch
from cass_ray.train.data.packing import best_fit
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.engines.replicated import ReplicatedEngine
from cass_ray.train.model.build import prepare
from cass_ray.train.settings import ModelSettings, OptimizerSettings

ROW = 256 if REHEARSAL else 4096
VOCABULARY = 512 if REHEARSAL else 16_384
STEPS = 4 if REHEARSAL else 1000
"""That the learning rate falls over."""
HELD_OUT = 2 if REHEARSAL else 24
"""Rows."""
PEAK, WARM = 3e-4, 50
SIZES = {
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
}
_TOY = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
_ENDINGS = (".cu", ".cpp", ".h", ".hpp", ".py", ".md", ".yaml", ".hip", ".cl")
_ROOT = Path(__file__).parents[2]


@lru_cache(maxsize=1)
def rows() -> list[Batch]:
    """The repository's text as rows, in an order that a seed gives."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    files = sorted(
        path
        for folder in ("cass_ray", "benchmarks", "jobs", "docs", "serve")
        for path in (_ROOT / folder).rglob("*")
        if path.suffix in _ENDINGS and path.is_file()
    )
    texts = [path.read_text(errors="replace") for path in files[:: 40 if REHEARSAL else 1]]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=VOCABULARY, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
        ),
    )
    examples = [
        ids[start : start + ROW]
        for ids in (encoding.ids for encoding in tokenizer.encode_batch(texts))
        for start in range(0, len(ids), ROW)
        if len(ids) - start > 16
    ]
    windows = best_fit([len(ids) for ids in examples], range(len(examples)), ROW)
    order = np.random.default_rng(0).permutation(len(windows))
    return [fill(_row([examples[n] for n in windows[index]]), 128) for index in order]


def _row(examples: list[list[int]]) -> Batch:
    lengths = tuple(map(len, examples))
    ids = torch.tensor([token for example in examples for token in example])
    ends = np.cumsum(lengths) - 1
    where = torch.from_numpy(np.setdiff1d(np.arange(len(ids)), ends))
    return Batch(
        input_ids=ids[None],
        position_ids=torch.cat([torch.arange(length) for length in lengths])[None],
        lengths=lengths,
        predictors=where,
        targets=ids[where + 1],
        examples=(),
    )


def learning_rate(step: int) -> float:
    """The learning rate of one step; steps count from 0."""
    if step < WARM:
        return PEAK * (step + 1) / WARM
    return PEAK * 0.5 * (1 + math.cos(math.pi * (step - WARM) / (STEPS - WARM)))


def long_run(steps: int, *, masters: bool = False, fp8: bool = False) -> dict[str, Any]:
    """Train so many steps, a row each; the losses of held-out rows every 100 steps."""
    from transformers import AutoModelForCausalLM, Qwen2Config

    device = this_device()
    sizes = _TOY if REHEARSAL else SIZES
    config = Qwen2Config(**sizes, vocab_size=VOCABULARY, tie_word_embeddings=True, use_cache=False)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    settings = ModelSettings(base="unused", compile=not REHEARSAL, fp8=fp8)
    prepared = prepare(model.to(device=device, dtype=torch.bfloat16), settings, device)
    prepared.model.train()
    precision: dict[str, Any] = (
        {} if masters else {"master_weights": False, "grad_accum_dtype": "bf16"}
    )
    optimizer = OptimizerSettings(kind="adamw", betas=(0.9, 0.95), weight_decay=0.1, **precision)
    engine = ReplicatedEngine(prepared.model, optimizer, DistributedContext(0, 1, device))
    known = [_on(batch, device) for batch in rows()]
    learned, held_out = known[HELD_OUT:], known[:HELD_OUT]
    curve, total = dict[int, float](), torch.zeros((), device=device)
    training = dict[int, float]()
    for step in range(min(steps, STEPS)):
        batch = learned[step % len(learned)]
        total += engine.accumulate(batch, 1.0 / len(batch.targets), True) / len(batch.targets)
        engine.update(learning_rate(step))
        if (step + 1) % 100 == 0 or step + 1 == min(steps, STEPS):
            curve[step + 1] = _loss(prepared.model, held_out)
            training[step + 1] = float(total) / ((step % 100) + 1)
            total.zero_()
            print(step + 1, masters, fp8, curve[step + 1], training[step + 1], flush=True)
    return {
        "system": "long run",
        "masters": masters,
        "fp8": fp8,
        "steps": min(steps, STEPS),
        "rows": len(learned),
        "tokens": sum(batch.tokens for batch in learned),
        "held_out": curve,
        "training": training,
    }


def _on(batch: Batch, device: torch.device) -> Batch:
    names = ("input_ids", "position_ids", "predictors", "targets")
    return replace(batch, **{name: getattr(batch, name).to(device) for name in names})


@torch.no_grad()
def _loss(model: Any, batches: list[Batch]) -> float:
    summed = sum(float(model(batch)) for batch in batches)
    return summed / sum(len(batch.targets) for batch in batches)
