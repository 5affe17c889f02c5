"""The process group of a run as one worker sees it; works without any process group as well."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class DistributedContext:
    """Rank of this worker, number of workers, and the device of this one."""

    rank: int
    world_size: int
    device: torch.device
    sequence_size: int = 1
    """Workers that hold a row of tokens together, a share each: neighbours by rank."""

    def __post_init__(self) -> None:
        if self.world_size % self.sequence_size:
            raise ValueError(
                f"workers.sequence_parallel = {self.sequence_size} does not divide "
                f"{self.world_size} worker(s)"
            )

    @property
    def data_rank(self) -> int:
        """Number of the group of workers that holds other rows than the other groups do."""
        return self.rank // self.sequence_size

    @property
    def data_size(self) -> int:
        """How many such groups there are."""
        return self.world_size // self.sequence_size

    @property
    def sequence_rank(self) -> int:
        """Which share of a row this worker holds."""
        return self.rank % self.sequence_size

    @property
    def is_main(self) -> bool:
        """Whether this worker writes what is written once."""
        return self.rank == 0

    def all_sum(self, *values: float) -> list[float]:
        """Each value summed over all workers (fp64)."""
        if self.world_size == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor)
        return [float(value) for value in tensor.tolist()]

    def all_max(self, value: float) -> float:
        """The largest value of any worker (fp64)."""
        if self.world_size == 1:
            return value
        tensor = torch.tensor(value, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
        return float(tensor.item())

    def from_main(self, value: int | None) -> int | None:
        """The first worker's ``value``, on every worker."""
        if self.world_size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0)
        return box[0]

    def barrier(self) -> None:
        """Wait until every worker is here; nothing for one worker."""
        if self.world_size > 1:
            dist.barrier()


def distributed_context(device: torch.device) -> DistributedContext:
    """The current process group with this worker on ``device``; without a group, one worker."""
    if dist.is_available() and dist.is_initialized():
        return DistributedContext(dist.get_rank(), dist.get_world_size(), device)
    return DistributedContext(0, 1, device)
