"""The learner: one optimizer step from the judged answers of one step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import nn

from cass_ray.llm.batch_decode import EditMarks
from cass_ray.llm.translation_format import TranslationFormat
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.engines.optimizers import learning_rate
from cass_ray.train.engines.replicated import ReplicatedEngine
from cass_ray.train.rl.objective import advantages, answer_weights, policy_loss
from cass_ray.train.rl.policy import AnswerBatch, answer_scores
from cass_ray.train.rl.rollouts import Rollout, edit_marks
from cass_ray.train.rl.settings import RlSettings

_PREFIX = "model."


@dataclass(frozen=True)
class JudgedGroup:
    """Answers to one question, and the reward of each; NaN where nothing is known."""

    rollouts: Sequence[Rollout]
    rewards: Sequence[float]

    @property
    def is_mixed(self) -> bool:
        """Whether the rewards that are known differ."""
        return len({reward for reward in self.rewards if not math.isnan(reward)}) > 1


@dataclass(frozen=True)
class PolicyBatch:
    """Some answers of a step, with what their tokens count."""

    answers: AnswerBatch
    edits: EditMarks
    old: torch.Tensor
    """(tokens,): log-probabilities when they were drawn."""
    advantage: torch.Tensor
    """(tokens,)."""
    weight: torch.Tensor
    """(tokens,)."""


class PolicyModel(nn.Module):
    """A causal language model whose forward pass is the objective on a :class:`PolicyBatch`."""

    def __init__(self, model: Any, settings: RlSettings, end: int, reference: Any = None) -> None:
        super().__init__()
        self.model = model
        self._settings, self._end = settings, end
        # Not a part of this module: its weights are not trained, sharded or saved.
        self._reference = [reference]
        self.seen: dict[str, torch.Tensor] = {}
        """Sums over the tokens since :meth:`forget`, for metrics."""

    def forget(self) -> None:
        """Begin the sums of a step."""
        self.seen = {}

    def forward(self, batch: PolicyBatch) -> torch.Tensor:
        """The weighted sum of the loss, fp32."""
        objective, sampling = self._settings.objective, self._settings.sampling

        def scored(model: Any) -> Any:
            return answer_scores(
                model,
                batch.answers,
                temperature=sampling.temperature,
                end=self._end,
                edits=batch.edits,
            )

        scores, known = scored(self.model), None
        if objective.kl:
            with torch.no_grad():
                known = scored(self._reference[0]).log_probs
        made = policy_loss(
            scores.log_probs, batch.old, batch.advantage, batch.weight, objective, known
        )
        self._count("clipped", made.clipped)
        self._count("divergence", made.divergence)
        self._count("entropy", scores.entropy.sum())
        return made.loss

    def _count(self, name: str, value: torch.Tensor) -> None:
        self.seen[name] = self.seen.get(name, torch.zeros_like(value.detach())) + value.detach()


class PolicyEngine(Protocol):
    """What the learner needs of :class:`cass_ray.train.engines.base.TrainingEngine`."""

    def accumulate(self, batch: Any, scale: float, last: bool) -> torch.Tensor:
        """Forward and backward."""
        ...

    def update(self, learning_rate: float) -> float:
        """Clip and step; the norm before clipping."""
        ...


def replicated_engine(
    policy: PolicyModel, settings: RlSettings, distributed: DistributedContext
) -> PolicyEngine:
    """ZeRO 0, which asks of its model no more than a loss of a batch."""
    model: Any = policy
    return ReplicatedEngine(model, settings.optimizer, distributed)


class Learner:
    """Learns from judged answers with ``engine``, which holds a :class:`PolicyModel`."""

    def __init__(
        self,
        policy: PolicyModel,
        engine: PolicyEngine,
        form: TranslationFormat,
        settings: RlSettings,
        device: torch.device,
        share: Callable[[list[PolicyBatch]], list[PolicyBatch]] = lambda batches: batches,
    ) -> None:
        """``share``: the batches of this worker, as many for each; default: all."""
        self._policy, self._engine, self._form = policy, engine, form
        self._settings, self._device, self._share = settings, device, share
        self.steps = 0

    def step(self, groups: Sequence[JudgedGroup]) -> dict[str, float]:
        """One optimizer step; measures. Groups of equal rewards are left out.

        Without any other the weights stay as they are, and ``tokens`` is 0.
        """
        batches = self._batches(groups)
        tokens = sum(len(batch.old) for batch in batches)
        if not batches:
            return {"tokens": 0.0, "groups": 0.0}
        self._policy.forget()
        self._policy.train()
        own, loss = self._share(batches), 0.0
        for number, batch in enumerate(own):
            loss += float(self._engine.accumulate(batch, 1.0, number + 1 == len(own)))
        rate = learning_rate(self._settings.optimizer, self.steps, self._settings.steps)
        norm = self._engine.update(rate)
        self.steps += 1
        mine = sum(len(batch.old) for batch in own)
        means = {name: float(value) / max(mine, 1) for name, value in self._policy.seen.items()}
        mixed = sum(group.is_mixed for group in groups)
        return {"loss": loss, "norm": norm, "tokens": float(tokens), "groups": float(mixed)} | means

    def _batches(self, groups: Sequence[JudgedGroup]) -> list[PolicyBatch]:
        """Answers that have an advantage, the longest first, within the tokens of a pass."""
        objective, sampling = self._settings.objective, self._settings.sampling
        rows: list[tuple[Rollout, float]] = []
        for group in groups:
            found = advantages(torch.tensor([list(group.rewards)]), objective)[0].tolist()
            rows += zip(group.rollouts, found, strict=True) if any(found) else ()
        if not rows:
            return []
        lengths = torch.tensor([len(rollout.tokens) for rollout, _ in rows])
        weights = answer_weights(lengths, objective, sampling.max_new_tokens).tolist()
        ids = {rollout.question.id: self._question(rollout) for rollout, _ in rows}
        weighed = [
            (rollout, advantage, weight, ids[rollout.question.id])
            for (rollout, advantage), weight in zip(rows, weights, strict=True)
            if advantage and rollout.tokens
        ]
        weighed.sort(key=lambda row: -len(row[3]) - len(row[0].tokens))
        made: list[PolicyBatch] = []
        while weighed:
            longest = len(weighed[0][3]) + len(weighed[0][0].tokens)
            fitting = max(1, self._settings.micro_batch_tokens // longest)
            made.append(self._batch(weighed[:fitting]))
            weighed = weighed[fitting:]
        return made

    def _question(self, rollout: Rollout) -> list[int]:
        return self._form.edit_question(rollout.question.lines)

    def _batch(self, rows: Sequence[tuple[Rollout, float, float, list[int]]]) -> PolicyBatch:
        rollouts = [row[0] for row in rows]
        answers = AnswerBatch.of(
            [row[3] for row in rows], [each.tokens for each in rollouts], self._device
        )
        sizes = torch.tensor([len(each.tokens) for each in rollouts])

        def spread(values: Sequence[float]) -> torch.Tensor:
            return torch.tensor(values).repeat_interleave(sizes).to(self._device)

        old = torch.tensor([chance for each in rollouts for chance in each.log_probs])
        return PolicyBatch(
            answers,
            edit_marks(self._form, [each.question for each in rollouts]),
            old.to(self._device),
            spread([row[1] for row in rows]),
            spread([row[2] for row in rows]),
        )

    def weights(self) -> dict[str, torch.Tensor]:
        """The policy's weights by the model's names, as they are; not copies."""
        return {
            name.removeprefix(_PREFIX): tensor.detach()
            for name, tensor in self._policy.state_dict().items()
            if name.startswith(_PREFIX)
        }
