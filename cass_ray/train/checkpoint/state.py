"""Between an engine and a checkpoint: weights and moments of every shard."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from cass_ray.train.checkpoint.reader import CheckpointReader
from cass_ray.train.checkpoint.store import WEIGHT
from cass_ray.train.engines import optimizers
from cass_ray.train.engines.base import ParameterShard, TrainingEngine
from cass_ray.train.model.build import AnswerModel


def tensors_to_save(engine: TrainingEngine) -> Iterator[tuple[str, torch.Tensor]]:
    """(key, flat fp32 tensor) of all that this worker saves; one copy of a partition at a time."""
    by_flat: dict[int, list[ParameterShard]] = {}
    for shard in engine.shards_to_save():
        by_flat.setdefault(id(shard.flat), []).append(shard)
    for shards in by_flat.values():
        flat = shards[0].flat
        moments = optimizers.read_moments(engine.optimizer.state.get(flat, {}))
        for kind, tensor in {WEIGHT: flat.detach(), **moments}.items():
            values = tensor.reshape(-1)
            for shard in shards:
                piece = values[shard.offset : shard.offset + shard.size]
                yield f"{kind}|{shard.name}|{shard.start}", piece.float()


@torch.no_grad()
def load_weights(model: AnswerModel, reader: CheckpointReader) -> None:
    """Set the model's trained parameters, before an engine is made of it."""
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            values = reader.read(WEIGHT, name, 0, parameter.numel())
            parameter.copy_(values.view(parameter.shape))


@torch.no_grad()
def load_engine(engine: TrainingEngine, reader: CheckpointReader, step: int) -> None:
    """Set fp32 weights and moments of everything this worker holds."""
    by_flat: dict[int, list[ParameterShard]] = {}
    for shard in engine.held_shards():
        by_flat.setdefault(id(shard.flat), []).append(shard)
    for shards in by_flat.values():
        flat = shards[0].flat
        moments_there = [
            name
            for name in optimizers.MOMENTS
            if all(reader.has(name, shard.name) for shard in shards)
        ]
        kinds = (WEIGHT, *moments_there)
        values = {kind: torch.zeros(flat.numel(), dtype=torch.float32) for kind in kinds}
        for shard in shards:
            place = slice(shard.offset, shard.offset + shard.size)
            for kind in kinds:
                values[kind][place] = reader.read(kind, shard.name, shard.start, shard.size)
        flat.copy_(values.pop(WEIGHT).view_as(flat))
        if moments_there:
            moments = {kind: tensor.view_as(flat) for kind, tensor in values.items()}
            optimizers.write_moments(engine.optimizer, shards[0].group_index, flat, moments, step)
    engine.after_load()
