"""Muon: momentum whose matrices are made orthogonal; AdamW for what is no hidden matrix.

Keller Jordan et al., 2024 ("Muon: an optimizer for hidden layers in neural networks"). Matrices of
one shape are made orthogonal together, by five steps of a Newton-Schulz iteration in bfloat16 whose
coefficients they give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from cass_ray.train.settings import OptimizerSettings

_STEPS = 5
_COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonalized(matrices: torch.Tensor) -> torch.Tensor:
    """``matrices`` (..., m, n) with singular values near 1 (0.7 to 1.2); bfloat16 out."""
    a, b, c = _COEFFICIENTS
    x: torch.Tensor = matrices.bfloat16()
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    tall = x.size(-2) > x.size(-1)
    x = x.mT if tall else x
    shape = x.shape
    x = x.reshape(-1, *shape[-2:])
    for _ in range(_STEPS):  # a x + (b square + c square square) x, sums made by the products
        square = x @ x.mT
        square = torch.baddbmm(square, square, square, beta=b, alpha=c)
        x = torch.baddbmm(x, square, x, beta=a)
    x = x.reshape(shape)
    result: torch.Tensor = x.mT if tall else x
    return result


def muon_groups(
    named: Iterable[tuple[str, torch.nn.Parameter]], settings: OptimizerSettings
) -> list[dict[str, Any]]:
    """Hidden matrices; and embeddings, heads and norms, which AdamW takes."""
    hidden: list[torch.nn.Parameter] = []
    rest: list[torch.nn.Parameter] = []
    for name, parameter in named:
        if parameter.requires_grad:
            matrix = parameter.ndim == 2 and "embed" not in name and "lm_head" not in name
            (hidden if matrix else rest).append(parameter)
    return [
        {"params": hidden, "muon": True, "weight_decay": settings.weight_decay},
        {"params": rest, "muon": False, "weight_decay": 0.0, "lr_ratio": settings.adamw_lr_ratio},
    ]


class Muon(torch.optim.Optimizer):
    """It steps what :func:`muon_groups` gives. The momentum is kept and saved as ``exp_avg``."""

    def __init__(self, groups: list[dict[str, Any]], settings: OptimizerSettings) -> None:
        defaults = {
            "lr": settings.learning_rate,
            "lr_ratio": 1.0,
            "momentum": settings.muon_momentum,
            "betas": settings.betas,
            "eps": settings.epsilon,
            "weight_decay": 0.0,
            "muon": False,
        }
        super().__init__(groups, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update of every parameter that has a gradient."""
        del closure
        for group in self.param_groups:
            given = [parameter for parameter in group["params"] if parameter.grad is not None]
            if given and group["muon"]:
                self._step_matrices(group, given)
            elif given:
                self._step_adamw(group, given)

    def _step_matrices(self, group: dict[str, Any], given: list[torch.Tensor]) -> None:
        by_shape: dict[torch.Size, list[torch.Tensor]] = {}
        for parameter in given:
            if "exp_avg" not in self.state[parameter]:
                self.state[parameter]["exp_avg"] = torch.zeros_like(parameter)
            by_shape.setdefault(parameter.shape, []).append(parameter)
        for shape, parameters in by_shape.items():
            gradients: list[Any] = [parameter.grad for parameter in parameters]
            moments = [self.state[parameter]["exp_avg"] for parameter in parameters]
            torch._foreach_lerp_(moments, gradients, 1 - group["momentum"])
            # Nesterov: the gradient, moved toward the momentum.
            ahead = torch._foreach_lerp(gradients, moments, group["momentum"])
            update = orthogonalized(torch.stack(list(ahead)))
            scale = max(1.0, shape[0] / shape[1]) ** 0.5
            if group["weight_decay"]:
                torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
            torch._foreach_add_(
                parameters, list(update.to(parameters[0]).unbind(0)), alpha=-group["lr"] * scale
            )

    def _step_adamw(self, group: dict[str, Any], given: list[torch.Tensor]) -> None:
        first, second = group["betas"]
        for parameter in given:
            assert parameter.grad is not None
            state = self.state[parameter]
            if "exp_avg_sq" not in state:
                state["step"] = torch.zeros(())
                state["exp_avg"] = torch.zeros_like(parameter)
                state["exp_avg_sq"] = torch.zeros_like(parameter)
            state["step"] += 1
            count = float(state["step"])
            state["exp_avg"].lerp_(parameter.grad, 1 - first)
            state["exp_avg_sq"].lerp_(parameter.grad.square(), 1 - second)
            scale = (state["exp_avg_sq"] / (1 - second**count)).sqrt_().add_(group["eps"])
            if group["weight_decay"]:
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
            parameter.addcdiv_(state["exp_avg"], scale, value=-group["lr"] / (1 - first**count))
