"""Kernels that a GPU alone has, against fp32 of plain PyTorch and against themselves on a CPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from cass_ray.train.model import attention, cudnn_attention, fp8
from cass_ray.train.model.build import prepare
from cass_ray.train.settings import ModelSettings
from tests.train.model.test_activation_checkpoint import make_batch

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
]
LENGTHS = [(640,), (400, 240), (1, 130, 7, 502), (2048, 1, 1, 1, 1, 1), (5000, 300, 76)]


def _distance(found: torch.Tensor, truth: torch.Tensor) -> float:
    return float((found.float() - truth.float()).norm() / truth.float().norm())


def _alone(heads: list[torch.Tensor], lengths: tuple[int, ...]) -> torch.Tensor:
    """Each example for itself, fp32, key and value heads repeated by hand."""
    groups = heads[0].shape[2] // heads[1].shape[2]
    pieces, start = [], 0
    for length in lengths:
        part = slice(start, start + length)
        q = heads[0][:, part].transpose(1, 2)
        k, v = (x[:, part].repeat_interleave(groups, 2).transpose(1, 2) for x in heads[1:])
        scores = (q @ k.transpose(2, 3)) * q.shape[-1] ** -0.5
        hidden = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
        pieces.append((scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v).transpose(1, 2))
        start += length
    return torch.cat(pieces, 1)


@pytest.mark.parametrize("backend", ["cudnn", "flash"])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize(("heads", "groups", "width"), [(12, 2, 128), (8, 8, 64)])
def test_attention_is_that_of_each_example_alone(
    backend: str, lengths: tuple[int, ...], heads: int, groups: int, width: int
) -> None:
    if backend == "cudnn" and not cudnn_attention.available():
        pytest.skip("nvidia-cudnn-frontend is not installed")
    torch.manual_seed(0)
    made = [
        torch.randn(1, sum(lengths), n, width, device="cuda", dtype=torch.bfloat16)
        for n in (heads, groups, groups)
    ]
    given = torch.randn(1, sum(lengths), heads, width, device="cuda", dtype=torch.bfloat16)
    ours = [x.clone().requires_grad_() for x in made]
    out = attention.attend(ours[0], ours[1], ours[2], lengths, backend=backend)
    out.backward(given)
    truth = [x.float().requires_grad_() for x in made]
    expected = _alone(truth, lengths)
    expected.backward(given.float())
    assert _distance(out, expected) < 0.005
    for x, y in zip(ours, truth, strict=True):
        assert x.grad is not None
        assert y.grad is not None
        assert _distance(x.grad, y.grad) < 0.01


@pytest.mark.parametrize("backend", ["cudnn", "flash"])
def test_tensors_may_lie_in_one(backend: str) -> None:
    """As a model's joint projection would give them: rows that are not dense."""
    if backend == "cudnn" and not cudnn_attention.available():
        pytest.skip("nvidia-cudnn-frontend is not installed")
    whole = torch.randn(1, 300, 8, 64, device="cuda", dtype=torch.bfloat16)
    q, k, v = whole.split((4, 2, 2), 2)
    found = attention.attend(q, k, v, (200, 100), backend=backend)
    dense = attention.attend(
        q.contiguous(), k.contiguous(), v.contiguous(), (200, 100), backend=backend
    )
    torch.testing.assert_close(found, dense)


@pytest.mark.parametrize("kind", [torch.float8_e4m3fn, torch.float8_e5m2])
@pytest.mark.parametrize("shape", [(128, 64), (1, 16), (37, 96), (1000, 8960), (4096, 48)])
def test_a_tensor_in_fp8_is_the_cpus(kind: torch.dtype, shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape).bfloat16()
    scale = x.abs().amax().float() / torch.finfo(kind).max
    for found, wanted in zip(
        fp8._both_ways(x.cuda(), scale.cuda(), kind), fp8._both_ways(x, scale, kind), strict=True
    ):
        assert torch.equal(found.cpu().view(torch.uint8), wanted.view(torch.uint8))


def _model() -> Any:
    from transformers import AutoModelForCausalLM, Qwen2Config

    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=512,
        hidden_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=512,
        use_cache=False,
    )
    return AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).cuda()


def _gradients(lengths: tuple[int, ...], **options: bool) -> tuple[float, torch.Tensor]:
    model = _model()
    settings = ModelSettings(base="unused", liger=False, **options)  # type: ignore[arg-type]
    prepared = prepare(model, settings, torch.device("cuda"))
    prepared.model.train()
    loss = prepared.model(make_batch(lengths).to(torch.device("cuda")))
    loss.backward()
    return float(loss), torch.cat([p.grad.reshape(-1) for p in model.parameters()])


@pytest.mark.parametrize("lengths", [(200, 56), (100, 200, 84), (129, 300, 83), (60, 41)])
def test_compiled_layers_give_the_gradients_of_layers_that_are_not(
    lengths: tuple[int, ...],
) -> None:
    loss, expected = _gradients(lengths)
    again, found = _gradients(lengths, compile=True)
    assert again == pytest.approx(loss, rel=1e-3)
    assert _distance(found, expected) < 0.01


@pytest.mark.parametrize("lengths", [(200, 56), (100, 200, 84), (60, 41)])
@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_in_fp8_are_as_near_as_the_format_allows(
    lengths: tuple[int, ...], compiled: bool
) -> None:
    """Gradients have two bits of mantissa: each is off by 2^-3 at most, in several products."""
    loss, expected = _gradients(lengths)
    again, found = _gradients(lengths, compile=compiled, fp8=True)
    assert again == pytest.approx(loss, rel=0.01)
    assert _distance(found, expected) < 0.15


def test_logits_in_pieces_give_the_loss_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from cass_ray.train.model import kernels

    torch.manual_seed(0)
    hidden = torch.randn(50, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    head = torch.nn.Linear(64, 1000, bias=False, device="cuda", dtype=torch.bfloat16)
    targets = torch.randint(0, 1000, (50,), device="cuda")
    wanted = F.cross_entropy(head(hidden).float(), targets, reduction="sum")
    [gradient] = torch.autograd.grad(wanted, [hidden])
    monkeypatch.setattr(kernels, "LOGITS", 16 * 1000)
    found = kernels.plain_loss(hidden, head, targets)
    [again] = torch.autograd.grad(found, [hidden])
    assert float(found) == pytest.approx(float(wanted), rel=1e-4)
    assert _distance(again, gradient) < 0.01
