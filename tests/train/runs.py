"""Runs of the loop for tests: with data, in this process or in several."""

from __future__ import annotations

import os
from typing import Any

import torch

from cass_ray.train.data.examples import ExampleGenerator
from cass_ray.train.data.prepare import make_tokenizer, pair_files, read_pairs, store_examples
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.run_files import RunFiles
from cass_ray.train.settings import TrainSettings
from cass_ray.train.trainer import Trainer

Record = list[tuple[int, float, float]]
"""(step, loss, gradient norm)."""

ALONE = DistributedContext(0, 1, torch.device("cpu"))


def with_data(settings: TrainSettings) -> TrainSettings:
    """Make the tokens of a run without Ray."""
    files = pair_files(settings.data.pairs)
    tokenizer = make_tokenizer(settings, files)
    tokenizer.save_pretrained(RunFiles(settings.out).tokenizer)
    maker = ExampleGenerator(settings.data, tokenizer)
    rows = [row for pair in read_pairs(files) for row in maker.examples(pair)]
    store_examples(settings, files, rows)
    return settings


def train(distributed: DistributedContext, *many: TrainSettings) -> list[Record]:
    """Run each of ``many`` to its end."""
    os.environ["LOCAL_RANK"] = str(distributed.rank)
    records = []
    for settings in many:
        record: Record = []

        def hear(step: int, values: dict[str, float], record: Record = record) -> None:
            record.append((step, values["loss"], values["gradient_norm"]))

        Trainer(settings, distributed, on_step=hear, say=lambda _: None).run()
        records.append(record)
    return records


def changed(settings: TrainSettings, **changes: Any) -> TrainSettings:
    """``settings`` with other values; dotted keys with ``__``."""
    values = settings.model_dump()
    for key, value in changes.items():
        *path, last = key.split("__")
        target = values
        for part in path:
            target = target[part]
        target[last] = value
    return TrainSettings.model_validate(values)
