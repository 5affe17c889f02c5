"""ZeRO 1, 2 and 3 through DeepSpeed's engine, driven directly.

What is read of DeepSpeed beyond its documented interface: where a parameter's piece lies in the
flat fp32 partitions (``_hp_mapping`` for ZeRO 1 and 2, ``grad_position`` for ZeRO 3), and where it
looks for overflow (to drop a step). Checkpoints are made from those pieces instead of DeepSpeed's
own files, which tie a run to its number of workers. The optimizer's state, paged or 8-bit too,
belongs to the flat partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from cass_ray.train.collectives import start_collectives
from cass_ray.train.data.collate import Batch
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.engines import optimizers
from cass_ray.train.engines.base import ParameterShard
from cass_ray.train.model.build import AnswerModel
from cass_ray.train.settings import OptimizerSettings, ZeroSettings


def deepspeed_settings(
    zero: ZeroSettings, optimizer: OptimizerSettings, *, bf16: bool, accumulation: int, workers: int
) -> dict[str, Any]:
    """DeepSpeed's configuration for ours."""
    stage: dict[str, Any] = {
        "stage": zero.stage,
        "overlap_comm": zero.overlap,
        "contiguous_gradients": True,
        "reduce_bucket_size": zero.bucket_elements,
    }
    if zero.offload_optimizer == "cpu":
        stage["offload_optimizer"] = {"device": "cpu", "pin_memory": True}
    if zero.stage == 3:
        stage["stage3_prefetch_bucket_size"] = zero.bucket_elements
        stage["stage3_max_live_parameters"] = zero.live_elements
        stage["stage3_max_reuse_distance"] = zero.live_elements
        if zero.offload_parameters == "cpu":
            stage["offload_param"] = {"device": "cpu", "pin_memory": True}
    else:
        stage["allgather_bucket_size"] = zero.bucket_elements
    settings: dict[str, Any] = {
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": accumulation,
        "train_batch_size": accumulation * workers,
        "zero_optimization": stage,
        "zero_allow_untested_optimizer": True,
        "gradient_clipping": optimizer.max_grad_norm or 0.0,
        "steps_per_print": 10**9,
    }
    if bf16:
        settings["bf16"] = {"enabled": True}
        settings["data_types"] = {"grad_accum_dtype": optimizer.grad_accum_dtype}
    return settings


class DeepSpeedEngine:
    """An :class:`cass_ray.train.engines.base.TrainingEngine` on DeepSpeed, ZeRO 1 to 3."""

    def __init__(
        self,
        model: AnswerModel,
        zero: ZeroSettings,
        optimizer: OptimizerSettings,
        distributed: DistributedContext,
        accumulation: int,
    ) -> None:
        import deepspeed

        self.model = model
        self._distributed = distributed
        self._stage = zero.stage
        self._scale = accumulation * distributed.world_size
        named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        bf16 = named[0][1].dtype == torch.bfloat16
        start_collectives(distributed)
        base = _client_optimizer(model, zero, optimizer, distributed)
        self._engine, self._zero, _, _ = deepspeed.initialize(
            model=model,
            optimizer=base,
            config=deepspeed_settings(
                zero,
                optimizer,
                bf16=bf16,
                accumulation=accumulation,
                workers=distributed.world_size,
            ),
            dist_init_required=False,
        )
        self.optimizer: torch.optim.Optimizer = self._zero.optimizer
        self._named = named

    def accumulate(self, batch: Batch, scale: float, last: bool) -> torch.Tensor:
        """See :class:`cass_ray.train.engines.base.TrainingEngine`."""
        loss: torch.Tensor = self._engine(batch)
        # DeepSpeed divides by the number of passes and averages over the workers.
        self._engine.backward(loss * (scale * self._scale))
        if not last:
            self._engine.step()
        return loss.detach()

    def update(self, learning_rate: float) -> float:
        """See :class:`cass_ray.train.engines.base.TrainingEngine`."""
        for group in self._zero.param_groups:
            group["lr"] = learning_rate
        self._engine.step()
        norm = self._engine.get_global_grad_norm()
        return float(norm) if norm is not None else 0.0

    def zero_grad(self) -> None:
        """Step as DeepSpeed does at an overflow: gradients are dropped, nothing moves."""
        zero = self._zero

        def overflow(*_: Any, **__: Any) -> bool:
            zero.overflow = True
            return True

        if self._stage == 3:
            zero._overflow_check_and_loss_scale_update = overflow
            try:
                self._engine.step()
            finally:
                del zero._overflow_check_and_loss_scale_update
            return
        kept = zero.check_grad_overflow
        zero.check_grad_overflow, zero.check_overflow = True, overflow
        try:
            self._engine.step()
        finally:
            zero.check_grad_overflow = kept
            del zero.check_overflow

    def held_shards(self) -> list[ParameterShard]:
        """See :class:`cass_ray.train.engines.base.TrainingEngine`."""
        return list(self._partitions() if self._stage == 3 else self._fragments())

    shards_to_save = held_shards

    def _fragments(self) -> Iterator[ParameterShard]:
        """ZeRO 1 and 2: each group of parameters is one flat tensor, cut into equal partitions."""
        for name, parameter in self._named:
            mapping = getattr(parameter, "_hp_mapping", None)
            if mapping is None:
                continue  # no part of it is on this worker
            group = mapping.param_group_index
            yield ParameterShard(
                name,
                mapping.lp_fragment_address.start,
                mapping.lp_fragment_address.numel,
                self._zero.single_partition_of_fp32_groups[group],
                mapping.hp_fragment_address.start,
                (group, 0),
            )

    def _partitions(self) -> Iterator[ParameterShard]:
        """ZeRO 3: each parameter is cut into equal partitions, the last one padded."""
        partitioned: list[tuple[str, Any]] = list(self._named)
        for name, parameter in partitioned:
            each = parameter.ds_tensor.ds_numel
            start = each * self._distributed.rank
            size = min(each, parameter.ds_numel - start)
            if size <= 0:
                continue
            sub_group, offset, _ = self._zero.grad_position[self._zero.get_param_id(parameter)]
            group = self._zero.sub_group_to_group_id[sub_group]
            flat = self._zero.fp32_partitioned_groups_flat[sub_group]
            yield ParameterShard(name, start, size, flat, offset, (group, 0))

    @torch.no_grad()
    def after_load(self) -> None:
        """Weights in low precision were loaded before the engine was made: nothing is left to do.

        The optimizer's parameter lists are put back as DeepSpeed keeps them between steps.
        """

    def full_weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """See :class:`cass_ray.train.engines.base.TrainingEngine`."""
        import deepspeed

        for name, parameter in self._named:
            if self._stage == 3:
                with deepspeed.zero.GatheredParameters([parameter]):
                    if self._distributed.is_main:
                        yield name, parameter.detach().cpu().clone()
            elif self._distributed.is_main:
                yield name, parameter.detach().cpu()


def _client_optimizer(
    model: AnswerModel,
    zero: ZeroSettings,
    settings: OptimizerSettings,
    distributed: DistributedContext,
) -> torch.optim.Optimizer:
    groups = optimizers.decay_groups(model.named_parameters(), settings.weight_decay)
    if zero.stage < 3:  # ZeRO 3 has groups of its own, of at most 1e9 elements
        groups = optimizers.split_groups(groups, zero.group_elements)
    if zero.offload_optimizer == "cpu":
        from deepspeed.ops.adam import DeepSpeedCPUAdam

        optimizer: torch.optim.Optimizer = DeepSpeedCPUAdam(
            groups,
            lr=settings.learning_rate,
            betas=settings.betas,
            eps=settings.epsilon,
            adamw_mode=True,
        )
        return optimizer
    fused = distributed.device.type == "cuda" and settings.kind == "adamw"
    return optimizers.make_optimizer(groups, settings, fused=fused)
