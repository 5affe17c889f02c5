"""ZeRO 0: every worker holds the whole model, its gradients and its optimizer state."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
import torch.distributed as dist

from cass_ray.train.data.collate import Batch
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.engines import optimizers
from cass_ray.train.engines.base import ParameterShard
from cass_ray.train.model.build import AnswerModel
from cass_ray.train.settings import OptimizerSettings

_BUCKET = 64 << 20
"""Elements of gradients that are summed over the workers at once."""


class ReplicatedEngine:
    """ZeRO 0: gradients are summed over the workers, everything else is done by each.

    Weights in bf16 have fp32 masters unless ``master_weights`` is off; gradients are accumulated in
    fp32 or in bf16. The optimizer takes the parameters one after the other, so that fp32 copies of
    bf16 gradients exist for one parameter at a time.
    """

    def __init__(
        self, model: AnswerModel, settings: OptimizerSettings, distributed: DistributedContext
    ) -> None:
        self.model = model
        self._settings = settings
        self._distributed = distributed
        self._named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
        low = any(p.dtype == torch.bfloat16 for _, p in self._named)
        self._masters: dict[str, torch.nn.Parameter] = {}
        for name, parameter in self._named:
            if settings.master_weights and parameter.dtype == torch.bfloat16:
                self._masters[name] = torch.nn.Parameter(parameter.detach().float())
            else:
                self._masters[name] = parameter
        groups = optimizers.parameter_groups(self._masters.items(), settings)
        fused = distributed.device.type == "cuda" and settings.kind == "adamw"
        self.optimizer = optimizers.make_optimizer(groups, settings, fused=fused)
        self._sums: dict[str, torch.Tensor] = {}
        self._apart = low and settings.grad_accum_dtype == "fp32"
        if self._apart:
            for name, parameter in self._named:
                parameter.register_post_accumulate_grad_hook(self._adder(name))

    def _adder(self, name: str) -> Callable[[torch.Tensor], None]:
        def add(parameter: torch.Tensor) -> None:
            assert parameter.grad is not None
            if name in self._sums:
                self._sums[name].add_(parameter.grad)
            else:
                self._sums[name] = parameter.grad.float()
            parameter.grad = None

        return add

    def accumulate(self, batch: Batch, scale: float, last: bool) -> torch.Tensor:
        del last
        loss: torch.Tensor = self.model(batch)
        (loss * scale).backward()
        return loss.detach()

    def _gradients(self) -> dict[str, torch.Tensor]:
        if self._apart:
            return self._sums
        return {name: p.grad for name, p in self._named if p.grad is not None}

    def _sum_over_workers(self, gradients: list[torch.Tensor]) -> None:
        bucket: list[torch.Tensor] = []
        for number, gradient in enumerate(gradients):
            bucket.append(gradient)
            full = sum(item.numel() for item in bucket) >= _BUCKET
            if not full and number + 1 < len(gradients):
                continue
            flat = torch.cat([item.reshape(-1) for item in bucket])
            dist.all_reduce(flat)
            start = 0
            for item in bucket:
                item.copy_(flat[start : start + item.numel()].view_as(item))
                start += item.numel()
            bucket = []

    @torch.no_grad()
    def update(self, learning_rate: float) -> float:
        gradients = self._gradients()
        tensors = list(gradients.values())
        if self._distributed.world_size > 1:
            self._sum_over_workers(tensors)
        norms = torch._foreach_norm(tensors, dtype=torch.float32)
        norm = torch.linalg.vector_norm(torch.stack(list(norms)))
        most = self._settings.max_grad_norm
        if most is not None:  # without waiting for the norm: the optimizer is launched meanwhile
            torch._foreach_mul_(tensors, (most / (norm + 1e-6)).clamp(max=1.0))
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate * group.get("lr_ratio", 1.0)
        if all(self._masters[name] is parameter for name, parameter in self._named):
            self._use_sums(gradients)
            self.optimizer.step()
        elif self._apart:
            self._step_masters(gradients)
        else:
            self._step_one_by_one(gradients)
        self.zero_grad()
        return float(norm)

    def _use_sums(self, gradients: dict[str, torch.Tensor]) -> None:
        for name, parameter in self._named:
            if name in gradients and parameter.grad is None:
                parameter.grad = gradients[name].to(parameter.dtype)

    def _step_masters(self, gradients: dict[str, torch.Tensor]) -> None:
        for name, gradient in gradients.items():
            self._masters[name].grad = gradient
        self.optimizer.step()
        changed = [(p, self._masters[name]) for name, p in self._named if name in gradients]
        torch._foreach_copy_([p for p, _ in changed], [master for _, master in changed])
        for _, master in changed:
            master.grad = None

    def _step_one_by_one(self, gradients: dict[str, torch.Tensor]) -> None:
        for name, parameter in self._named:
            if name not in gradients:
                continue
            master = self._masters[name]
            master.grad = gradients[name].float()
            self.optimizer.step()
            master.grad = None
            parameter.copy_(master)
            parameter.grad = None

    def zero_grad(self) -> None:
        self._sums.clear()
        for _, parameter in self._named:
            parameter.grad = None

    def held_shards(self) -> list[ParameterShard]:
        places = {
            id(parameter): (number, index)
            for number, group in enumerate(self.optimizer.param_groups)
            for index, parameter in enumerate(group["params"])
        }
        return [
            ParameterShard(name, 0, master.numel(), master, 0, places[id(master)])
            for name, master in self._masters.items()
        ]

    def shards_to_save(self) -> list[ParameterShard]:
        return self.held_shards()[self._distributed.rank :: self._distributed.world_size]

    @torch.no_grad()
    def after_load(self) -> None:
        for name, parameter in self._named:
            if self._masters[name] is not parameter:
                parameter.copy_(self._masters[name])

    def full_weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        if self._distributed.is_main:
            for name, parameter in self._named:
                yield name, parameter.detach().cpu()
