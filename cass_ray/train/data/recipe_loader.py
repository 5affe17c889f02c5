"""Rows of a recipe, made ahead of time by processes, as the trainer takes them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from cass_ray.train.data.ahead import Ahead
from cass_ray.train.data.collate import Batch, share_of
from cass_ray.train.data.loader import OptimizerStep
from cass_ray.train.data.recipe import ExampleRecipe
from cass_ray.train.data.recipe_files import load_recipe
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.settings import TrainSettings

_AHEAD = 6
"""Rows that each process has ready."""


class RecipeRows(Dataset[Batch]):
    """The row of each pass of a step, by its number in the run: number // passes is the step."""

    def __init__(self, settings: TrainSettings, rank: int, passes: int, steps: int) -> None:
        self._settings = settings
        self._rank = rank
        self._passes = passes
        self._steps = steps
        self._recipe: ExampleRecipe | None = None

    def __len__(self) -> int:
        return self._passes * self._steps

    def __getitem__(self, number: int) -> Batch:
        if self._recipe is None:  # in the process that makes rows
            torch.set_num_threads(1)
            # The tokenizer's threads did not come along when this process was forked.
            os.environ["TOKENIZERS_PARALLELISM"] = "false"
            self._recipe = load_recipe(self._settings)
        worker = self._rank * self._passes + number % self._passes
        step = number // self._passes
        return self._recipe.batch(step, worker, step / self._steps)


@dataclass
class RecipeLoader:
    """The same contract as :class:`cass_ray.train.data.loader.BatchLoader`, over a recipe."""

    settings: TrainSettings
    distributed: DistributedContext

    def steps(self, first: int, last: int) -> Iterator[OptimizerStep]:
        """Steps ``first`` to ``last - 1``; between two of them take all of the step's batches."""
        passes = self.settings.batch.accumulation(self.distributed.data_size)
        rows = RecipeRows(self.settings, self.distributed.data_rank, passes, last)
        recipe = self.settings.data.recipe
        assert recipe is not None
        more: dict[str, Any] = {}
        if recipe.processes:
            more = {"prefetch_factor": _AHEAD, "multiprocessing_context": "fork"}
        rows_made = DataLoader(
            rows,
            batch_size=None,
            sampler=range(first * passes, last * passes),
            num_workers=recipe.processes,
            collate_fn=_itself,
            **more,
        )
        weighed = map(self._weighed, rows_made)
        # Taking a row from its process and to the device is work that a GPU need not wait for.
        ahead = Ahead(weighed, max(2, passes), "rows") if recipe.processes else None
        self._rows: Iterator[tuple[Batch, float]] = weighed if ahead is None else ahead
        try:
            for number in range(first, last):
                self._taken = [self._next() for _ in range(passes)]
                weight = sum(weight for _, weight, _ in self._taken)
                predicted = self.distributed.all_sum(weight)[0]
                yield OptimizerStep(number, passes, max(round(predicted), 1), ())
        finally:
            if ahead is not None:
                ahead.stop()

    def batch(self) -> tuple[Batch, float]:
        """The next batch, on the device, and the seconds it was waited for."""
        batch, _, waited = self._taken.pop(0)
        return batch, waited

    def _weighed(self, batch: Batch) -> tuple[Batch, float]:
        batch = share_of(batch, self.distributed)
        weight = 0.0 if batch.weights is None else float(batch.weights.sum())
        return batch.to(self.distributed.device), weight

    def _next(self) -> tuple[Batch, float, float]:
        started = time.perf_counter()
        batch, weight = next(self._rows)
        return batch, weight, time.perf_counter() - started


def _itself(batch: Any) -> Any:
    """What a data set gives is a batch already."""
    return batch
