"""Head and cross entropy together, against torch's own of all logits."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from cass_ray.train.model import kernels


@pytest.mark.parametrize("rows", [1000, 50, 16, 7, 1])  # of logits at once; the last piece may be
@pytest.mark.parametrize("weighted", [True, False])  # shorter
@pytest.mark.parametrize("bias", [True, False])
def test_loss_and_gradients_are_those_of_all_logits(monkeypatch, weighted, bias, rows):
    monkeypatch.setattr(kernels, "LOGITS", rows * 90)
    torch.manual_seed(0)
    hidden = torch.randn(50, 24, requires_grad=True)
    head = torch.nn.Linear(24, 90, bias=bias)
    targets, weights = torch.randint(0, 90, (50,)), torch.rand(50)
    each = F.cross_entropy(head(hidden), targets, reduction="none")
    wanted = (each * weights).sum() if weighted else each.sum()
    truth = torch.autograd.grad(3 * wanted, (hidden, *head.parameters()))
    made = kernels.plain_loss(hidden, head, targets, weights if weighted else None)
    found = torch.autograd.grad(3 * made, (hidden, *head.parameters()))
    torch.testing.assert_close(made, wanted)
    for ours, theirs in zip(found, truth, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_liger_is_for_large_logits_alone(monkeypatch):
    asked = []

    def liger(hidden, head, targets):
        asked.append(len(targets))
        return hidden.sum()

    monkeypatch.setattr(kernels, "liger_loss", liger)
    monkeypatch.setattr(kernels, "LOGITS", 90 * 10)
    for fused in (True, False):
        head = torch.nn.Linear(24, 90, bias=False)
        kernels.add_loss_to_head(head, fused)
        for count in (10, 11):
            head(torch.randn(count, 24), torch.zeros(count, dtype=torch.long), None)
            head(torch.randn(count, 24), torch.zeros(count, dtype=torch.long), torch.ones(count))
    assert asked == [11]
