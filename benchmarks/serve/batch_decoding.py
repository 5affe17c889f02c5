"""How fast :class:`cass_ray.llm.batch_decode.BatchDecoder` decodes, beside what memory allows.

    python -m benchmarks.serve.batch_decoding 7b --out FILE.json      on a GPU; about a minute

So many rows of one prompt of random tokens (each row has a cache of its own), greedy, random
weights in bfloat16 (Qwen2.5's shapes). Twice, with few new tokens and with more: the
difference of the times is decoding alone, by replaying one CUDA graph a token, without prompts,
start and capture.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.serve.decode_bound import BANDWIDTHS, tokens_per_second
from benchmarks.serve.random_weights import random_model
from benchmarks.serve.shapes import SHAPES
from cass_ray.llm.batch_decode import BatchDecoder

_FEW = 64
"""New tokens of the first time."""
_NO_END = -1
"""No token ends an answer."""


def seconds_of(decoder: BatchDecoder, prompt: list[int], rows: int, new: int) -> float:
    """Of ``rows`` answers of ``new`` tokens to one prompt, all of it."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    started = time.perf_counter()
    decoder([prompt] * rows, new, [0.0] * rows, _NO_END)  # brings the answers to the CPU
    return time.perf_counter() - started


def measured(
    shape: str, prompt_tokens: int, rows: int, new: int, few: int = _FEW
) -> dict[str, Any]:
    """Tokens/s in decoding and their share of the bound, where the card's bandwidth is known."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = random_model(shape, prompt_tokens + new + 8, device)
    decoder, words = BatchDecoder(model), int(model.config.vocab_size)
    prompt = torch.randint(0, words, (prompt_tokens,)).tolist()
    seconds_of(decoder, prompt[:64], rows, few)  # compiles kernels
    short, long = (seconds_of(decoder, prompt, rows, number) for number in (few, new))
    rate = rows * (new - few) / (long - short)
    card = torch.cuda.get_device_name(0) if device.type == "cuda" else "CPU"
    context, bound = prompt_tokens + (new + few) / 2, None
    if card in BANDWIDTHS:
        bound = tokens_per_second(SHAPES[shape], words, rows, context, BANDWIDTHS[card])
    return {
        "card": card,
        "shape": shape,
        "prompt": prompt_tokens,
        "new": new,
        "at_once": rows,
        "milliseconds_a_step": 1000 * rows / rate,
        "tokens_per_second": rate,
        "bound": bound,
        "share": rate / bound if bound else None,
        "seconds": [short, long],
    }


def arguments() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shape", choices=list(SHAPES))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--prompt", type=int, default=16_384)
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--new", type=int, default=576)
    return parser


def main() -> None:
    options = arguments().parse_args()
    row = measured(options.shape, options.prompt, options.rows, options.new)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(row, indent=1))
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
