"""How fast a training step could be if it were its matrix products and its attention alone.

    python -m benchmarks.train.products_bound SHAPE [--seconds 30] >> DIR/bounds.jsonl

The products of a step in bf16, of the shapes and in the order in which a step of
``benchmarks.train.gpu`` has them, each with weights of its own, by torch's library, and causal
attention by cuDNN, forward and backward; no norm, no activation, no loss, no optimizer, nothing
added to a gradient. Operations are counted as for training: what comes out is a bound, on this
card and with these libraries, of the MFU that a step in bf16 can reach. Long enough that the card
is as warm as in training; its clock and its power are read meanwhile. One JSON line.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from benchmarks.train.gpu_measurements import PEAK
from benchmarks.train.shapes import REHEARSAL, SHAPES, WINDOW, sizes_of
from cass_ray.train.model import attention

DTYPE = torch.float32 if REHEARSAL else torch.bfloat16
QUERIES = "nvidia-smi --query-gpu=clocks.sm,power.draw --format=csv,noheader,nounits -lms 250"


@dataclass(frozen=True)
class StepProducts:
    """What one window of :data:`WINDOW` tokens needs."""

    layers: int
    products: tuple[tuple[int, int], ...]
    """(inputs, outputs) of a layer's projections, in their order."""
    heads: int
    key_value_heads: int
    width: int
    """Of a head."""
    hidden: int
    vocabulary: int

    @classmethod
    def of(cls, sizes: dict[str, Any]) -> StepProducts:
        """Of a model's configuration (Qwen2)."""
        hidden, inner = sizes["hidden_size"], sizes["intermediate_size"]
        heads, fewer = sizes["num_attention_heads"], sizes["num_key_value_heads"]
        width = hidden // heads
        projections = (
            (hidden, hidden),
            (hidden, fewer * width),
            (hidden, fewer * width),
            (hidden, hidden),
            (hidden, inner),
            (hidden, inner),
            (inner, hidden),
        )
        layers = sizes["num_hidden_layers"]
        return cls(layers, projections, heads, fewer, width, hidden, sizes["vocab_size"])

    @property
    def product_operations(self) -> float:
        """Of the projections and of the head over half of the tokens: 6 a weight and token."""
        body = sum(n * m for n, m in self.products) * self.layers
        return 6.0 * WINDOW * (body + self.hidden * self.vocabulary / 2)

    @property
    def attention_operations(self) -> float:
        """Of causal attention, half of the square, forward and backward."""
        return 6.0 * self.layers * self.heads * self.width * WINDOW**2


class Window:
    """The operands of a window's products; every call computes all of them once."""

    def __init__(self, step: StepProducts, device: torch.device) -> None:
        def made(*shape: int, scale: float = 1.0) -> torch.Tensor:
            return torch.randn(*shape, device=device, dtype=DTYPE) * scale

        self.step = step
        self.weights = [
            [made(m, n, scale=n**-0.5) for n, m in step.products] for _ in range(step.layers)
        ]
        self.head = made(step.vocabulary, step.hidden, scale=step.hidden**-0.5)
        self.of_width = {n: made(WINDOW, n) for pair in step.products for n in pair}
        self.predicted = made(WINDOW // 2, step.hidden)
        shapes = (step.heads, step.key_value_heads, step.key_value_heads)
        self.qkv = [made(1, WINDOW, n, step.width).requires_grad_() for n in shapes]
        self.for_attention = made(1, WINDOW, step.heads, step.width)
        groups = step.heads // step.key_value_heads
        self.backend, _ = attention.choose("auto", device, DTYPE, step.width, groups)

    def products(self) -> None:
        """Forward through all layers, the head, and backward."""
        for weights in self.weights:
            for weight in weights:
                torch.mm(self.of_width[weight.shape[1]], weight.t())
        logits = torch.mm(self.predicted, self.head.t())
        torch.mm(logits, self.head)
        torch.mm(logits.t(), self.predicted)
        del logits
        for weights in reversed(self.weights):
            for weight in reversed(weights):
                given, gradient = self.of_width[weight.shape[1]], self.of_width[weight.shape[0]]
                torch.mm(gradient, weight)
                torch.mm(gradient.t(), given)

    def attention(self) -> None:
        """Of all layers, forward and backward."""
        q, k, v = self.qkv
        for _ in range(self.step.layers):
            out = attention.attend_heads(q, k, v, lengths=(WINDOW,), scale=None)
            torch.autograd.grad(out, self.qkv, self.for_attention)


def _watch() -> subprocess.Popen[str]:
    return subprocess.Popen(QUERIES.split(), stdout=subprocess.PIPE, text=True)


def sustained(work: list[Any], seconds: float) -> tuple[float, dict[str, float]]:
    """Seconds of a round of ``work``, after a third of the time to warm up; clock and power."""

    def one() -> float:
        began = time.perf_counter()
        for part in work:
            part()
        if not REHEARSAL:
            torch.cuda.synchronize()
        return time.perf_counter() - began

    end = time.perf_counter() + seconds / 3
    one()
    while time.perf_counter() < end:
        one()
    watch = None if REHEARSAL else _watch()
    end = time.perf_counter() + seconds * 2 / 3
    times: list[float] = []
    while time.perf_counter() < end or not times:
        times.append(one())
    if watch is None:
        return median(times), {}
    watch.terminate()
    lines = [line.split(",") for line in watch.communicate()[0].splitlines() if "," in line]
    return median(times), {
        "sm_mhz": median(float(clock) for clock, _ in lines),
        "watts": median(float(power) for _, power in lines),
    }


def main() -> None:
    """Products alone, attention alone, and both as a window has them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shape", choices=[name for name in SHAPES if name != "toy"])
    parser.add_argument("--seconds", type=float, default=30, help="Of each measurement.")
    options = parser.parse_args()
    step = StepProducts.of(sizes_of(options.shape))
    window = Window(step, torch.device("cpu" if REHEARSAL else "cuda"))
    parts = {
        "products": ([window.products], step.product_operations),
        "attention": ([window.attention], step.attention_operations),
        "both": (
            [window.products, window.attention],
            step.product_operations + step.attention_operations,
        ),
    }
    row: dict[str, Any] = {"part": f"{options.shape}-bound", "attention by": window.backend}
    for name, (work, operations) in parts.items():
        seconds, card = sustained(work, options.seconds)
        row[name] = {
            "teraflops": operations / seconds / 1e12,
            "mfu": operations / seconds / PEAK,
            "tokens_per_second": WINDOW / seconds,
            **card,
        }
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
