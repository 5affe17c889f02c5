"""The loop: rollouts, their rewards as they end, a step of the learner, while the next are made."""

from __future__ import annotations

import json
import math
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Protocol

import torch

from cass_ray.execute.rewards.verdicts import Outcome, Rewarder, RewardVerdict
from cass_ray.train.rl.guidance import Reference, guided, right_answer
from cass_ray.train.rl.learner import JudgedGroup
from cass_ray.train.rl.questions import QuestionChooser
from cass_ray.train.rl.records import RewardRecords
from cass_ray.train.rl.rollouts import EditQuestion, RenamedItem, Rollout, RolloutGenerator
from cass_ray.train.rl.settings import RlSettings

METRICS = "metrics.jsonl"
_LOST = 3
"""Batches that may be lost beyond those that were learned from."""
_JUDGED_AT_ONCE = 64
"""Groups whose verdicts are waited for at once, of all batches."""

_OfGroup = tuple[list[RewardVerdict], Rollout | None]


@dataclass(frozen=True)
class JudgedStep:
    """The answers of one step with their verdicts, and how long they took."""

    groups: list[list[Rollout]]
    verdicts: list[list[RewardVerdict]]
    rollout_seconds: float
    reward_seconds: float
    """Seconds from the last answer to the last verdict: the others were judged meanwhile."""
    references: list[Rollout | None]
    """What may stand for an answer of a group that has none right."""
    policy: int
    """Learner's steps that the weights had behind them which drew the answers."""


@dataclass
class RlSummary:
    """How a run ended."""

    steps: int = 0
    lost: int = 0
    """Batches that were lost with a worker."""
    first_reward: float | None = None
    last_reward: float | None = None
    """Means over all answers of the first and the last step."""
    outcomes: Counter[str] = field(default_factory=Counter)


class StepLearner(Protocol):
    """A :class:`~cass_ray.train.rl.learner.Learner`, alone or the first of several."""

    @property
    def steps(self) -> int:
        """Optimizer steps so far."""
        ...

    def step(self, groups: Sequence[JudgedGroup]) -> dict[str, float]:
        """One optimizer step; measures."""
        ...

    def weights(self) -> Mapping[str, torch.Tensor]:
        """The policy's weights by the model's names, on the CPU."""
        ...


@dataclass
class RlTrainer:
    """Runs ``settings.steps`` steps, or until ``until`` (of ``time.monotonic``).

    The answers of a batch are begun ``settings.ahead`` steps ahead, with the weights that there are
    then; those that are still being drawn when there are newer ones go on with these. A group is
    judged when its last answer has ended. A batch whose rollouts or rewards fail is lost, said, and
    counted; the run goes on.
    """

    settings: RlSettings
    learner: StepLearner
    maker: RolloutGenerator
    rewards: Rewarder
    chooser: QuestionChooser
    out: Path
    until: float = math.inf
    say: Callable[[str], None] = print
    after_step: Callable[[int, Mapping[str, torch.Tensor]], None] = lambda step, weights: None
    """Hears of each step that was made, with the weights that came of it."""
    reference: Reference = lambda question: None
    """Known right answers, for ``settings.guidance``."""

    def __post_init__(self) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        self._records = RewardRecords(self.out)
        self._choosing = Lock()
        self._asked = 0
        self._chance = random.Random(self.settings.seed)
        self._judges = ThreadPoolExecutor(_JUDGED_AT_ONCE, "cass-rl-judge")

    def run(self) -> RlSummary:
        """Until the end."""
        summary, waiting = RlSummary(), deque[Future[JudgedStep]]()
        self.maker.use_weights(self.learner.weights())
        pool = ThreadPoolExecutor(self.settings.ahead + 1, "cass-rl")
        try:
            while summary.steps < self.settings.steps and time.monotonic() < self.until:
                while len(waiting) <= self.settings.ahead:
                    waiting.append(self._begin(pool))
                started = time.monotonic()
                try:
                    left = max(self.until - time.monotonic(), 0)
                    judged = waiting.popleft().result(None if math.isinf(left) else left)
                except Exception as error:
                    if time.monotonic() >= self.until:
                        break
                    self._lost(error, summary)
                else:
                    self._learn(judged, time.monotonic() - started, summary)
        finally:
            for each in (pool, self._judges):
                each.shutdown(wait=False, cancel_futures=True)
        return summary

    def _lost(self, error: Exception, summary: RlSummary) -> None:
        """Go on without a batch; raises its error where batches are lost more often than not."""
        summary.lost += 1
        self.say(f"a batch is lost: {error!r}")
        if summary.lost > _LOST + summary.steps:
            raise error

    def _begin(self, pool: ThreadPoolExecutor) -> Future[JudgedStep]:
        step = self._asked
        self._asked += 1
        return pool.submit(self._judged, step, self.learner.steps)

    def _judged(self, step: int, policy: int) -> JudgedStep:
        with self._choosing:
            questions = self.chooser.choose(step)
        started = time.monotonic()
        groups, waiting = list[list[Rollout]](), list[Future[_OfGroup]]()
        for group in self.maker.rollouts(questions):
            groups.append(group)
            waiting.append(self._judges.submit(self._of_group, group))
        drawn = time.monotonic()
        verdicts, references = [], []
        for each in waiting:
            of_group, reference = each.result()
            verdicts.append(of_group)
            references.append(reference)
        seconds = drawn - started, time.monotonic() - drawn
        return JudgedStep(groups, verdicts, *seconds, references, policy)

    def _of_group(self, group: list[Rollout]) -> _OfGroup:
        """Verdicts, and the known answer where it is asked for."""
        verdicts = judge_group(group, self.rewards)
        if not self._is_guided():
            return verdicts, None
        judge = partial(judge_group, rewards=self.rewards)
        return verdicts, right_answer(group, verdicts, self.reference, judge)

    def _is_guided(self) -> bool:
        guidance = self.settings.guidance
        within = not guidance.steps or self.learner.steps < guidance.steps
        return guidance.kind == "reference" and within

    def _learn(self, judged: JudgedStep, waited: float, summary: RlSummary) -> None:
        started, number = time.monotonic(), summary.steps
        groups = []
        for rollouts, verdicts in zip(judged.groups, judged.verdicts, strict=True):
            rewards = [math.nan if each.reward is None else each.reward for each in verdicts]
            groups.append(JudgedGroup(rollouts, rewards))
            heard = [reward for reward in rewards if not math.isnan(reward)]
            with self._choosing:
                self.chooser.heard(rollouts[0].question, heard, self._asked)
            self._records.keep(number, rollouts, verdicts)
        behind = self.learner.steps - judged.policy
        guided_questions = list[EditQuestion]()
        if self._is_guided():
            most = self.settings.guidance.most
            groups, guided_questions = guided(groups, judged.references, most, self._chance)
            self._records.keep_guided(number, guided_questions)
        measured = self.learner.step(groups)
        learned = time.monotonic()
        weights = self.learner.weights()
        self.maker.use_weights(weights)
        seconds = {
            "seconds_rollouts": judged.rollout_seconds,
            "seconds_rewards": judged.reward_seconds,
            "seconds_waited": waited,
            "seconds_learned": learned - started,
            "seconds_weights": time.monotonic() - learned,
        }
        values = {"step": number, "behind": behind, **measured, **_shares(judged), **seconds}
        values["guided"] = len(guided_questions)
        values["mixed_known"] = self.chooser.mixed
        with (self.out / METRICS).open("a") as stream:
            stream.write(json.dumps(values) + "\n")
        self.say(_line(values))
        reward = float(values["reward"])
        summary.first_reward = reward if summary.first_reward is None else summary.first_reward
        summary.last_reward = reward
        summary.outcomes += Counter(
            verdict.outcome.value for group in judged.verdicts for verdict in group
        )
        summary.steps += 1
        self.after_step(summary.steps, weights)


def judge_group(group: Sequence[Rollout], rewards: Rewarder) -> list[RewardVerdict]:
    """Verdicts on ``group``, in its order; an answer that makes no program is not sent away."""
    items = [
        RenamedItem(
            question=rollout.question.cuda,
            answer=fenced(rollout.code),
            names=dict(rollout.question.names),
        )
        for rollout in group
        if rollout.code is not None
    ]
    verdicts = iter(rewards.rewards(items) if items else [])
    return [
        RewardVerdict(reward=0.0, outcome=Outcome.NO_CODE, reason=rollout.problem)
        if rollout.code is None
        else next(verdicts)
        for rollout in group
    ]


def fenced(code: str) -> str:
    """``code`` in a fence that nothing in it closes."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}hip\n{code}\n{fence}"


def _shares(judged: JudgedStep) -> dict[str, float]:
    """Return the mean reward of the answers of a step, and the share of each outcome."""
    verdicts = [verdict for group in judged.verdicts for verdict in group]
    rewards = [verdict.reward for verdict in verdicts if verdict.reward is not None]
    same = sum(
        rollout.code == rollout.question.translation for group in judged.groups for rollout in group
    )
    result = {
        "answers": float(len(verdicts)),
        "reward": sum(rewards) / max(len(rewards), 1),
        "as_rules": same / max(len(verdicts), 1),
        "answer_tokens": float(sum(len(r.tokens) for group in judged.groups for r in group)),
    }
    counts = Counter(verdict.outcome.name.lower() for verdict in verdicts)
    return result | {name: number / len(verdicts) for name, number in counts.items()}


def _line(values: dict[str, float]) -> str:
    parts = [f"{name} {value:.4g}" for name, value in values.items()]
    return ", ".join(parts)
