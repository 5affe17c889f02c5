"""Answers drawn by several makers at once, each by its thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from cass_ray.train.rl.rollouts import EditQuestion, Rollout, dealt
from cass_ray.train.rl.worker_thread import merged

if TYPE_CHECKING:
    import torch


class SharedRollouts:
    """A :class:`RolloutGenerator` of several, each of which draws answers to its share."""

    def __init__(self, makers: Sequence[Any]) -> None:
        self._makers = makers
        self._pool = ThreadPoolExecutor(len(makers), "cass-rl-share")

    def use_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        list(self._pool.map(lambda maker: maker.use_weights(weights), self._makers))

    def rollouts(self, questions: Sequence[EditQuestion]) -> Iterator[list[Rollout]]:
        shares = zip(self._makers, dealt(questions, len(self._makers)), strict=True)
        return merged([maker.rollouts(share) for maker, share in shares if share])

    def greedy(
        self, questions: Sequence[EditQuestion], weights: Mapping[str, torch.Tensor] | None = None
    ) -> list[Rollout]:
        """See :meth:`DecoderRollouts.greedy`; in the order of ``questions``."""
        shares = dealt(questions, len(self._makers))
        answers = self._pool.map(
            lambda maker, share: maker.greedy(share, weights) if share else [],
            self._makers,
            shares,
        )
        result = {each.question.id: each for share in answers for each in share}
        return [result[question.id] for question in questions]
