"""Rows that several workers hold together: DeepSpeed Ulysses (Jacobs et al., 2023).

Outside of attention each worker computes its own tokens. For attention the workers exchange: each
gets all tokens of some of the heads, and gives its tokens' results back. Gradients need no more
than the sum over all workers that data parallelism makes anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from cass_ray.llm.pretrained import ModelError
from cass_ray.train.collectives import start_collectives
from cass_ray.train.distributed import DistributedContext

HeadAttention = Callable[..., torch.Tensor]
"""``(query, key, value, **options)``, each (1, tokens, heads, width), to the query's shape."""


def check_heads(config: Any, size: int) -> None:
    """Raises ``ModelError`` where ``size`` workers cannot have whole heads each."""
    heads, groups = config.num_attention_heads, config.num_key_value_heads
    if heads % size or groups % size:
        raise ModelError(
            f"workers.sequence_parallel = {size} has to divide the model's {heads} attention heads "
            f"and its {groups} key-value heads"
        )


def make_exchange(
    local: HeadAttention, distributed: DistributedContext
) -> Callable[..., torch.Tensor]:
    """``local`` over the tokens of all workers that share a row with this one.

    Every worker of the process group has to call this, and the result as often as the others that
    share its rows. The result takes what ``local`` takes, with this worker's tokens alone.
    """
    from deepspeed.sequence.layer import DistributedAttention

    start_collectives(distributed)
    size = distributed.sequence_size
    groups = [
        dist.new_group(list(range(first, first + size)))
        for first in range(0, distributed.world_size, size)
    ]
    exchange = DistributedAttention(
        local, groups[distributed.data_rank], scatter_idx=2, gather_idx=1
    )

    def attend(
        query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, **options: Any
    ) -> torch.Tensor:
        result: torch.Tensor = exchange(query, key, value, 0, None, **options)
        return result

    return attend
