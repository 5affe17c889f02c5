import torch

from cass_ray.train.engines.muon import Muon, muon_groups, orthogonalized
from cass_ray.train.settings import OptimizerSettings


def settings(**changes) -> OptimizerSettings:
    return OptimizerSettings(kind="muon", learning_rate=0.1, **changes)


def test_orthogonalized_matrices_have_singular_values_near_one():
    torch.manual_seed(0)
    for shape in ((48, 48), (96, 32), (32, 96)):
        matrix = torch.randn(3, *shape)

        values = torch.linalg.svdvals(orthogonalized(matrix).float())

        assert values.max() < 1.3
        # Newton-Schulz in five steps leaves values that were very small behind.
        assert values.median() > 0.6


def test_the_directions_of_a_matrix_are_kept():
    torch.manual_seed(1)
    left, _ = torch.linalg.qr(torch.randn(24, 24))
    right, _ = torch.linalg.qr(torch.randn(24, 24))
    matrix = left @ torch.diag(torch.linspace(1.0, 3.0, 24)) @ right

    made = orthogonalized(matrix).float()

    assert torch.allclose(left.T @ made @ right.T, torch.eye(24), atol=0.35)


def test_the_first_step_of_a_matrix_is_its_orthogonal_factor_times_the_rate():
    torch.manual_seed(2)
    weight = torch.nn.Parameter(torch.zeros(16, 16))
    optimizer = Muon(muon_groups([("layer.weight", weight)], settings()), settings())
    weight.grad = torch.randn(16, 16)
    # Nesterov's combination of the first gradient with itself is a multiple of it.
    expected = -0.1 * orthogonalized(weight.grad).float()

    optimizer.step()

    similarity = torch.nn.functional.cosine_similarity(weight.flatten(), expected.flatten(), dim=0)
    assert similarity > 0.999
    assert torch.allclose(weight.norm(), expected.norm(), rtol=0.02)


def test_embeddings_and_norms_are_adamws_to_the_digit():
    torch.manual_seed(3)
    start = torch.randn(20, 8)
    own, other = (torch.nn.Parameter(start.clone()) for _ in range(2))
    wanted = settings(betas=(0.9, 0.95))
    optimizer = Muon(muon_groups([("embed_tokens.weight", own)], wanted), wanted)
    reference = torch.optim.AdamW([other], lr=0.1, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0)
    for _ in range(5):
        own.grad = torch.randn(20, 8)
        other.grad = own.grad.clone()
        optimizer.step()
        reference.step()

    assert torch.allclose(own, other, atol=1e-6)


def test_what_goes_where():
    named = [
        ("model.embed_tokens.weight", torch.nn.Parameter(torch.zeros(4, 4))),
        ("model.layers.0.self_attn.q_proj.weight", torch.nn.Parameter(torch.zeros(4, 4))),
        ("model.norm.weight", torch.nn.Parameter(torch.zeros(4))),
    ]

    hidden, rest = muon_groups(named, settings())

    assert hidden["params"] == [named[1][1]]
    assert rest["params"] == [named[0][1], named[2][1]]
