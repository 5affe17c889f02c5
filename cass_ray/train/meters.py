"""What training costs: operations, tokens, memory, energy."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from cass_ray.train.data.collate import Batch

PEAK_BF16 = {
    "H200": 989e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40S": 362e12,
    "RTX 4090": 165e12,
    "MI300X": 1307e12,
}
"""Dense bf16 operations a second, from the vendors' data sheets."""


def peak_operations(device: torch.device) -> float | None:
    """Peak operations a second of ``device``; None where they are not known."""
    if device.type != "cuda":
        return None
    name = torch.cuda.get_device_name(device)
    return next((peak for key, peak in PEAK_BF16.items() if key in name), None)


@dataclass(frozen=True)
class Operations:
    """Floating-point operations of training, forward and backward, recomputation not counted.

    Six for each weight and token (Kaplan et al., 2020); causal attention over an example of L
    tokens takes ``6 L² heads width`` a layer, half of the full square. The output head counts only
    where a token is predicted.
    """

    body: int
    """Weights of the decoder layers."""
    head: int
    """Weights of the output head."""
    attention: int
    """Layers x query heads x width of a head."""

    @classmethod
    def of(cls, config: Any, layers: Sequence[torch.nn.Module]) -> Operations:
        """Count those of a transformers model. ``layers`` may be sharded (ZeRO-3)."""
        count = sum(
            int(getattr(p, "ds_numel", p.numel())) for layer in layers for p in layer.parameters()
        )
        width = getattr(config, "head_dim", None)
        width = width or config.hidden_size // config.num_attention_heads
        return cls(
            count,
            config.vocab_size * config.hidden_size,
            config.num_hidden_layers * config.num_attention_heads * width,
        )

    def __call__(self, lengths: Sequence[int], predicted: float) -> float:
        """Operations of one batch."""
        squares = sum(length * length for length in lengths)
        dense = self.body * sum(lengths) + self.head * predicted
        return 6.0 * (dense + self.attention * squares)


class EnergyMeter:
    """Energy a GPU used since this object was made, from NVML's counter; 0 where there is none."""

    def __init__(self, device: torch.device) -> None:
        self._handle: Any = None
        if device.type == "cuda":
            try:
                import pynvml

                pynvml.nvmlInit()
                identity = f"GPU-{torch.cuda.get_device_properties(device).uuid}"
                self._nvml = pynvml
                self._handle = pynvml.nvmlDeviceGetHandleByUUID(identity)
                self._start = self._read()
            except Exception:  # no NVML, no permission, another driver: energy is not essential
                self._handle = None

    def _read(self) -> float:
        return float(self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._handle)) / 3.6e9

    @property
    def kilowatt_hours(self) -> float:
        """Energy used since this object was made."""
        return self._read() - self._start if self._handle is not None else 0.0


@dataclass
class StepMeter:
    """Sums over one optimizer step of one worker."""

    operations: Operations
    started: float = field(default_factory=time.perf_counter)
    waited: float = 0.0
    tokens: int = 0
    predicted: int = 0
    computed: float = 0.0

    def add(self, batch: Batch, waited: float) -> None:
        """Count one forward and backward pass."""
        self.waited += waited
        self.tokens += batch.tokens
        self.predicted += len(batch.targets)
        share = batch.tokens / sum(batch.lengths)  # of a row that several workers hold
        self.computed += share * self.operations(batch.lengths, len(batch.targets) / share)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started
