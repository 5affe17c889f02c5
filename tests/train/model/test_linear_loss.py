"""Head and cross entropy together, against torch's own of all logits."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from cass_ray.train.model import linear_loss
from cass_ray.train.model.linear_loss import plain_loss


def _case():
    torch.manual_seed(0)
    hidden = torch.randn(50, 24, requires_grad=True)
    head = torch.nn.Linear(24, 90, bias=False)
    return hidden, head, torch.randint(0, 90, (50,)), torch.rand(50)


@pytest.mark.parametrize("weighted", [True, False])
def test_loss_and_gradients_are_those_of_all_logits(monkeypatch, weighted):
    monkeypatch.setattr(linear_loss, "PIECE", 16)  # the last piece is shorter
    hidden, head, targets, weights = _case()
    each = F.cross_entropy(head(hidden), targets, reduction="none")
    wanted = (each * weights).sum() if weighted else each.sum()
    truth = torch.autograd.grad(3 * wanted, (hidden, head.weight))
    given = weights if weighted else None
    made = linear_loss.linear_loss(hidden, head, targets, given)
    found = torch.autograd.grad(3 * made, (hidden, head.weight))
    torch.testing.assert_close(made, wanted)
    torch.testing.assert_close(plain_loss(hidden, head, targets, given), wanted)
    for ours, theirs in zip(found, truth, strict=True):
        torch.testing.assert_close(ours, theirs)
