"""Causal attention over examples that lie end to end in one row, never across their borders.

Registered with transformers as ``cass_packed``: the model passes ``lengths`` (tokens of each
example) down to every layer. On a GPU it is one operation that ``torch.compile`` sees as a whole,
made of cuDNN's kernels (:mod:`.cudnn_attention`) or of PyTorch's flash attention.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone knows
from torch.nn.attention import activate_flash_attention_impl
from torch.utils.flop_counter import register_flop_formula

from cass_ray.train.model import cudnn_attention

NAME = "cass_packed"
"""The value of ``attn_implementation``."""

ENTRIES = 64
"""The tensor of lengths has a multiple of so many, so that compiled code seldom sees a new size."""


class AttentionUnavailable(RuntimeError):
    """The attention backend asked for does not run here."""


def example_lengths(lengths: tuple[int, ...]) -> torch.Tensor:
    """``lengths`` as the operation takes them: int32 on the CPU, with zeros at the end."""
    return torch.tensor([*lengths, *(0,) * (-len(lengths) % ENTRIES)], dtype=torch.int32)


def _known(lengths: torch.Tensor, tokens: int) -> tuple[int, ...]:
    """Read what :func:`example_lengths` made. Raises ``ValueError`` for those of another row."""
    whole = tuple(length for length in lengths.tolist() if length)
    if sum(whole) != tokens:
        raise ValueError(f"examples of {sum(whole)} tokens in a row of {tokens}")
    return whole


@lru_cache(maxsize=256)
def _example_bounds(lengths: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """Where examples begin and the last ends: (examples + 1,), int32."""
    ends = torch.tensor([0, *lengths], dtype=torch.int32).cumsum(0, dtype=torch.int32)
    return ends.to(device, non_blocking=True)


@torch.library.custom_op(
    "cass_ray::packed_attention",
    mutates_args=(),
    schema="(Tensor q, Tensor k, Tensor v, Tensor lengths, float scale, str backend)"
    " -> (Tensor, Tensor)",
)
def _packed(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
    backend: str,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(tokens, heads, width) in and out, and the statistics that the backward pass needs."""
    sizes = _known(lengths, q.shape[0])
    if backend == "cudnn":
        return cudnn_attention.forward(q, k, v, sizes, scale)
    bounds, longest = _example_bounds(sizes, q.device), max(sizes)
    out, statistics, *_ = torch.ops.aten._flash_attention_forward(
        q, k, v, bounds, bounds, longest, longest, 0.0, True, False, scale=scale
    )
    return out, statistics


@_packed.register_fake
def _packed_shapes(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
    backend: str,
) -> tuple[torch.Tensor, torch.Tensor]:
    sizes = (q.shape[0], q.shape[1]) if backend == "cudnn" else (q.shape[1], q.shape[0])
    return q.new_empty(q.shape), q.new_empty(sizes, dtype=torch.float32)


@torch.library.custom_op(
    "cass_ray::packed_attention_backward",
    mutates_args=(),
    schema="(Tensor given, Tensor q, Tensor k, Tensor v, Tensor out, Tensor statistics, "
    "Tensor lengths, float scale, str backend) -> (Tensor, Tensor, Tensor)",
)
def _packed_backward(
    given: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    statistics: torch.Tensor,
    lengths: torch.Tensor,
    scale: float,
    backend: str,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    sizes = _known(lengths, q.shape[0])
    if backend == "cudnn":
        dense = given.contiguous()  # that of a sum has no strides
        return cudnn_attention.backward(dense, q, k, v, out, statistics, sizes, scale)
    bounds, longest = _example_bounds(sizes, q.device), max(sizes)
    unused = torch.zeros(2, dtype=torch.uint64, device=q.device)  # of dropout
    gradients: tuple[torch.Tensor, torch.Tensor, torch.Tensor] = (
        torch.ops.aten._flash_attention_backward(
            given.contiguous(),
            q,
            k,
            v,
            out,
            statistics,
            bounds,
            bounds,
            longest,
            longest,
            0.0,
            True,
            unused,
            unused,
            scale=scale,
        )
    )
    return gradients


@_packed_backward.register_fake
def _packed_backward_shapes(
    given: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *_: Any
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape)


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
    q, k, v, lengths, ctx.scale, ctx.backend = inputs
    ctx.save_for_backward(q, k, v, *output, lengths)


def _differentiate(ctx: Any, *given: torch.Tensor) -> tuple[Any, ...]:
    q, k, v, out, statistics, lengths = ctx.saved_tensors
    gradients = _packed_backward(
        given[0], q, k, v, out, statistics, lengths, ctx.scale, ctx.backend
    )
    return (*gradients, None, None, None)


_packed.register_autograd(_differentiate, setup_context=_save)


@register_flop_formula(torch.ops.cass_ray.packed_attention)
def _operations(q: Any, *_: Any, **__: Any) -> int:
    """Tell the compiler's memory budget: at most one example, half of the square, two products."""
    tokens, heads, width = q
    return int(2 * tokens * tokens * heads * width)


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    lengths: tuple[int, ...],
    *,
    scale: float | None = None,
    backend: str = "math",
) -> torch.Tensor:
    """Causal attention within each example.

    Args:
        query: (1, T, query heads, width); ``key`` and ``value`` have key/value heads.
        key: see ``query``.
        value: see ``query``.
        lengths: tokens of each example; their sum is T.
        scale: of the logits; default ``width ** -0.5``.
        backend: ``cudnn``, ``flash`` or ``math`` (torch's own choice on a CPU).

    Returns:
        (1, T, query heads, width).
    """
    if sum(lengths) != query.shape[1]:
        raise ValueError(f"examples of {sum(lengths)} tokens in a row of {query.shape[1]}")
    if backend != "math":
        return _one_operation(query, key, value, example_lengths(lengths), scale, backend)
    pieces, start = [], 0
    for length in lengths:
        q, k, v = (item[:, start : start + length].transpose(1, 2) for item in (query, key, value))
        piece = F.scaled_dot_product_attention(
            q, k, v, is_causal=True, scale=scale, enable_gqa=True
        )
        pieces.append(piece.transpose(1, 2))
        start += length
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces, dim=1)


def _one_operation(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    lengths: torch.Tensor,
    scale: float | None,
    backend: str,
) -> torch.Tensor:
    """Attend in tensors (rows, tokens, heads, width), whose rows are one row."""
    q, k, v = (item.flatten(0, 1) for item in (query, key, value))
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    result: torch.Tensor = _packed(q, k, v, lengths, scale, backend)[0]
    return result.view(query.shape)


_chosen = "math"
_exchange: Callable[..., torch.Tensor] | None = None


def share_rows(exchange: Callable[..., torch.Tensor] | None) -> None:
    """Let models attend through ``exchange`` (:mod:`.sequence_parallel`), or alone for None."""
    global _exchange
    _exchange = exchange


def attend_heads(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    lengths: tuple[int, ...],
    scale: float | None,
) -> torch.Tensor:
    """Attend (:func:`attend`) with the chosen backend."""
    return attend(query, key, value, lengths, scale=scale, backend=_chosen)


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _not_compiled(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    lengths: torch.Tensor,
    scale: float | None,
) -> torch.Tensor:
    """Rows that workers share, and a CPU."""
    over = attend_heads if _exchange is None else _exchange
    q, k, v = (item.flatten(0, 1)[None] for item in (query, key, value))
    sizes = tuple(length for length in lengths.tolist() if length)
    output: torch.Tensor = over(q, k, v, lengths=sizes, scale=scale)
    return output.reshape(query.shape)


def _packed_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    lengths: torch.Tensor | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """The form in which transformers calls an attention function."""
    if attention_mask is not None or (lengths is None and query.shape[0] > 1):
        raise ValueError("packed attention takes one row of examples and no mask")
    if lengths is None:
        lengths = example_lengths((query.shape[2],))
    q, k, v = (item.transpose(1, 2) for item in (query, key, value))
    if _exchange is None and _chosen in ("cudnn", "flash"):
        return _one_operation(q, k, v, lengths, scaling, _chosen), None
    return _not_compiled(q, k, v, lengths, scaling), None


def register() -> None:
    """Make ``cass_packed`` known to transformers; it needs no mask."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    AttentionInterface.register(NAME, _packed_attention)
    AttentionMaskInterface.register(NAME, lambda *_, **__: None)


def works(backend: str, device: torch.device, dtype: torch.dtype, width: int, groups: int) -> str:
    """Why ``backend`` cannot train here; the empty string when it can. Runs a small example."""
    if backend == "cudnn" and not cudnn_attention.available():
        return "the package nvidia-cudnn-frontend is not installed"
    query = torch.randn(1, 640, 2 * groups, width, device=device, dtype=dtype, requires_grad=True)
    key, value = (torch.randn(1, 640, 2, width, device=device, dtype=dtype) for _ in range(2))
    try:
        for lengths in ((400, 240), (640,)):
            attend(query, key, value, lengths, backend=backend).sum().backward()
    except Exception as error:  # packages raise what they like
        return str(error).strip().split("\n")[0] or type(error).__name__
    return ""


def _activated_package() -> str:
    """Put the kernels of FlashAttention's package 4 or 3 into torch's own flash attention.

    Returns the reason why none can be, or the empty string.
    """
    for name in ("FA4", "FA3"):
        try:
            activate_flash_attention_impl(name)
        except (ImportError, AttributeError, OSError, RuntimeError, ValueError) as error:
            problem = str(error)
        else:
            return ""
    return f"neither version 4 nor version 3 of FlashAttention can be loaded ({problem})"


def choose(
    wanted: str, device: torch.device, dtype: torch.dtype, width: int, groups: int
) -> tuple[str, str]:
    """The backend to use and why, and make it the one that models use.

    ``auto`` takes the first that runs of cuDNN and torch's flash attention, ``flash-attn`` torch's
    with the kernels of FlashAttention's package. Raises ``AttentionUnavailable`` when the one asked
    for does not run.
    """
    global _chosen
    if device.type == "cpu":
        _chosen = "math"
        return _chosen, "the CPU's own attention"
    order = [wanted] if wanted != "auto" else ["cudnn", "flash", "math"]
    problems: list[str] = []
    if wanted == "flash-attn":
        order = ["flash"]
        if problem := _activated_package():
            raise AttentionUnavailable(f"flash-attn: {problem}")
    for name in order:
        problem = works(name, device, dtype, width, groups)
        if not problem:
            _chosen = name
            return name, "; ".join(["runs here", *problems])
        problems.append(f"{name}: {problem}")
    raise AttentionUnavailable("no attention backend runs: " + "; ".join(problems))
