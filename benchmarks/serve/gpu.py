"""Generation on one GPU: continuous batching against plain ``model.generate``, in the same run.

    python -m benchmarks.serve.gpu --out OUT            both sizes, about six minutes
    python -m benchmarks.serve.gpu --out OUT --shapes 1.5b --seconds 120

Needs torch, transformers and triton alone, so that it runs on a bare GPU machine. The manager is
the service's own (:mod:`serve.generation.batching`). Shapes are Qwen2.5's, weights are random:
speed does not depend on them, and no answer ends early. A point is ``concurrency`` requests at
once, none with the prefix of another; plain generation is one request after another. ``sample`` is
one long answer to one long question. Results are one JSON line a point in ``OUT/serve_gpu.jsonl``.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers

from benchmarks.serve.random_weights import random_model
from benchmarks.serve.shapes import SHAPES
from serve.generation import attention
from serve.generation.batching import make_manager

CONCURRENCY = (32, 1, 8, 64)
PARTS = ("plain", "static", "batched", "sample")
MARKS = (1024, 2048, 4096, 8192, 16_384)
_BETWEEN = 2.0
"""Seconds that are kept for ending a point."""


@dataclass
class Batching:
    """As :class:`serve.settings.GenerationSettings`, greedy."""

    max_new_tokens: int
    num_blocks: int | None = None
    block_size: int = 256
    max_batch_tokens: int | None = None
    prefix_caching: bool = True
    sampling: bool = False


def main() -> None:
    """Measure every shape within the time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=["1.5b", "7b"])
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--prompt", type=int, default=16_384)
    parser.add_argument("--new", type=int, default=512)
    parser.add_argument("--sample-new", type=int, default=16_384)
    parser.add_argument("--concurrency", nargs="+", type=int, default=list(CONCURRENCY))
    parser.add_argument("--seconds", type=float, default=400.0, help="begin no point after it")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    with (options.out / "serve_gpu.jsonl").open("a") as results:

        def write(**fields: Any) -> None:
            line = json.dumps({**fields, "at_s": round(time.monotonic() - begun, 1)})
            print(line, flush=True)
            results.write(line + "\n")
            results.flush()

        cuda = options.device == "cuda"
        write(
            device=torch.cuda.get_device_name() if cuda else options.device,
            torch=torch.__version__,
            transformers=transformers.__version__,
        )
        if cuda:
            write(check="attention kernels, largest difference", **differences())
        # A larger model takes longer for the same points.
        shares = [1.0 if name == "7b" else 0.5 for name in options.shapes]
        for number, name in enumerate(options.shapes):
            share = sum(shares[: number + 1]) / sum(shares)
            try:
                measure(name, options, write, begun + share * options.seconds)
            except Exception as error:
                write(shape=name, failed=f"{type(error).__name__}: {error}"[:2000])
            gc.collect()
            if cuda:
                torch.cuda.empty_cache()


def measure(
    name: str, options: argparse.Namespace, write: Callable[..., None], deadline: float
) -> None:
    """All points of one shape, the most telling first."""
    model = make_model(name, options)
    point = {"shape": name, "prompt": options.prompt, "new": options.new}
    if "plain" in options.parts:
        write(**point, way="plain", concurrency=1, **plain(model, options))
    for concurrency in options.concurrency if "static" in options.parts else ():
        write(**point, way="static", concurrency=concurrency, **static(model, options, concurrency))
    positions = options.prompt + max(options.new, options.sample_new)
    with Manager(model, options, positions) as manager:
        write(shape=name, attention=model.config._attn_implementation, ready_s=manager.seconds)
        for concurrency in options.concurrency if "batched" in options.parts else ():
            asked = {**point, "way": "batched", "concurrency": concurrency}
            if time.monotonic() > deadline:
                write(**asked, skipped="out of time")
                continue
            write(**asked, **manager.together(concurrency, options.prompt, options.new))
        left = deadline - _BETWEEN - time.monotonic()
        if "sample" not in options.parts:
            return
        found = manager.alone(options.prompt, options.sample_new, max(left, 0.0))
        write(shape=name, way="sample", prompt=options.prompt, **found)


def make_model(name: str, options: argparse.Namespace) -> Any:
    """Random weights of a shape; no token ends an answer."""
    longest = options.prompt + max(options.new, options.sample_new)
    made = random_model(name, longest, torch.device(options.device))
    made.generation_config.eos_token_id = None
    return made


def prompts(model: Any, count: int, length: int) -> list[list[int]]:
    """Random questions, others at every call."""
    return torch.randint(10, model.config.vocab_size - 10, (count, length)).tolist()


def plain(model: Any, options: argparse.Namespace) -> dict[str, Any]:
    """One by one with ``model.generate``."""
    run = {"do_sample": False, "pad_token_id": 0}
    latencies = []
    with torch.inference_mode():
        for length, new in ((256, 8), (options.prompt, 4), (options.prompt, options.new)):
            ids = torch.tensor(prompts(model, 1, length), device=options.device)
            _synchronize()
            started = time.perf_counter()
            made = model.generate(ids, max_new_tokens=new, min_new_tokens=new, **run)
            _synchronize()
            latencies.append(time.perf_counter() - started)
            assert made.shape[1] == length + new
    return {**figures(latencies[-1:], latencies[-1], options.new), "question_s": latencies[-2]}


def static(model: Any, options: argparse.Namespace, count: int) -> dict[str, Any]:
    """So many at once with ``model.generate``: a static cache, for which it compiles decoding."""
    run = {"do_sample": False, "pad_token_id": 0, "cache_implementation": "static"}
    wall = 0.0
    with torch.inference_mode():
        for _ in range(2):  # the first time it compiles
            ids = torch.tensor(prompts(model, count, options.prompt), device=options.device)
            _synchronize()
            started = time.perf_counter()
            made = model.generate(
                ids, max_new_tokens=options.new, min_new_tokens=options.new, **run
            )
            _synchronize()
            wall = time.perf_counter() - started
            assert made.shape[1] == options.prompt + options.new
    return figures([wall] * count, wall, options.new)


def _synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


class Manager:
    """The service's manager, with questions put to it and times taken."""

    def __init__(self, model: Any, options: argparse.Namespace, positions: int) -> None:
        self.model = model
        started = time.perf_counter()
        settings = Batching(max_new_tokens=max(options.new, options.sample_new))
        if options.device != "cuda":
            settings.num_blocks, settings.max_batch_tokens = 64, 256
        self._manager = make_manager(model, settings, -1, 0, positions)  # type: ignore[arg-type]
        self._manager.start()
        self.together(1, min(256, options.prompt), 8)
        self.together(2, min(256, options.prompt), 8)
        self.seconds = round(time.perf_counter() - started, 2)

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, *_: object) -> None:
        self._manager.stop(block=True)
        if hasattr(self._manager, "destroy"):
            self._manager.destroy()

    def together(self, concurrency: int, length: int, new: int) -> dict[str, Any]:
        """``concurrency`` requests at once."""
        started = time.perf_counter()
        names = {
            self._manager.add_request(question, f"{started}-{number}", max_new_tokens=new)
            for number, question in enumerate(prompts(self.model, concurrency, length))
        }
        latencies: list[float] = []
        while names:
            output = self._manager.get_result(timeout=1)
            if output is None:
                if not self._manager.is_running():
                    raise RuntimeError("the manager has stopped")
                continue
            if output.error:
                raise RuntimeError(output.error)
            if output.request_id in names and output.is_finished():
                assert len(output.generated_tokens) == new
                names.discard(output.request_id)
                latencies.append(time.perf_counter() - started)
        return figures(latencies, time.perf_counter() - started, new)

    def alone(self, length: int, new: int, seconds: float) -> dict[str, Any]:
        """One request, and when each of :data:`MARKS` tokens was there; ended by the time."""
        (question,) = prompts(self.model, 1, length)
        started = time.perf_counter()
        name = f"{started}"
        times: list[float] = []
        self._manager.add_request(question, name, max_new_tokens=new, streaming=True)
        while time.perf_counter() - started < seconds:
            output = self._manager.get_result(timeout=1)
            if output is None or output.request_id != name:
                continue
            if output.error:
                raise RuntimeError(output.error)
            now = time.perf_counter() - started
            times.extend([now] * (len(output.generated_tokens) - len(times)))
            if output.is_finished():
                break
        else:
            self._manager.cancel_request(name)
        return {
            "tokens": len(times),
            "first_token_s": round(times[0], 3) if times else None,
            "seconds_at_tokens": {n: round(times[n - 1], 2) for n in MARKS if n <= len(times)},
            "tokens_per_second": round((len(times) - 1) / (times[-1] - times[0]), 1)
            if len(times) > 1
            else None,
        }


def differences() -> dict[str, float]:
    """Of our attention from PyTorch's own in float32, over lengths on and off page boundaries."""
    torch.manual_seed(1)
    page, heads, key_heads, size = 256, 28, 4, 128
    lengths = [-1, 0, 1, 255, 256, 257, 5000, 16_383]
    pages = torch.randperm(len(lengths) * 65, device="cuda").to(torch.int32).view(len(lengths), 65)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(shape, device="cuda", dtype=torch.bfloat16)

    keys, values = (random(len(lengths) * 65, page, key_heads, size) for _ in range(2))
    asked = random(len(lengths), 1, heads, size)
    key, value = (random(len(lengths), 1, key_heads, size) for _ in range(2))
    counts = torch.tensor(lengths, dtype=torch.int32, device="cuda")
    from serve.generation.paged_decode import flash_attn_with_kvcache

    made = flash_attn_with_kvcache(asked, keys, values, key, value, counts, pages)
    worst = 0.0
    for row, length in enumerate(lengths[1:], 1):
        cached = [cache[pages[row].long()].flatten(0, 1)[: length + 1] for cache in (keys, values)]
        assert torch.equal(cached[0][-1], key[row, 0])
        worst = max(worst, _difference(made[row], asked[row], *cached))
    counts_q, counts_k = [7, 300, 1], [7, 4000, 900]
    asked = random(sum(counts_q), heads, size)
    held = (random(sum(counts_k), key_heads, size), random(sum(counts_k), key_heads, size))
    ends_q, ends_k = (
        torch.tensor([0, *counts], device="cuda").cumsum(0).int() for counts in (counts_q, counts_k)
    )
    made = attention.flash_attn_varlen_func(
        asked, *held, ends_q, ends_k, max(counts_q), 4096, causal=True
    )
    varied = 0.0
    for row in range(3):
        q, k = slice(ends_q[row], ends_q[row + 1]), slice(ends_k[row], ends_k[row + 1])
        varied = max(varied, _difference(made[q], asked[q], held[0][k], held[1][k]))
    return {"paged": worst, "varied_lengths": varied}


def _difference(
    made: torch.Tensor, asked: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
) -> float:
    """The largest, of queries that are the last of the keys."""
    seen = torch.ones(len(asked), len(keys), dtype=torch.bool, device=asked.device)
    seen = seen.tril(len(keys) - len(asked))
    query, key, value = (each.float().transpose(0, 1)[None] for each in (asked, keys, values))
    right = torch.nn.functional.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=seen,
        enable_gqa=True,
    )
    return float((made.float() - right[0].transpose(0, 1)).abs().max())


def figures(latencies: list[float], wall: float, new: int) -> dict[str, float]:
    """Throughput of new tokens, median time of a request."""
    return {
        "tokens_per_second": round(len(latencies) * new / wall, 1),
        "p50_s": round(statistics.median(latencies), 3),
        "wall_s": round(wall, 2),
    }


if __name__ == "__main__":
    main()
