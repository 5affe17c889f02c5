"""The learner: one optimizer step from the judged answers of one step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
from cass_ray.train.rl.policy import AnswerBatch, answer_scores, on_device
from cass_ray.train.rl.rollouts import Rollout, edit_marks
from cass_ray.train.rl.settings import RlSettings
from cass_ray.train.settings import ZeroSettings

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
    known: torch.Tensor
    """Bool (tokens,): of known right answers, which no policy drew; their ratio is 1."""


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

        scores, first = scored(self.model), None
        if objective.kl:
            with torch.no_grad():
                first = scored(self._reference[0]).log_probs
        new = scores.log_probs
        old = torch.where(batch.known, new.detach(), batch.old)
        result = policy_loss(new, old, batch.advantage, batch.weight, objective, first)
        self._count("clipped", result.clipped)
        self._count("divergence", result.divergence)
        self._count("entropy", (scores.entropy * (batch.weight > 0)).sum())
        return result.loss

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

    def full_weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Every weight on the first worker's CPU."""
        ...


def policy_engine(
    policy: PolicyModel,
    settings: RlSettings,
    distributed: DistributedContext,
    zero: ZeroSettings | None = None,
    passes: int = 0,
) -> PolicyEngine:
    """Replicated weights, or DeepSpeed's ZeRO with a fixed number of ``passes`` a step.

    The engines ask of a model no more than the loss of a batch.
    """
    model: Any = policy
    if zero is None or not zero.stage:
        return ReplicatedEngine(model, settings.optimizer, distributed)
    from cass_ray.train.engines.deepspeed import DeepSpeedEngine

    return DeepSpeedEngine(model, zero, settings.optimizer, distributed, passes)


_Row = tuple[Rollout, float, float]
"""An answer, its advantage, and what a token of it counts."""
_Pack = list[_Row]
"""Answers to one question that are read in one row."""


class Learner:
    """Learns from judged answers with ``engine``, which holds a :class:`PolicyModel`.

    Of several workers each has one, is given the same groups, and takes its share of them.
    """

    def __init__(
        self,
        policy: PolicyModel,
        engine: PolicyEngine,
        form: TranslationFormat,
        settings: RlSettings,
        distributed: DistributedContext,
        passes: int = 0,
    ) -> None:
        """``passes``: of each worker in a step; 0: as ``micro_batch_tokens`` demands."""
        self._policy, self._engine, self._form = policy, engine, form
        self._settings, self._distributed, self._passes = settings, distributed, passes
        self._encoded: dict[str, list[int]] = {}
        """Questions of the step as tokens."""
        self.steps = 0

    def step(self, groups: Sequence[JudgedGroup]) -> dict[str, float]:
        """One optimizer step; measures. Groups of equal rewards are left out.

        Without any other the weights stay as they are, and ``tokens`` is 0.
        """
        self._encoded.clear()
        rows = self._rows(groups)
        if not rows:
            return {"tokens": 0.0, "groups": 0.0}
        self._policy.forget()
        self._policy.train()
        own = self._own_parts(rows)
        losses = [  # a batch is put together while the GPU is at the one before
            self._engine.accumulate(self._batch(part), 1.0, number == len(own))
            for number, part in enumerate(own, 1)
        ]
        rate = learning_rate(self._settings.optimizer, self.steps, self._settings.steps)
        norm = self._engine.update(rate)
        self.steps += 1
        tokens = sum(len(rollout.tokens) for rollout, _, _ in rows)
        seen = {name: float(value) for name, value in self._policy.seen.items()}
        loss = sum(float(each) for each in losses)
        total, *sums = self._distributed.all_sum(loss, *seen.values())
        means = {name: value / tokens for name, value in zip(seen, sums, strict=True)}
        mixed = sum(group.is_mixed for group in groups)
        measured = {"loss": total, "norm": norm, "tokens": float(tokens), "groups": float(mixed)}
        return measured | means

    def _rows(self, groups: Sequence[JudgedGroup]) -> list[_Row]:
        """Answers that have an advantage, the longest first."""
        objective, sampling = self._settings.objective, self._settings.sampling
        mixed = [group for group in groups if group.is_mixed]
        pairs = [
            (rollout, advantage)
            for group in mixed
            for rollout, advantage in zip(
                group.rollouts,
                advantages(torch.tensor([list(group.rewards)]), objective)[0].tolist(),
                strict=True,
            )
        ]
        lengths = torch.tensor([len(rollout.tokens) for rollout, _ in pairs])
        weights = answer_weights(lengths, objective, sampling.max_new_tokens).tolist()
        rows = [
            (rollout, advantage, weight)
            for (rollout, advantage), weight in zip(pairs, weights, strict=True)
            if advantage and rollout.tokens
        ]
        return sorted(rows, key=lambda row: -self._length([row]))

    def _packs(self, rows: list[_Row]) -> list[_Pack]:
        """What is read in one row each, the longest first: single answers, or with
        ``share_questions`` as many of a question as ``shared_tokens`` lets stand behind it."""
        if not self._settings.share_questions:
            return [[row] for row in rows]
        most = self._settings.shared_tokens or self._settings.micro_batch_tokens
        packs: list[_Pack] = []
        for name in dict.fromkeys(row[0].question.id for row in rows):
            pack: _Pack = []
            for row in (row for row in rows if row[0].question.id == name):
                if pack and self._length([*pack, row]) > most:
                    packs.append(pack)
                    pack = []
                pack.append(row)
            packs.append(pack)
        return sorted(packs, key=lambda pack: -self._length(pack))

    def _length(self, pack: Sequence[_Row]) -> int:
        return len(self._question(pack[0][0])) + sum(len(row[0].tokens) for row in pack)

    def _own_parts(self, rows: list[_Row]) -> list[list[_Pack]]:
        """What this worker passes through the model; as many parts as every other worker."""
        workers, rank = self._distributed.world_size, self._distributed.rank
        packs = self._packs(rows)
        if self._passes:
            number = self._passes * workers
            parts = [packs[first::number] for first in range(number)]
        else:
            parts = self._within_tokens(packs)
            parts += [[] for _ in range(-len(parts) % workers)]
        idle = [[(rows[-1][0], 0.0, 0.0)]]  # counts for nothing
        return [part or idle for part in parts[rank::workers]]

    def _within_tokens(self, packs: list[_Pack]) -> list[list[_Pack]]:
        parts: list[list[_Pack]] = []
        while packs:
            fitting = max(1, self._settings.micro_batch_tokens // self._length(packs[0]))
            parts.append(packs[:fitting])
            packs = packs[fitting:]
        return parts

    def _question(self, rollout: Rollout) -> list[int]:
        question = self._encoded.get(rollout.question.id)
        if question is None:
            question = self._form.edit_question(rollout.question.lines)
            self._encoded[rollout.question.id] = question
        return question

    def _batch(self, packs: Sequence[_Pack]) -> PolicyBatch:
        device = self._distributed.device
        rows = [row for pack in packs for row in pack]
        rollouts = [row[0] for row in rows]
        questions = [self._question(pack[0][0]) for pack in packs]
        tokens = [[row[0].tokens for row in pack] for pack in packs]
        if self._settings.share_questions:
            answers = AnswerBatch.sharing(questions, tokens, device)
        else:
            answers = AnswerBatch.of(questions, [own for [own] in tokens], device)
        sizes = torch.tensor([len(each.tokens) for each in rollouts])

        def spread(values: Sequence[float | bool]) -> torch.Tensor:
            return on_device(torch.tensor(values).repeat_interleave(sizes), device)

        old = torch.tensor([chance for each in rollouts for chance in each.log_probs])
        return PolicyBatch(
            answers,
            edit_marks(self._form, [each.question for each in rollouts]),
            on_device(old, device),
            spread([row[1] for row in rows]),
            spread([row[2] for row in rows]),
            spread([each.is_reference for each in rollouts]),
        )

    def weights(self) -> dict[str, torch.Tensor]:
        """The policy's weights by the model's names, on the CPU; of other workers none."""
        return {name.removeprefix(_PREFIX): tensor for name, tensor in self._engine.full_weights()}
