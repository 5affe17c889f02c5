"""Causal attention over examples that lie end to end in one row, never across their borders.

Registered with transformers as ``cass_packed``: the model passes ``lengths`` (tokens of each
example) down to every layer. On a GPU, long examples go one by one through cuDNN's attention, which
is the fastest there (H200, 16,384 x 128, forward and backward: 546-563 TFLOP/s against 307-315 of
torch's flash attention), and the short ones together through one variable-length call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone knows
from torch.nn.attention import SDPBackend, sdpa_kernel

from cass_ray.train.model.flash_packages import example_bounds, flash_package

NAME = "cass_packed"
"""The value of ``attn_implementation``."""

CUDNN_LENGTH = 4096
"""Examples at least so long go through cuDNN, which plans anew for every length …"""

CUDNN_STEP = 512
"""… so they are padded to multiples of this many tokens; causality hides what is behind them."""

_BACKENDS = {
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
    "math": SDPBackend.MATH,
}


class AttentionUnavailable(RuntimeError):
    """The attention backend asked for does not run here."""


def _one(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float | None, backend: str
) -> torch.Tensor:
    """One example: (1, heads, tokens, width) in and out."""
    with sdpa_kernel(_BACKENDS[backend]):
        return F.scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=scale, enable_gqa=True
        )


def _padded(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float | None
) -> torch.Tensor:
    """One long example through cuDNN, at a length that it has a plan for."""
    length = query.shape[2]
    more = -length % CUDNN_STEP
    if more:
        query, key, value = (F.pad(item, (0, 0, 0, more)) for item in (query, key, value))
    return _one(query, key, value, scale, "cudnn")[:, :, :length]


def _together(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    lengths: tuple[int, ...],
    scale: float | None,
) -> torch.Tensor:
    """Several examples in one variable-length call of torch's or the package's flash attention."""
    package = flash_package()
    if package is not None:
        q, k, v = (item.transpose(1, 2) for item in (query, key, value))
        return package.attend(q, k, v, lengths, scale).transpose(1, 2)
    from torch.nn.attention.varlen import varlen_attn

    q, k, v = (item[0].transpose(0, 1) for item in (query, key, value))
    bounds, longest = example_bounds(lengths, query.device), max(lengths)
    # Windows (-1, 0) and grouped heads were flags and arguments in turn; both forms are right.
    out: Any = varlen_attn(
        q, k, v, bounds, bounds, longest, longest, scale=scale, **_varlen_arguments()
    )
    result: torch.Tensor = out.transpose(0, 1)[None]
    return result


@lru_cache(maxsize=1)
def _varlen_arguments() -> dict[str, Any]:
    import inspect

    from torch.nn.attention.varlen import varlen_attn

    known = inspect.signature(varlen_attn).parameters
    causal = {"window_size": (-1, 0)} if "window_size" in known else {"is_causal": True}
    return {**causal, **({"enable_gqa": True} if "enable_gqa" in known else {})}


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
        query: (1, query heads, T, width); ``key`` and ``value`` have key/value heads.
        key: see ``query``.
        value: see ``query``.
        lengths: tokens of each example; their sum is T.
        scale: of the logits; default ``width ** -0.5``.
        backend: ``cudnn``, ``flash``, ``flash-attn`` or ``math`` (torch's own choice on a CPU).

    Returns:
        (1, query heads, T, width).
    """
    if sum(lengths) != query.shape[2]:
        raise ValueError(f"examples of {sum(lengths)} tokens in a row of {query.shape[2]}")
    if backend == "flash-attn" or (backend == "flash" and len(lengths) > 1):
        return _together(query, key, value, lengths, scale)
    pieces, start = [], 0
    for number, length in enumerate(lengths):
        rest = lengths[number:]
        if backend == "cudnn" and len(rest) > 1 and max(rest) < CUDNN_LENGTH:
            tail = slice(start, None)
            pieces.append(
                _together(query[:, :, tail], key[:, :, tail], value[:, :, tail], rest, scale)
            )
            break
        q, k, v = (item[:, :, start : start + length] for item in (query, key, value))
        if backend == "cudnn":
            pieces.append(_padded(q, k, v, scale))
        elif backend == "math":
            pieces.append(
                F.scaled_dot_product_attention(
                    q, k, v, is_causal=True, scale=scale, enable_gqa=True
                )
            )
        else:
            pieces.append(_one(q, k, v, scale, "flash"))
        start += length
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces, dim=2)


class ExampleLengths:
    """Lengths that ``torch.compile`` does not look into, or each packing would be compiled anew."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[int, ...]) -> None:
        self.values = values


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
    """As :func:`attend` with the chosen backend, for tensors of (1, tokens, heads, width)."""
    package = flash_package() if _chosen == "flash-attn" else None
    if package is not None:
        return package.attend(query, key, value, lengths, scale)
    q, k, v = (item.transpose(1, 2) for item in (query, key, value))
    return attend(q, k, v, lengths, scale=scale, backend=_chosen).transpose(1, 2).contiguous()


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _packed_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    lengths: ExampleLengths | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """The form in which transformers calls an attention function."""
    if query.shape[0] != 1 or attention_mask is not None:
        raise ValueError("packed attention takes one row of examples and no mask")
    bounds = (query.shape[2],) if lengths is None else lengths.values
    by_token = [item.transpose(1, 2) for item in (query, key, value)]
    over = attend_heads if _exchange is None else _exchange
    return over(*by_token, lengths=bounds, scale=scaling), None


def register() -> None:
    """Make ``cass_packed`` known to transformers; it needs no mask."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    AttentionInterface.register(NAME, _packed_attention)
    AttentionMaskInterface.register(NAME, lambda *_, **__: None)


def works(backend: str, device: torch.device, dtype: torch.dtype, width: int, groups: int) -> str:
    """Why ``backend`` cannot train here; the empty string when it can. Runs a small example."""
    query = torch.randn(1, 2 * groups, 640, width, device=device, dtype=dtype, requires_grad=True)
    key, value = (torch.randn(1, 2, 640, width, device=device, dtype=dtype) for _ in range(2))
    try:
        attend(query, key, value, (400, 240), backend=backend).sum().backward()
        if backend == "cudnn":
            _padded(query, key, value, None).sum().backward()
        elif backend == "flash-attn":
            attend(query, key, value, (640,), backend=backend).sum().backward()
    except Exception as error:  # packages that compile their kernels raise what they like
        return str(error).strip().split("\n")[0] or type(error).__name__
    return ""


def choose(
    wanted: str, device: torch.device, dtype: torch.dtype, width: int, groups: int
) -> tuple[str, str]:
    """The backend to use and why, and make it the one that models use.

    ``auto`` takes the first that runs of the FlashAttention packages, cuDNN and torch's flash
    attention. Raises ``AttentionUnavailable`` when the one asked for does not run.
    """
    global _chosen
    if device.type == "cpu":
        _chosen = "math"
        return _chosen, "the CPU's own attention"
    order = [wanted] if wanted != "auto" else ["cudnn", "flash", "math"]
    package = flash_package()
    if wanted == "auto" and package is not None:
        hopper = torch.cuda.get_device_capability(device) >= (9, 0)
        # FlashAttention 2 is slower than cuDNN on Hopper and faster before it.
        order.insert(1 if hopper and package.version == 2 else 0, "flash-attn")
    problems: list[str] = []
    for name in order:
        problem = (
            "the package is not installed"
            if name == "flash-attn" and package is None
            else works(name, device, dtype, width, groups)
        )
        if not problem:
            _chosen = name
            return name, "; ".join(["runs here", *problems])
        problems.append(f"{name}: {problem}")
    raise AttentionUnavailable("no attention backend runs: " + "; ".join(problems))
