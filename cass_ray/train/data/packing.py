"""Examples into windows: best-fit packing, and the order of windows over epochs and workers.

Everything follows from lengths, weights and a seed, so every worker computes the same plan and a
step number is all that a checkpoint needs to know about the data, whatever the number of workers.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Window = tuple[int, ...]
"""Numbers of the examples in one window, in order."""


def best_fit(lengths: Sequence[int], order: Sequence[int], capacity: int) -> list[Window]:
    """Pack the examples ``order`` (may name one twice) into windows of ``capacity`` tokens.

    Best-fit decreasing: the longest first, each into the fullest window that still has room; within
    11/9 of the optimum plus one window (Johnson, 1973). Ties are settled by ``order``.

    Raises ``ValueError`` for an example longer than a window.
    """
    room: list[tuple[int, int]] = []  # (tokens left, number of the window), sorted
    windows: list[list[int]] = []
    for example in sorted(order, key=lambda index: -lengths[index]):
        length = int(lengths[example])
        if length > capacity:
            raise ValueError(f"example {example} has {length} tokens, a window {capacity}")
        place = bisect_left(room, (length, -1))
        if place == len(room):
            windows.append([example])
            left, number = capacity - length, len(windows) - 1
        else:
            left, number = room.pop(place)
            windows[number].append(example)
            left -= length
        if left > 0:
            insort(room, (left, number))
    return [tuple(window) for window in windows]


def fill_rate(windows: Sequence[Window], lengths: Sequence[int], capacity: int) -> float:
    """Share of the windows' tokens that are tokens of examples."""
    used = sum(int(lengths[example]) for window in windows for example in window)
    return used / (capacity * len(windows)) if windows else 0.0


@dataclass(frozen=True)
class PackingPlan:
    """Which windows each optimizer step uses, epoch after epoch."""

    lengths: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    """How often an epoch shows each example, on average."""
    capacity: int
    batch: int
    """Windows of one step."""
    seed: int

    def epoch(self, number: int) -> list[Window]:
        """The windows of one epoch, in their order."""
        random = np.random.default_rng([self.seed, number])
        times = np.floor(self.weights + random.random(len(self.weights))).astype(np.int64)
        order = random.permutation(np.repeat(np.arange(len(self.lengths)), times))
        sizes = self.lengths.tolist()
        windows = best_fit(sizes, order.tolist(), self.capacity)
        return [windows[index] for index in random.permutation(len(windows))]

    def steps(self, epochs: int) -> int:
        """Whole optimizer steps in so many epochs."""
        return sum(len(self.epoch(number)) for number in range(epochs)) // self.batch

    def from_step(self, first: int) -> Iterator[list[Window]]:
        """The windows of step ``first``, of the one after it, and so on without end.

        A batch may hold windows of two epochs. Raises ``ValueError`` when there are no examples.
        """
        if len(self.lengths) == 0:
            raise ValueError("no examples to train on")
        skip, number = first * self.batch, 0
        pending: list[Window] = []
        while True:
            windows = self.epoch(number)
            number += 1
            if skip >= len(windows):
                skip -= len(windows)
                continue
            pending.extend(windows[skip:])
            skip = 0
            while len(pending) >= self.batch:
                yield pending[: self.batch]
                pending = pending[self.batch :]


def worker_windows(
    windows: Sequence[Window], worker: int, workers: int, micro_batch_size: int
) -> list[list[Window]]:
    """What ``worker`` computes of a step: forward passes of ``micro_batch_size`` windows each."""
    stride = workers * micro_batch_size
    return [
        list(windows[start : start + micro_batch_size])
        for start in range(worker * micro_batch_size, len(windows), stride)
    ]
