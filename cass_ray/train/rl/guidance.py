"""Known right answers in groups that have none: imitation within reinforcement learning.

Where all answers of a group are wrong there is no advantage, and nothing is learned from what the
policy cannot do. There the question's known translation may take the place of one of them. It was
not drawn by the policy, so this is off-policy: a policy that learned from such groups has been
shown answers, and what it gains is not what reinforcement learning alone would have given it. How
many groups were guided is in the metrics, and which questions in ``guided.jsonl``.

The mixture is that of LUFFY (Yan et al., 2025, arXiv:2504.14945), but for its policy shaping: the
ratio of the known answer's tokens is 1 at the learner's weights, so that its gradient is that of
the likelihood times its advantage. Shaping lessens what likely tokens count; these answers are in
the form that the supervised run has taught, and nearly all of their tokens are likely already.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from cass_ray.execute.rewards.verdicts import RewardVerdict
from cass_ray.llm.line_edits import edits_of, regions
from cass_ray.llm.snippets import collapse
from cass_ray.llm.translation_format import TranslationFormat
from cass_ray.train.rl.learner import JudgedGroup
from cass_ray.train.rl.rollouts import EditQuestion, Rollout, read_rollout

Reference = Callable[[EditQuestion], Rollout | None]
"""The known right answer to a question; None where there is none."""


def reference_answer(
    form: TranslationFormat, longest: int, question: EditQuestion
) -> Rollout | None:
    """The edits that make the known translation of ``question``, in its words; None where it has
    none, or one of more than ``longest`` tokens."""
    old, new = question.lines, question.translation.split("\n")
    if not question.translation or old == new:
        return None
    short = collapse("\n".join(new), form.snippets).split("\n")
    tokens = form.edit_answer(edits_of(old, short, regions(old, short)))
    if len(tokens) > longest:
        return None
    result = read_rollout(form, question, tokens, [math.nan] * len(tokens))
    return replace(result, is_reference=True) if result.code == question.translation else None


def right_answer(
    group: Sequence[Rollout],
    verdicts: Sequence[RewardVerdict],
    reference: Reference,
    judge: Callable[[Sequence[Rollout]], list[RewardVerdict]],
) -> Rollout | None:
    """What takes the place of an answer of ``group``, if none of them is right: the known answer,
    where ``judge`` gives it more than them."""
    rewards = {verdict.reward for verdict in verdicts if verdict.reward is not None}
    if len(rewards) != 1 or max(rewards) >= 1:
        return None
    result = reference(group[0].question)
    if result is None:
        return None
    [verdict] = judge([result])
    return result if verdict.reward is not None and verdict.reward > max(rewards) else None


def guided(
    groups: Sequence[JudgedGroup],
    references: Sequence[Rollout | None],
    most: float,
    chance: random.Random,
) -> tuple[list[JudgedGroup], list[EditQuestion]]:
    """``groups``, in some of which the known answer stands for the last one and is worth 1; and the
    questions of these.

    They are drawn from those that have one: at most the share ``most`` of all groups that have
    something to teach then.
    """
    mixed = sum(group.is_mixed for group in groups)
    there = [number for number, reference in enumerate(references) if reference is not None]
    number = min(len(there), math.floor(mixed * most / (1 - most) + 1e-9))
    result, questions = list(groups), []
    for place in sorted(chance.sample(there, number)):
        answer = references[place]
        assert answer is not None
        rollouts, rewards = groups[place].rollouts, groups[place].rewards
        result[place] = JudgedGroup([*rollouts[:-1], answer], [*rewards[:-1], 1.0])
        questions.append(answer.question)
    return result, questions
