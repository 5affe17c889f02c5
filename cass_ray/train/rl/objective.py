"""The objective of group-relative policy optimization, and its variants."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from cass_ray.train.rl.settings import ObjectiveSettings

_EPSILON = 1e-6


def advantages(rewards: torch.Tensor, settings: ObjectiveSettings) -> torch.Tensor:
    """How much better each answer is than its group.

    Args:
        rewards: (groups, answers); NaN where nothing is known, which counts for nothing.
        settings: ``dr-grpo`` does not divide by the standard deviation (that of the population).

    Returns:
        The shape of ``rewards``; 0 where nothing is known, and in groups that are all alike.
    """
    mask = ~rewards.isnan()
    number = mask.sum(1, keepdim=True).clamp(min=1)
    values = rewards.nan_to_num(0.0)
    mean = values.sum(1, keepdim=True) / number
    centered = torch.where(mask, values - mean, 0.0)
    if settings.kind == "dr-grpo":
        return centered
    deviation = (centered.square().sum(1, keepdim=True) / number).sqrt()
    return torch.where(deviation > _EPSILON, centered / (deviation + _EPSILON), 0.0)


def answer_weights(
    lengths: torch.Tensor, settings: ObjectiveSettings, longest: int
) -> torch.Tensor:
    """What a token of each answer counts, so that the summed loss is the variant's mean.

    Args:
        lengths: (answers,): tokens of each answer of the step.
        settings: ``grpo``: the mean over answers of the mean over their tokens; ``dapo``: the mean
            over all tokens; ``dr-grpo``: the sum over tokens, over the answers and ``longest``.
        longest: tokens that an answer may have.

    Returns:
        fp32, (answers,).
    """
    sizes = lengths.float().clamp(min=1)
    if settings.kind == "grpo":
        return 1 / (len(lengths) * sizes)
    if settings.kind == "dapo":
        return torch.full_like(sizes, 1 / max(float(lengths.sum()), 1.0))
    return torch.full_like(sizes, 1 / (len(lengths) * longest))


@dataclass(frozen=True)
class PolicyLoss:
    """The loss of some tokens; the sums beside it are of those that weigh anything."""

    loss: torch.Tensor
    """A scalar: summed with the tokens' weights, so parts of a step may be added."""
    clipped: torch.Tensor
    """Tokens whose gradient the clip cut off."""
    divergence: torch.Tensor
    """Summed estimate of KL(sampling policy ‖ policy), in nats (k3 of Schulman, 2020)."""


def policy_loss(
    new: torch.Tensor,
    old: torch.Tensor,
    advantage: torch.Tensor,
    weight: torch.Tensor,
    settings: ObjectiveSettings,
    reference: torch.Tensor | None = None,
) -> PolicyLoss:
    """The clipped objective over tokens.

    Args:
        new: (tokens,), nats: log-probabilities under the policy; the gradient goes there.
        old: (tokens,): under the policy that wrote the answers.
        advantage: (tokens,): of the answer of each token.
        weight: (tokens,): from :func:`answer_weights`.
        settings: clip and the weight of the divergence.
        reference: (tokens,): under the model the run began with; for ``settings.kl``.
    """
    ratio = (new - old).exp()
    bounded = ratio.clamp(1 - settings.clip_low, 1 + settings.clip_high)
    plain, clipped = ratio * advantage, bounded * advantage
    loss = -torch.minimum(plain, clipped)
    if reference is not None and settings.kl:
        loss = loss + settings.kl * _k3(reference - new)
    with torch.no_grad():
        counted = weight > 0
        cut = ((clipped < plain) & counted).sum()
        divergence = (_k3(new - old) * counted).sum()
    return PolicyLoss((loss * weight).sum(), cut, divergence)


def _k3(difference: torch.Tensor) -> torch.Tensor:
    return difference.exp() - difference - 1
