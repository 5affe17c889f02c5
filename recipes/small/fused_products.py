"""Products that read the same activations made as one: queries, keys and values; gate and up.

Weights stay the parameters that they are; they are put together in every pass. On an H100 that
gains nothing (``benchmarks/results/models.md``), so training does not do it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


def fuse_products(layers: list[nn.Module]) -> bool:
    """Let the decoder ``layers`` of a Qwen3 make one product of several; whether they do.

    For rows without a cache: what is generated with them afterwards takes another model.
    """
    from transformers.models.qwen3.modeling_qwen3 import Qwen3DecoderLayer

    if not all(isinstance(layer, Qwen3DecoderLayer) for layer in layers):
        return False
    for layer in layers:
        attention: Any = layer.self_attn
        attention.__class__ = _fused_attention()
        gated: Any = layer.mlp
        gated.__class__ = _fused_mlp()
    return True


def _joint(x: torch.Tensor, *products: nn.Linear) -> tuple[torch.Tensor, ...]:
    weight = torch.cat([product.weight for product in products])
    made = F.linear(x, weight)
    return torch.split(made, [product.out_features for product in products], dim=-1)


@cache
def _fused_mlp() -> type:
    from transformers.models.qwen3.modeling_qwen3 import Qwen3MLP

    class FusedMLP(Qwen3MLP):  # type: ignore[misc]
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            gate, up = _joint(x, self.gate_proj, self.up_proj)
            made: torch.Tensor = self.down_proj(self.act_fn(gate) * up)
            return made

    return FusedMLP


@cache
def _fused_attention() -> type:
    from transformers import AttentionInterface
    from transformers.models.qwen3.modeling_qwen3 import Qwen3Attention, apply_rotary_pos_emb

    class FusedAttention(Qwen3Attention):  # type: ignore[misc]
        def forward(
            self,
            hidden_states: torch.Tensor,
            position_embeddings: tuple[torch.Tensor, torch.Tensor],
            attention_mask: torch.Tensor | None = None,
            past_key_values: Any = None,
            **options: Any,
        ) -> tuple[torch.Tensor, torch.Tensor | None]:
            if past_key_values is not None:
                raise ValueError("fused products are for training: there is no cache")
            shape = (*hidden_states.shape[:-1], -1, self.head_dim)
            q, k, v = _joint(hidden_states, self.q_proj, self.k_proj, self.v_proj)
            query = self.q_norm(q.view(shape)).transpose(1, 2)
            key = self.k_norm(k.view(shape)).transpose(1, 2)
            query, key = apply_rotary_pos_emb(query, key, *position_embeddings)
            attend = AttentionInterface()[self.config._attn_implementation]
            made, weights = attend(
                self,
                query,
                key,
                v.view(shape).transpose(1, 2),
                attention_mask,
                scaling=self.scaling,
                **options,
            )
            return self.o_proj(made.reshape(*shape[:-2], -1).contiguous()), weights

    return FusedAttention
