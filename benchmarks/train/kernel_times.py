"""Times of kernels in the forward and backward pass of one row, by ``torch.profiler``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.train.gpu_measurements import Products, fill, prepared_model, this_device
from benchmarks.train.ordinary import Loop, make_loop
from benchmarks.train.shapes import REHEARSAL, make_batch, sizes_of
from cass_ray.train.settings import TILE

ROWS = 2
"""That are profiled after as many to warm up."""
LARGEST = 16
"""Kernels that are named."""
KINDS = {
    "attention": re.compile("sdpa|flash|fmha|attention"),
    "products": re.compile("gemm|nvjet|cutlass|cublas|xmma"),
    "compiled": re.compile("^triton_"),
}


def kind_of(kernel: str) -> str:
    """The kind of a kernel: attention, products, compiled code, or the rest."""
    return next((kind for kind, names in KINDS.items() if names.search(kernel)), "rest")


def kernel_times(
    shape: str, lengths: tuple[int, ...], side: Literal["ordinary", "ours"], loop: Loop
) -> dict[str, Any]:
    """Milliseconds a row of each kind of kernel, and of the largest kernels alone."""
    work = _ours(shape, lengths) if side == "ours" else _ordinary(shape, lengths, loop)
    for _ in range(ROWS):
        work()
    _synchronize()
    activity = ProfilerActivity.CPU if REHEARSAL else ProfilerActivity.CUDA
    with profile(activities=[activity]) as record:
        for _ in range(ROWS):
            work()
        _synchronize()
    events = {
        event.key: ((event.cpu_time_total if REHEARSAL else event.device_time_total), event.count)
        for event in record.key_averages()
    }
    kinds: defaultdict[str, float] = defaultdict(float)
    for name, (microseconds, _) in events.items():
        kinds[kind_of(name)] += microseconds / 1000 / ROWS
    largest = sorted(events, key=lambda name: -events[name][0])[:LARGEST]
    return {
        "system": "kernel times",
        "side": side,
        "shape": shape,
        "kinds": dict(kinds),
        "all": sum(kinds.values()),
        "largest": [
            {"kernel": name[:120], "ms": events[name][0] / 1000 / ROWS, "runs": events[name][1]}
            for name in largest
        ],
    }


def _ordinary(shape: str, lengths: tuple[int, ...], loop: Loop) -> Callable[[], None]:
    module, _ = make_loop(shape, loop)
    batch = make_batch(lengths, sizes_of(shape)["vocab_size"], this_device())

    def work() -> None:
        (module(batch) / len(batch.targets)).backward()

    return work


def _ours(shape: str, lengths: tuple[int, ...]) -> Callable[[], None]:
    prepared = prepared_model(shape, Products(compiled=True))
    batch = make_batch(lengths, sizes_of(shape)["vocab_size"], prepared.device)
    batch = fill(batch, TILE)

    def work() -> None:
        (prepared.model(batch) / len(batch.targets)).backward()

    return work


def _synchronize() -> None:
    if not REHEARSAL:
        torch.cuda.synchronize()
