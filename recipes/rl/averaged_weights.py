"""An average of a policy's weights over its steps: single steps go up and down."""

from __future__ import annotations

from typing import Any

import torch


class AveragedWeights:
    """The exponential moving average of the weights of ``model``, in fp32 on the model's device.

    ``decay``: what the average keeps of itself in a step; 0: it is the weights. The first steps
    count alike, so that the model of the beginning has no share in it.
    """

    def __init__(self, model: Any, decay: float) -> None:
        self._named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
        self._averages = [parameter.detach().float().clone() for _, parameter in self._named]
        self._decay = decay
        self._steps = 0

    @torch.no_grad()
    def add(self) -> None:
        """Take the weights as they are now."""
        share = max(1 - self._decay, 1 / (self._steps + 1))
        for average, (_, parameter) in zip(self._averages, self._named, strict=True):
            average.lerp_(parameter.float(), share)
        self._steps += 1

    def weights(self) -> dict[str, torch.Tensor]:
        """By the model's names, on the CPU, of the type that the model has."""
        return {
            name: average.to(parameter.dtype).cpu()
            for average, (name, parameter) in zip(self._averages, self._named, strict=True)
        }
