"""Measurements on held-out programs during training: loss, and accuracy on CASS-Bench."""

from __future__ import annotations

import torch

from cass_ray.train.data.collate import collate, padded, share_of
from cass_ray.train.data.packing import Window, best_fit
from cass_ray.train.data.token_store import TokenStore
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.engines.base import TrainingEngine
from cass_ray.train.model.build import AnswerModel
from cass_ray.train.run_files import RunFiles
from cass_ray.train.settings import TrainSettings


class Evaluator:
    """What is measured every so many steps."""

    def __init__(
        self, settings: TrainSettings, distributed: DistributedContext, files: RunFiles
    ) -> None:
        self._settings = settings
        self._distributed = distributed
        self._store = TokenStore(files.held_out)
        lengths = self._store.lengths.tolist()
        recipe = settings.data.recipe
        capacity = settings.data.window if recipe is None else recipe.row_tokens
        self._row_multiple = settings.row_multiple if recipe is None else recipe.row_tokens
        windows = best_fit(lengths, range(len(lengths)), capacity)
        # The packing begins with the longest examples: a sample of all lengths takes every so many.
        every = max(1, len(windows) // settings.evaluation.max_windows)
        self._windows: list[Window] = windows[::every][: settings.evaluation.max_windows]

    def run(self, model: AnswerModel, engine: TrainingEngine, step: int) -> dict[str, float]:
        """Everything that is due after ``step``."""
        values = self._loss(model)
        bench = self._settings.evaluation.bench
        if bench is not None and step % bench.every == 0:
            from cass_ray.train.bench_accuracy import bench_accuracy

            accuracy = bench_accuracy(engine, model, self._settings, self._distributed)
            if accuracy is not None:
                values["bench_accuracy"] = accuracy
        return values

    @torch.no_grad()
    def _loss(self, model: AnswerModel) -> dict[str, float]:
        """Mean loss of an answer token. Every worker makes as many passes (ZeRO-3 needs that)."""
        if not self._windows:
            return {}
        size, rank = self._distributed.data_size, self._distributed.data_rank
        summed, predicted = 0.0, 0.0
        model.eval()
        for first in range(0, len(self._windows), size):
            number = first + rank
            real = number < len(self._windows)
            window = self._windows[number if real else rank % len(self._windows)]
            row = padded(collate(self._store, [window]), self._row_multiple, 0)
            batch = share_of(row, self._distributed)
            loss = float(model(batch.to(self._distributed.device)))
            if real:
                summed += loss
                predicted += len(batch.targets)
        model.train()
        summed, predicted = self._distributed.all_sum(summed, predicted)
        return {"held_out_loss": summed / predicted}
