"""The kernels over a paged cache, in Triton's interpreter, against PyTorch's own attention."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

# In a process of its own: Triton chooses the interpreter when a kernel is defined.
COMPARE = """
import sys
import torch
from serve.generation import paged_decode

splits, heads, key_heads, size, page = map(int, sys.argv[1:])
paged_decode._processors = lambda device: splits * key_heads
torch.manual_seed(0)
lengths = [-1, 0, 16, 63, 90]
pages = torch.randperm(len(lengths) * 12, dtype=torch.int32).view(len(lengths), 12)
keys, values = (torch.randn(pages.numel(), page, key_heads, size) for _ in range(2))
before = keys.clone()
asked = torch.randn(len(lengths), 1, heads, size)
key, value = (torch.randn(len(lengths), 1, key_heads, size) for _ in range(2))
made = paged_decode.flash_attn_with_kvcache(
    asked, keys, values, key, value, torch.tensor(lengths, dtype=torch.int32), pages
)
assert (keys != before).any(-1).sum() == key_heads * (len(lengths) - 1)
for row, length in enumerate(lengths):
    if length < 0:
        continue
    held = [cache[pages[row].long()].flatten(0, 1)[: length + 1] for cache in (keys, values)]
    assert torch.equal(held[0][-1], key[row, 0]) and torch.equal(held[1][-1], value[row, 0])
    right = torch.nn.functional.scaled_dot_product_attention(
        asked[row].transpose(0, 1)[None],
        *(each.transpose(0, 1)[None] for each in held),
        enable_gqa=True,
    )[0].transpose(0, 1)
    torch.testing.assert_close(made[row], right, atol=1e-5, rtol=1e-5)
"""


@pytest.mark.parametrize(
    ("splits", "heads", "key_heads", "size", "page"),
    [(1, 2, 2, 16, 16), (8, 6, 2, 32, 16)],
)
def test_as_attention_over_the_gathered_cache(
    splits: int, heads: int, key_heads: int, size: int, page: int
) -> None:
    numbers = [str(each) for each in (splits, heads, key_heads, size, page)]
    done = subprocess.run(
        [sys.executable, "-c", COMPARE, *numbers],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
