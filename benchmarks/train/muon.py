"""An update by Muon: ours, which takes matrices of one shape together, beside torch's."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.train.gpu_measurements import this_device
from benchmarks.train.shapes import REHEARSAL
from cass_ray.train.engines.muon import Muon
from cass_ray.train.settings import OptimizerSettings

LAYERS, WIDTH, INNER, KEYS = (2, 64, 176, 16) if REHEARSAL else (10, 1024, 2816, 256)
"""The model's shape in ``jobs/configs/train_small.yaml``; a toy in a rehearsal."""
ROUNDS = 3 if REHEARSAL else 30


def _matrices(device: torch.device) -> list[torch.nn.Parameter]:
    shapes = [(WIDTH, WIDTH), (KEYS, WIDTH), (KEYS, WIDTH), (WIDTH, WIDTH)]
    shapes += [(INNER, WIDTH), (INNER, WIDTH), (WIDTH, INNER)]
    made = [
        torch.nn.Parameter(torch.randn(shape, device=device))
        for _ in range(LAYERS)
        for shape in shapes
    ]
    for parameter in made:
        parameter.grad = torch.randn_like(parameter)
    return made


def _milliseconds(step: Callable[[], Any]) -> float:
    for _ in range(3):
        step()
    if not REHEARSAL:
        torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(ROUNDS):
        step()
    if not REHEARSAL:
        torch.cuda.synchronize()
    return (time.perf_counter() - started) / ROUNDS * 1e3


def compare_muon() -> dict[str, Any]:
    """Milliseconds of an update of the hidden matrices, fp32, by either."""
    settings = OptimizerSettings(kind="muon")
    groups = [{"params": _matrices(this_device()), "muon": True, "weight_decay": 0.02}]
    own = _milliseconds(Muon(groups, settings).step)
    library = torch.optim.Muon(_matrices(this_device()), lr=0.01, weight_decay=0.02)
    return {
        "system": "muon",
        "section": "",
        "ours_ms": own,
        "torch_ms": _milliseconds(library.step),
    }
