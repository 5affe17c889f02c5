"""What reinforcement learning can be told."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cass_ray.config import StrictModel
from cass_ray.train.settings import OptimizerSettings


class ObjectiveSettings(StrictModel):
    """GRPO (Shao et al., 2024, arXiv:2402.03300) and two variants.

    ``dapo`` (Yu et al., 2025, arXiv:2503.14476) counts every token alike and clips higher above
    than below; ``dr-grpo`` (Liu et al., 2025, arXiv:2503.20783) divides neither by the spread of a
    group's rewards nor by the length of an answer.
    """

    kind: Literal["grpo", "dapo", "dr-grpo"] = "dapo"
    clip_low: float = Field(default=0.2, gt=0, lt=1)
    clip_high: float = Field(default=0.28, gt=0)
    kl: float = Field(default=0.0, ge=0)
    """Weight of the divergence from the model that the run began with; 0: it is not kept."""


class SamplingSettings(StrictModel):
    """Which questions are asked in a step, and how often."""

    questions: int = Field(default=64, ge=1)
    """Questions of a step; with ``mixed`` at least so many."""
    mixed: int = Field(default=0, ge=0)
    """Groups of different worth that a step is to have: as many questions are asked as have had
    them lately, ``most_questions`` at most (the dynamic sampling of DAPO, without waiting for a
    second draw). 0: always ``questions``."""
    most_questions: int = Field(default=1024, ge=1)
    group: int = Field(default=8, ge=2)
    """Answers to each."""
    temperature: float = Field(default=1.0, gt=0)
    max_new_tokens: int = Field(default=512, ge=1)
    beyond_reference: float = Field(default=0.0, ge=0)
    """An answer is cut where it has so many times the tokens of the known translation's, and 64
    more; 0: only at ``max_new_tokens``."""
    rows: int = Field(default=512, ge=1)
    """Answers that a worker draws at once, at most; one that has ended makes room for the next."""
    revisited: float = Field(default=0.5, ge=0, le=1)
    """Share of a step's questions that are taken, as far as there are any, from those whose last
    answers were of different worth: only such groups teach anything."""
    rest: int = Field(default=2, ge=0)
    """Steps for which a question is not asked again."""


class GuidanceSettings(StrictModel):
    """What is done with groups of which no answer is right (``cass_ray/train/rl/guidance.py``)."""

    kind: Literal["none", "reference"] = "none"
    """``none``: nothing is learned from them, and what a run learns it has drawn itself.
    ``reference``: the known translation takes the place of one answer, which is imitation."""
    most: float = Field(default=0.25, gt=0, lt=1)
    """The largest share of the groups of a step that is guided."""
    steps: int = Field(default=0, ge=0)
    """Steps with guidance, from the first one; 0: all."""


class RlSettings(StrictModel):
    """A run of reinforcement learning from a supervised model."""

    objective: ObjectiveSettings = ObjectiveSettings()
    sampling: SamplingSettings = SamplingSettings()
    guidance: GuidanceSettings = GuidanceSettings()
    optimizer: OptimizerSettings = OptimizerSettings(
        learning_rate=2e-6, betas=(0.9, 0.95), schedule="constant", warmup_ratio=0.0
    )
    steps: int = Field(default=200, ge=1)
    micro_batch_tokens: int = Field(default=32768, ge=64)
    """Tokens, padding included, of one forward pass of the learner."""
    share_questions: bool = False
    """Whether the learner reads a question once for all answers to it, with a mask that keeps them
    apart: the same loss for a fraction of the tokens, where attention takes a mask."""
    shared_tokens: int = Field(default=0, ge=0)
    """Tokens of such a row, at most, where it has more than one answer; 0: ``micro_batch_tokens``.
    What the mask keeps apart is computed all the same: long answers are better read in more rows.
    """
    ahead: int = Field(default=1, ge=0)
    """Steps by which the rollouts' weights may be older than the learner's; 0: on-policy."""
    seed: int = 0
