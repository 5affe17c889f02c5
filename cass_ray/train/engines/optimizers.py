"""AdamW in its variants, its learning rate over time, and its state as plain fp32 tensors."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch

from cass_ray.train.engines.muon import Muon, muon_groups
from cass_ray.train.settings import OptimizerSettings

MOMENTS = ("exp_avg", "exp_avg_sq")
"""Names of the two moments in checkpoints, whatever the optimizer calls them."""

_BNB_MOMENTS = {
    "exp_avg": ("state1", "qmap1", "absmax1"),
    "exp_avg_sq": ("state2", "qmap2", "absmax2"),
}


class OptimizerUnavailable(RuntimeError):
    """The optimizer asked for needs a package that is not installed."""


def learning_rate(settings: OptimizerSettings, step: int, steps: int) -> float:
    """The learning rate of optimizer step ``step`` (from 0) of ``steps``."""
    warm = math.ceil(settings.warmup_ratio * steps)
    if step < warm:
        return settings.learning_rate * (step + 1) / warm
    if settings.schedule == "constant":
        return settings.learning_rate
    if settings.schedule == "trapezoid":
        warm = max(warm, math.ceil(settings.stable_ratio * steps))
        if step < warm:
            return settings.learning_rate
    done = min((step - warm) / max(steps - warm, 1), 1.0)
    shape = 0.5 * (1 + math.cos(math.pi * done)) if settings.schedule == "cosine" else 1 - done
    return settings.learning_rate * (settings.min_lr_ratio + (1 - settings.min_lr_ratio) * shape)


def decay_groups(
    named: Iterable[tuple[str, torch.nn.Parameter]], weight_decay: float
) -> list[dict[str, Any]]:
    """Parameter groups: matrices decay, norms and biases do not."""
    decayed: list[torch.nn.Parameter] = []
    plain: list[torch.nn.Parameter] = []
    for _, parameter in named:
        if parameter.requires_grad:
            (decayed if parameter.ndim > 1 and weight_decay else plain).append(parameter)
    groups = [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": plain, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def parameter_groups(
    named: Iterable[tuple[str, torch.nn.Parameter]], settings: OptimizerSettings
) -> list[dict[str, Any]]:
    """The groups that the optimizer of ``settings`` is made of."""
    if settings.kind == "muon":
        return muon_groups(named, settings)
    return decay_groups(named, settings.weight_decay)


def split_groups(groups: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """``groups`` cut, in order, into groups of at most ``most`` elements (or of one parameter).

    ZeRO 1 and 2 make one flat tensor of each group, and bitsandbytes' kernels count the elements of
    a tensor in 32 bits: beyond 2^31 the moments of a group would silently be wrong. A smaller group
    also needs a smaller fp32 copy of its gradients while it is updated.
    """
    result: list[dict[str, Any]] = []
    for group in groups:
        part: list[torch.nn.Parameter] = []
        size = 0
        for parameter in group["params"]:
            if part and size + parameter.numel() > most:
                result.append({**group, "params": part})
                part, size = [], 0
            part.append(parameter)
            size += parameter.numel()
        result.append({**group, "params": part})
    return result


def make_optimizer(
    groups: list[dict[str, Any]], settings: OptimizerSettings, *, fused: bool
) -> torch.optim.Optimizer:
    """The optimizer of ``settings``. Raises ``OptimizerUnavailable``."""
    common: dict[str, Any] = {
        "lr": settings.learning_rate,
        "betas": settings.betas,
        "eps": settings.epsilon,
    }
    if settings.kind == "adamw":
        return torch.optim.AdamW(groups, fused=fused, **common)
    if settings.kind == "muon":
        return Muon(groups, settings)
    try:
        import bitsandbytes
    except ImportError as error:
        raise OptimizerUnavailable(
            f"optimizer.kind = {settings.kind} needs bitsandbytes ({error}); `adamw` is torch's own"
        ) from None
    kinds = {
        "adamw-8bit": bitsandbytes.optim.AdamW8bit,
        "paged-adamw": bitsandbytes.optim.PagedAdamW32bit,
        "paged-adamw-8bit": bitsandbytes.optim.PagedAdamW8bit,
    }
    optimizer: torch.optim.Optimizer = kinds[settings.kind](groups, **common)
    return optimizer


def read_moments(state: dict[str, Any]) -> dict[str, torch.Tensor]:
    """The moments in ``state`` (one parameter's) as fp32 tensors; none before the first step.

    Muon has the first only.
    """
    if not state:
        return {}
    if "exp_avg" in state:
        return {name: state[name].float() for name in MOMENTS if name in state}
    result = {}
    for name, (values, code, scale) in _BNB_MOMENTS.items():
        tensor = state[values]
        if tensor.dtype == torch.uint8:
            from bitsandbytes import functional

            blocks = functional.QuantState(
                absmax=state[scale], code=state[code], blocksize=_blocksize(tensor, state[scale])
            )
            tensor = functional.dequantize_blockwise(tensor, blocks)
        result[name] = tensor.float()
    return result


def _blocksize(values: torch.Tensor, scales: torch.Tensor) -> int:
    """Values that share a scale in bitsandbytes' blockwise state: 256 since 0.44, 2,048 before."""
    return next(size for size in (256, 2048) if -(-values.numel() // size) == scales.numel())


def write_moments(
    optimizer: torch.optim.Optimizer,
    group_index: tuple[int, int],
    parameter: torch.Tensor,
    moments: dict[str, torch.Tensor],
    step: int,
) -> None:
    """Give ``parameter`` (number ``group_index[1]`` of group ``group_index[0]``) these moments."""
    state: dict[str, Any] = optimizer.state[parameter]
    if not hasattr(optimizer, "init_state"):
        device = parameter.device if optimizer.defaults.get("fused") else torch.device("cpu")
        state["step"] = torch.tensor(float(step), device=device)
        for name, moment in moments.items():
            state[name] = moment.to(parameter).clone()
        return
    group = optimizer.param_groups[group_index[0]]
    listed = group["params"]
    if not listed:  # ZeRO 3 lists a parameter only while it is updated
        group["params"] = [parameter]
    optimizer.init_state(group, parameter, *group_index)
    group["params"] = listed
    state = optimizer.state[parameter]
    state["step"] = step
    for name, (values, code, scale) in _BNB_MOMENTS.items():
        fresh = moments[name].to(device=parameter.device, dtype=torch.float32)
        if state[values].dtype == torch.uint8:
            from bitsandbytes import functional

            size = _blocksize(state[values], state[scale])
            packed, blocks = functional.quantize_blockwise(fresh, code=state[code], blocksize=size)
            state[values].copy_(packed)
            state[scale].copy_(blocks.absmax)
        else:
            state[values].copy_(fresh)
