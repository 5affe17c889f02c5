"""Reward functions in the forms that trainers call.

Each makes its items from what the trainer hands over: ``cuda_source``, and where there is one
``inputs``, a list of lists of arguments (or its JSON). Rewards come from the server that
``$CASS_REWARDS_URL`` names (``cass reward serve``), else from this machine's cores.

    trainer = GRPOTrainer(reward_funcs=trl_reward, …)             # TRL: columns of the data set
    custom_reward_function.path=…/adapters.py name=verl_score     # verl: `ground_truth` is JSON
    skyrl_gym.register("cass", "cass_ray.execute.rewards.skyrl:TranslationEnv")

Call conventions: TRL 1.16, verl 0.9.1 (`naive` and `batch` managers).
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from cass_ray.execute.rewards.client import URL_VARIABLE, RewardClient
from cass_ray.execute.rewards.judge import LocalRewards
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import Rewarder, RewardItem, RewardVerdict


@functools.cache
def default_rewarder() -> Rewarder:
    """The server of ``$CASS_REWARDS_URL``, else a judge for each core of this machine."""
    if url := os.environ.get(URL_VARIABLE):
        return RewardClient(url)
    return LocalRewards(RewardSettings().judge(), len(os.sched_getaffinity(0)))


def text_of(completion: Any) -> str:
    """A completion as text: it may be a list of messages, of which the last one counts."""
    if isinstance(completion, str):
        return completion
    return str(completion[-1]["content"])


def item_of(task: Mapping[str, Any] | str, answer: str) -> RewardItem:
    """The item of a task with ``cuda_source`` and perhaps ``inputs`` and ``order_free``.

    A task may be the JSON of one. Raises ``ValueError`` for one without a program.
    """
    if isinstance(task, str):
        task = json.loads(task)
    if not isinstance(task, Mapping) or not task.get("cuda_source"):
        raise ValueError("a task is an object with `cuda_source`, the program that is translated")
    inputs = task.get("inputs") or [[]]
    if isinstance(inputs, str):
        inputs = json.loads(inputs)
    return RewardItem(
        question=task["cuda_source"],
        answer=answer,
        inputs=inputs,
        order_free=bool(task.get("order_free", False)),
    )


def trl_reward(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    cuda_source: Sequence[str],
    inputs: Sequence[Any] | None = None,
    rewarder: Rewarder | None = None,
    **_: Any,
) -> list[float | None]:
    """A reward for each completion, for TRL's ``GRPOTrainer``; None is left out by TRL."""
    del prompts
    given = inputs if inputs is not None else [None] * len(cuda_source)
    items = [
        item_of({"cuda_source": source, "inputs": each}, text_of(completion))
        for source, each, completion in zip(cuda_source, given, completions, strict=True)
    ]
    verdicts = (rewarder or default_rewarder()).rewards(items)
    return [verdict.reward for verdict in verdicts]


def verl_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    rewarder: Rewarder | None = None,
    **_: Any,
) -> dict[str, float | str]:
    """The score of one response; ``ground_truth`` is a task or its JSON.

    verl knows no undecided answers: ``decided`` is 0 for one, and its score is 0.
    """
    del data_source, extra_info
    verdicts = (rewarder or default_rewarder()).rewards([item_of(ground_truth, solution_str)])
    return _score(verdicts[0])


def verl_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Any] | None = None,
    rewarder: Rewarder | None = None,
    **_: Any,
) -> list[dict[str, float | str]]:
    """:func:`verl_score` for the manager ``batch``."""
    del data_sources, extra_infos
    items = [
        item_of(task, answer) for task, answer in zip(ground_truths, solution_strs, strict=True)
    ]
    return [_score(verdict) for verdict in (rewarder or default_rewarder()).rewards(items)]


def _score(verdict: RewardVerdict) -> dict[str, float | str]:
    return {
        "score": verdict.reward or 0.0,
        "decided": float(verdict.reward is not None),
        "passed": float(verdict.passed),
        "outcome": verdict.outcome.value,
    }
