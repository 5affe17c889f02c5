"""Windows to tensors: examples end to end in one row, with what keeps them apart.

There is no padding: a window is one row of as many tokens as its examples have. Position ids start
again at every example; ``lengths`` bounds attention to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from cass_ray.train.data.packing import Window
from cass_ray.train.data.token_store import TokenStore


@dataclass(frozen=True)
class Batch:
    """The tensors of one forward pass. ``T`` tokens, ``N`` of them predicted."""

    input_ids: torch.Tensor
    """int64, (1, T)"""
    position_ids: torch.Tensor
    """int64, (1, T): the position within the example."""
    lengths: tuple[int, ...]
    """Tokens of each example; the sum is T."""
    predictors: torch.Tensor
    """int64, (N,): where the predictions are made, the token before each answer token."""
    targets: torch.Tensor
    """int64, (N,): the answer tokens."""
    examples: tuple[str, ...]
    """Ids of the pairs, for reports."""

    @property
    def tokens(self) -> int:
        """T, the tokens of all examples."""
        return self.input_ids.shape[1]

    def to(self, device: torch.device) -> Batch:
        """The batch on ``device``, copied from pinned memory without waiting."""
        if device.type == "cpu":
            return self
        moved = {
            name: getattr(self, name).pin_memory().to(device, non_blocking=True)
            for name in ("input_ids", "position_ids", "predictors", "targets")
        }
        return replace(self, **moved)


def collate(store: TokenStore, windows: Sequence[Window]) -> Batch:
    """The examples of ``windows``, end to end; only answers are predicted."""
    numbers = [example for window in windows for example in window]
    examples = [store[number] for number in numbers]
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


def _long(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(values.astype(np.int64))
