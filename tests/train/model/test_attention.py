"""What attention over packed examples refuses, and what its operation is for the compiler.

That it is right is tested where there is a GPU (``test_on_a_gpu.py``), and on a CPU as a part of
the model (``test_correctness.py``).
"""

from __future__ import annotations

import pytest
import torch

from cass_ray.train.model import attention, cudnn_attention

HEADS = [torch.empty(10, n, 8, dtype=torch.bfloat16) for n in (4, 2, 2)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float8_e4m3fn])
def test_cudnn_is_given_no_numbers_that_it_would_read_as_others(dtype):
    q, k, v = (x.to(dtype) for x in HEADS)
    with pytest.raises(TypeError, match="bf16 and fp16"):
        cudnn_attention._layout(q, k, v, (10,), 1.0)


@pytest.mark.parametrize(
    ("lengths", "step", "whole"),
    [((5, 1, 9), 2, [0, 10, 12, 30]), ((3,), 128, [0, 384]), ((2, 0, 0), 3, [0, 6, 6, 6])],
)
def test_offsets_by_hand(lengths, step, whole):
    found = cudnn_attention._offsets(lengths, step, torch.device("cpu"))
    assert found.tolist() == whole
    assert found.dtype == torch.int32


@pytest.mark.parametrize("lengths", [(1 << 20,), (1 << 19, 1 << 19), ((1 << 20) - 1, 1)])
def test_rows_beyond_what_cudnn_counts_are_refused(lengths):
    cudnn_attention._offsets(lengths, 2047, torch.device("cpu"))
    with pytest.raises(ValueError, match=r"model\.attention: flash"):
        cudnn_attention._offsets(lengths, 2048, torch.device("cpu"))


@pytest.mark.parametrize(
    ("lengths", "examples", "longest", "alone"),
    [
        ((10,), 1, 10, True),
        ((4, 6), 4, 1024, False),
        ((2, 2, 2, 2, 2), 8, 1024, False),
        ((1000, 25), 4, 1024, False),
        ((1025, 1), 4, 2048, False),
    ],
)
def test_plans_are_for_rounded_shapes(lengths, examples, longest, alone):
    q, k, v = HEADS
    found = cudnn_attention._layout(q, k, v, lengths, 1.0)
    assert (found.examples, found.longest, found.alone) == (examples, longest, alone)


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 128])
def test_lengths_seldom_change_their_size(count):
    found = attention.example_lengths((7,) * count)
    assert len(found) % attention.ENTRIES == 0
    assert len(found) - count < attention.ENTRIES
    assert attention._known(found, 7 * count) == (7,) * count


@pytest.mark.parametrize("tokens", [13, 15, 0])
def test_lengths_of_another_row_are_refused(tokens):
    with pytest.raises(ValueError, match=f"14 tokens in a row of {tokens}"):
        attention._known(attention.example_lengths((7, 7)), tokens)


@pytest.mark.parametrize("backend", ["cudnn", "flash"])
def test_the_compiler_is_told_the_shapes(backend):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        q, k, v = (torch.empty(10, n, 8, requires_grad=True) for n in (4, 2, 2))
        lengths = torch.empty(64, dtype=torch.int32)
        out, statistics = attention._packed(q, k, v, lengths, 1.0, backend)
        out.sum().backward()
    assert out.shape == q.shape
    assert statistics.shape == ((10, 4) if backend == "cudnn" else (4, 10))
    assert [x.grad.shape for x in (q, k, v)] == [x.shape for x in (q, k, v)]


def test_several_rows_of_unknown_examples_are_refused():
    rows = torch.empty(2, 4, 10, 8)
    with pytest.raises(ValueError, match="one row"):
        attention._packed_attention(torch.nn.Identity(), rows, rows, rows, None)


def test_the_fastest_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def works(backend: str, *_: object) -> str:
        tried.append(backend)
        return "" if backend == "flash" else "not here"

    monkeypatch.setattr(attention, "works", works)
    monkeypatch.setattr(attention, "_chosen", "math")
    chosen, why = attention.choose("auto", torch.device("cuda"), torch.bfloat16, 8, 2)
    assert (chosen, tried) == ("flash", ["cudnn", "flash"])
    assert "cudnn: not here" in why


@pytest.mark.parametrize("installed", ["FA4", "FA3", None])
def test_the_kernels_of_a_package_stand_for_torchs(
    monkeypatch: pytest.MonkeyPatch, installed: str | None
) -> None:
    def activate(name: str) -> None:
        if name != installed:
            raise ModuleNotFoundError(f"no {name} here")

    monkeypatch.setattr(attention, "activate_flash_attention_impl", activate)
    monkeypatch.setattr(attention, "works", lambda *_: "")
    monkeypatch.setattr(attention, "_chosen", "math")
    where = torch.device("cuda"), torch.bfloat16, 8, 2
    if installed:
        assert attention.choose("flash-attn", *where)[0] == "flash"
    else:
        with pytest.raises(attention.AttentionUnavailable, match=r"flash-attn: .*no FA3 here"):
            attention.choose("flash-attn", *where)
