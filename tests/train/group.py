"""A process group of CPU workers without Ray, for tests of what workers compute together."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from cass_ray.train.distributed import DistributedContext


def _worker(rank: int, size: int, folder: str, run: Callable[..., Any], arguments: Any) -> None:
    # These are workers on CPUs: where there is a GPU, DeepSpeed would take it for all of them.
    os.environ |= {"CUDA_VISIBLE_DEVICES": "", "DS_ACCELERATOR": "cpu"}
    torch.set_num_threads(1)
    # Of one worker, too: Ray Train gives every run a process group.
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=size
    )
    result = run(DistributedContext(rank, size, torch.device("cpu")), *arguments)
    torch.save(result, f"{folder}/result-{rank}")
    dist.barrier()
    dist.destroy_process_group()


def run_group(size: int, run: Callable[..., Any], *arguments: Any) -> list[Any]:
    """``run(distributed, *arguments)`` in ``size`` fresh processes; their results by rank."""
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(_worker, args=(size, folder, run, arguments), nprocs=size, join=True)
        return [
            torch.load(Path(folder) / f"result-{rank}", weights_only=False) for rank in range(size)
        ]
