"""Windows to tensors: examples end to end in one row, with what keeps them apart.

There is no padding: a window is one row of as many tokens as its examples have. Position ids start
again at every example; ``lengths`` bounds attention to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from cass_ray.train.data.packing import Window
from cass_ray.train.data.token_store import TokenizedExample, TokenStore
from cass_ray.train.distributed import DistributedContext


@dataclass(frozen=True)
class Batch:
    """The tensors of one forward pass. ``T`` tokens, ``N`` of them predicted."""

    input_ids: torch.Tensor
    """int64, (1, T); T is this worker's share where several hold a row (:func:`share_of`)."""
    position_ids: torch.Tensor
    """int64, (1, T): the position within the example."""
    lengths: tuple[int, ...]
    """Tokens of each example; the sum is T, or that of all shares."""
    predictors: torch.Tensor
    """int64, (N,): where the predictions are made, the token before each answer token."""
    targets: torch.Tensor
    """int64, (N,): the answer tokens."""
    examples: tuple[str, ...]
    """Ids of the pairs, for reports."""
    weights: torch.Tensor | None = None
    """float32, (N,): what each target counts in the loss; None: 1."""

    @property
    def tokens(self) -> int:
        """T, the tokens that this worker holds."""
        return self.input_ids.shape[1]

    def to(self, device: torch.device) -> Batch:
        """The batch on ``device``, copied from pinned memory without waiting."""
        here = self.input_ids.device
        if here.type == device.type and device.index in (None, here.index):
            return self
        moved: dict[str, Any] = {
            name: _pinned(getattr(self, name)).to(device, non_blocking=True)
            for name in ("input_ids", "position_ids", "predictors", "targets", "weights")
            if getattr(self, name) is not None
        }
        return replace(self, **moved)


def _pinned(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.is_pinned() else tensor.pin_memory()


def collate(store: TokenStore, windows: Sequence[Window]) -> Batch:
    """The examples of ``windows``, end to end; only answers are predicted."""
    return end_to_end([store[example] for window in windows for example in window])


def end_to_end(examples: Sequence[TokenizedExample]) -> Batch:
    """``examples`` in one row; only answers are predicted."""
    lengths = tuple(len(example.tokens) for example in examples)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    predictors = [
        np.arange(start + example.answer_start - 1, start + length - 1)
        for start, example, length in zip(starts, examples, lengths, strict=True)
    ]
    targets = [example.tokens[example.answer_start :] for example in examples]
    return Batch(
        input_ids=_long(np.concatenate([example.tokens for example in examples]))[None],
        position_ids=_long(np.concatenate([np.arange(length) for length in lengths]))[None],
        lengths=lengths,
        predictors=_long(np.concatenate(predictors)),
        targets=_long(np.concatenate(targets)),
        examples=tuple(example.pair for example in examples),
    )


def padded(batch: Batch, multiple: int, padding: int) -> Batch:
    """``batch`` in a row of a multiple of so many tokens; padding is an example without answer."""
    more = -batch.tokens % multiple
    if not more:
        return batch
    return replace(
        batch,
        input_ids=torch.cat((batch.input_ids, torch.full((1, more), padding)), 1),
        position_ids=torch.cat((batch.position_ids, torch.arange(more)[None]), 1),
        lengths=(*batch.lengths, more),
    )


def share_of(batch: Batch, distributed: DistributedContext) -> Batch:
    """What this worker holds of ``batch``: equal parts of the row, in the order of the ranks.

    Predictions go with the tokens that make them, so that the losses of all shares add up to the
    row's. The row is padded by less than an example where it cannot be divided.
    """
    count = distributed.sequence_size
    if count == 1:
        return batch
    whole = padded(batch, count, 0)
    size = whole.tokens // count
    first = size * distributed.sequence_rank
    here = (whole.predictors >= first) & (whole.predictors < first + size)
    return replace(
        whole,
        input_ids=whole.input_ids[:, first : first + size],
        position_ids=whole.position_ids[:, first : first + size],
        predictors=whole.predictors[here] - first,
        targets=whole.targets[here],
        weights=None if whole.weights is None else whole.weights[here],
    )


def _long(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(values.astype(np.int64))
