"""FlashAttention's packages, which need a GPU: what their function is given, and where it is used.

That gradients with version 4 are those of plain attention is part of ``benchmarks.train.gpu``'s
checks (``benchmarks/results/train_gpu.md``).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from cass_ray.train.model import attention
from cass_ray.train.model.flash_packages import FlashPackage

LENGTHS = (5, 1, 9)


def varlen(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    softmax_scale: float | None,
    causal: bool,
) -> tuple[torch.Tensor, None]:
    """``flash_attn_varlen_func`` as its documentation has it: by token and example."""
    assert causal
    assert torch.equal(cu_seqlens_q, cu_seqlens_k)
    assert cu_seqlens_q.dtype == torch.int32
    bounds = cu_seqlens_q.tolist()
    assert max_seqlen_q == max_seqlen_k == max(b - a for a, b in pairwise(bounds))
    groups = q.shape[1] // k.shape[1]
    made = []
    for start, end in pairwise(bounds):
        query, key, value = (x[start:end].transpose(0, 1) for x in (q, k, v))
        key, value = (x.repeat_interleave(groups, 0) for x in (key, value))
        made.append(
            F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=softmax_scale)
        )
    return torch.cat(made, dim=1).transpose(0, 1), None


@pytest.fixture
def heads() -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(1, sum(LENGTHS), n, 8) for n in (4, 2, 2)]


@pytest.mark.parametrize("scale", [None, 0.2])
def test_a_package_is_given_tensors_by_token(
    monkeypatch: pytest.MonkeyPatch, heads: list[torch.Tensor], scale: float | None
) -> None:
    q, k, v = heads
    wanted = attention.attend(q, k, v, LENGTHS, scale=scale, backend="math")
    monkeypatch.setattr(attention, "flash_package", lambda: FlashPackage(3, varlen))
    monkeypatch.setattr(attention, "_chosen", "flash-attn")
    found = attention.attend_heads(q, k, v, lengths=LENGTHS, scale=scale)
    torch.testing.assert_close(found, wanted)
    other = attention.attend(q, k, v, LENGTHS, scale=scale, backend="flash-attn")
    torch.testing.assert_close(other, wanted)


@pytest.mark.parametrize(
    ("version", "order"),
    [(4, ["flash-attn", "cudnn", "flash"]), (None, ["cudnn", "flash"])],
)
def test_the_fastest_is_tried_first(
    monkeypatch: pytest.MonkeyPatch, version: int | None, order: list[str]
) -> None:
    tried: list[str] = []

    def works(backend: str, *_: Any) -> str:
        tried.append(backend)
        return "" if backend == "flash" else "not here"

    package = None if version is None else FlashPackage(version, varlen)
    monkeypatch.setattr(attention, "flash_package", lambda: package)
    monkeypatch.setattr(attention, "works", works)
    monkeypatch.setattr(attention, "_chosen", "math")
    chosen, why = attention.choose("auto", torch.device("cuda"), torch.bfloat16, 8, 2)
    assert chosen == "flash"
    assert tried == order
    assert "cudnn: not here" in why
