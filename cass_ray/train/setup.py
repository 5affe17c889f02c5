"""Before the first step: the model, what its backward pass recomputes, and the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from cass_ray.llm.pretrained import extend_rope, load_config, load_tokenizer
from cass_ray.train.data.collate import Batch
from cass_ray.train.data.prepare import check_window
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.engines.base import TrainingEngine
from cass_ray.train.engines.replicated import ReplicatedEngine
from cass_ray.train.model import activation_checkpoint, attention, sequence_parallel
from cass_ray.train.model.build import PreparedModel, build_model, fresh_config, prepare
from cass_ray.train.model.memory import resident_gib
from cass_ray.train.run_files import RunFiles
from cass_ray.train.settings import TrainSettings

_SHARED_ROWS = 0.2
"""The share of the activations that is kept where workers share rows."""
_UNCOUNTED_BYTES = 6 << 30
"""GPU memory left for what PyTorch's allocator does not count, and for fragmentation."""


def prepare_model(
    settings: TrainSettings, distributed: DistributedContext
) -> tuple[PreparedModel, Any]:
    """The model of ``settings`` ready to train, and the tokenizer of the run.

    Raises ``cass_ray.llm.pretrained.ModelError``.
    """
    device = distributed.device
    tokenizer = load_tokenizer(str(RunFiles(settings.out).tokenizer))
    if settings.model.base is not None:
        config = load_config(settings.model.base)
    else:
        assert settings.model.fresh is not None
        config = fresh_config(
            settings.model.fresh, len(tokenizer), tokenizer.eos_token_id, tokenizer.pad_token_id
        )
    if settings.model.rope is not None:
        extend_rope(config, settings.model.rope)
    check_window(config, settings.data.window, settings.model.base or "the fresh model")
    model = build_model(settings.model, config=config, seed=settings.seed, device=device)
    prepared = prepare(model, settings.model, device)
    prepared.notes.extend(_share_rows(config, distributed))
    prepared.model.train()
    prepared.notes.append(f"{prepared.parameters / 1e6:.1f}M parameters on {device}")
    return prepared, tokenizer


def _share_rows(config: Any, distributed: DistributedContext) -> list[str]:
    """Attention over rows that workers share, where they do; a line for the log."""
    size = distributed.sequence_size
    if size == 1:
        attention.share_rows(None)
        return []
    sequence_parallel.check_heads(config, size)
    exchange = sequence_parallel.make_exchange(attention.attend_heads, distributed)
    attention.share_rows(exchange)
    return [f"{size} workers share every window (DeepSpeed Ulysses)"]


def choose_activation_checkpoints(
    prepared: PreparedModel,
    settings: TrainSettings,
    distributed: DistributedContext,
    longest_batch: Callable[[], Batch],
) -> None:
    """Decide by a trial on the longest possible batch what the backward pass recomputes."""
    layers, model = prepared.model.layers, settings.model
    if model.activation_checkpointing == "none" or distributed.device.type != "cuda":
        return
    if model.activation_checkpointing == "all":
        activation_checkpoint.recompute_layers(layers, len(layers))
        return
    compiled = bool(model.compile)
    if distributed.sequence_size > 1:
        # Rows that are too long for one worker; trials could run out of memory on one alone, while
        # the others wait for its share.
        note = activation_checkpoint.keep_share(layers, _SHARED_ROWS, compiled=compiled)
    else:
        batch = longest_batch().to(distributed.device)
        total = torch.cuda.get_device_properties(distributed.device).total_memory
        budget = int((model.memory_gib or 0.94 * total / 2**30) * 2**30)
        reserved = _reserved_bytes(settings, prepared.parameters, distributed.world_size)

        def trial() -> float:
            size = activation_checkpoint.most_bytes(lambda: prepared.model(batch), reserved)
            for parameter in prepared.model.parameters():
                parameter.grad = None
            torch.cuda.empty_cache()
            return size

        note = activation_checkpoint.keep_what_fits(
            layers,
            trial,
            budget - _UNCOUNTED_BYTES,
            compiled=compiled,
            all_max=distributed.all_max,
        )
    prepared.notes.append(f"recomputation: {note}")


def _reserved_bytes(settings: TrainSettings, parameters: int, workers: int) -> int:
    """What gradients, masters and moments will take beyond the weights."""
    zero = settings.zero
    gib = resident_gib(settings, parameters, workers)
    weights = 2 if settings.model.precision == "bf16" else 4
    own = parameters * weights / (workers if zero.stage == 3 else 1)
    buckets = 4 * zero.bucket_elements * 4 if zero.stage else 0
    return int(gib * 2**30 - own + buckets)


def make_engine(
    prepared: PreparedModel, settings: TrainSettings, distributed: DistributedContext
) -> TrainingEngine:
    """The engine of ``zero.stage``: replicated for 0, else DeepSpeed's.

    Raises ``cass_ray.train.engines.optimizers.OptimizerUnavailable``.
    """
    if settings.zero.stage == 0:
        return ReplicatedEngine(prepared.model, settings.optimizer, distributed)
    from cass_ray.train.engines.deepspeed import DeepSpeedEngine

    accumulation = settings.batch.accumulation(distributed.data_size)
    return DeepSpeedEngine(
        prepared.model, settings.zero, settings.optimizer, distributed, accumulation
    )
