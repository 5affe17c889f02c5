"""The workers of a run, as one of them sees them; works without any process group as well."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class World:
    """Rank, number of workers and the device of this one."""

    rank: int
    size: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this worker writes what is written once."""
        return self.rank == 0

    def total(self, *values: float) -> list[float]:
        """Each value summed over all workers (fp64)."""
        if self.size == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor)
        return [float(value) for value in tensor.tolist()]

    def greatest(self, value: float) -> float:
        """The largest value of any worker."""
        if self.size == 1:
            return value
        tensor = torch.tensor(value, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
        return float(tensor.item())

    def barrier(self) -> None:
        """Wait until every worker is here."""
        if self.size > 1:
            dist.barrier()


def this_world(device: torch.device) -> World:
    """The world of the current process group, or of one worker."""
    if dist.is_available() and dist.is_initialized():
        return World(dist.get_rank(), dist.get_world_size(), device)
    return World(0, 1, device)
