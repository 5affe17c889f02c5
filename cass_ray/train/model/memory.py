"""How much GPU memory settings need, for a message that says which would fit."""

from __future__ import annotations

from cass_ray.train.settings import TrainSettings

_GIB = 2**30


class OutOfMemory(RuntimeError):
    """A GPU ran out of memory; the message names settings that need less."""


def resident_gib(settings: TrainSettings, parameters: int, workers: int) -> float:
    """GiB a GPU holds between steps: weights, fp32 masters, gradients, moments."""
    low = settings.model.precision == "bf16"
    moments = 2 if settings.optimizer.kind.endswith("8bit") else 8
    master = 4 if low and settings.optimizer.master_weights else 0
    gradients = 2 if low and settings.optimizer.grad_accum_dtype == "bf16" else 4
    weights = 2 if low else 4
    stage = settings.zero.stage
    state = master + moments
    if settings.zero.offload_optimizer == "cpu":
        state = 0
    bytes_each = (
        weights / (workers if stage == 3 else 1)
        + gradients / (workers if stage >= 2 else 1)
        + state / (workers if stage >= 1 else 1)
    )
    return parameters * bytes_each / _GIB


def advice(settings: TrainSettings, parameters: int, workers: int, available_gib: float) -> str:
    """Changes of ``settings`` with what each would leave resident, the mildest first."""
    now = resident_gib(settings, parameters, workers)
    lines = [
        f"{available_gib:.0f} GiB are there; weights, gradients and optimizer state alone take "
        f"{now:.1f} GiB. What would need less:"
    ]
    if settings.model.activation_checkpointing != "all":
        lines.append(
            "  model.activation_checkpointing: all (keeps no activations but the layers' inputs)"
        )
    if settings.batch.micro_batch_size > 1:
        lines.append("  batch.micro_batch_size: 1 (one window at a time)")
    changes: list[tuple[str, dict[str, object]]] = []
    if not settings.optimizer.kind.endswith("8bit"):
        changes.append(("optimizer.kind: paged-adamw-8bit", {"kind": "paged-adamw-8bit"}))
    if settings.optimizer.grad_accum_dtype == "fp32" and settings.model.precision == "bf16":
        changes.append(("optimizer.grad_accum_dtype: bf16", {"grad_accum_dtype": "bf16"}))
    for text, update in changes:
        optimizer = settings.optimizer.model_copy(update=update)
        smaller = settings.model_copy(update={"optimizer": optimizer})
        lines.append(f"  {text} ({resident_gib(smaller, parameters, workers):.1f} GiB resident)")
    if settings.zero.stage < 3 and workers > 1:
        zero = settings.zero.model_copy(update={"stage": 3})
        smaller = settings.model_copy(update={"zero": zero})
        size = resident_gib(smaller, parameters, workers)
        lines.append(f"  zero.stage: 3 ({size:.1f} GiB resident)")
    lines.append(
        f"  data.window: {settings.data.window // 2} (half the activations; drops longer examples)"
    )
    return "\n".join(lines)
