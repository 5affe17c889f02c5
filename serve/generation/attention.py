"""Flash attention for continuous batching with what PyTorch brings, without a flash-attn package.

With plain scaled dot-product attention every sequence of a batch is multiplied with every other and
masked: at long contexts that is most of the work. transformers wants two functions of a flash
attention package instead: over sequences of different lengths, which PyTorch has built in, and over
the pages of a cache, which is :mod:`serve.generation.paged_decode`.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import torch

NAME = "torch_flash_2"
"""The implementation's name for transformers; "flash" and "2" in it say how it is called."""


def flash_attn_varlen_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    softmax_scale: float | None = None,
    causal: bool = False,
) -> torch.Tensor:
    """Attention within each of several sequences that lie one behind the other.

    Shapes (tokens, heads, size); a causal mask ends at the last key. As flash-attn's function.
    """
    made: torch.Tensor = torch.ops.aten._flash_attention_forward(
        q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, 0.0, causal, False,
        scale=softmax_scale,
    )[0]  # fmt: skip
    return made


def usable(model: Any, block_size: int) -> bool:
    """Whether ``model`` can run with :data:`NAME`: on an Nvidia GPU, in half precision, with plain
    causal attention, and no flash-attn package there to do it better.
    """
    config = model.config.get_text_config()
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    if (
        model.device.type != "cuda"
        or torch.version.hip is not None
        or model.dtype not in (torch.bfloat16, torch.float16)
        or getattr(config, "sliding_window", None)
        or config._attn_implementation != "sdpa"
        or any(map(_is_installed, ("flash_attn", "flash_attn_interface")))
        or importlib.util.find_spec("triton") is None
    ):
        return False
    from serve.generation import paged_decode

    return paged_decode.supports(size, block_size)


def _is_installed(name: str) -> bool:
    """FlashAttention 4 alone has a folder ``flash_attn`` that is no package of functions."""
    found = importlib.util.find_spec(name)
    return found is not None and found.origin is not None


def use(model: Any) -> None:
    """Let ``model`` attend with :data:`NAME`."""
    _register()
    model.set_attn_implementation(NAME)


def _register() -> None:
    """Make :data:`NAME` known to transformers.

    transformers takes attention functions from anybody, but loads the pair of flash functions, of
    which continuous batching wants the second, by names of packages only: hence the detour.
    """
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers import modeling_flash_attention_utils as loading
    from transformers.integrations.flash_attention import flash_attention_forward
    from transformers.masking_utils import flash_attention_mask

    from serve.generation.paged_decode import flash_attn_with_kvcache

    if NAME in AttentionInterface().valid_keys():
        return
    load = loading._lazy_imports

    def lazy_imports(implementation: str | None, *arguments: Any, **options: Any) -> Any:
        if implementation != NAME:
            return load(implementation, *arguments, **options)
        padding = (loading._pad_input, loading._unpad_input)
        return None, flash_attn_varlen_func, flash_attn_with_kvcache, *padding

    loading._lazy_imports = lazy_imports
    AttentionInterface.register(NAME, flash_attention_forward)
    AttentionMaskInterface.register(NAME, flash_attention_mask)
