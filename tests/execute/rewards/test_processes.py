"""A batch of answers, dealt to processes that judge a few at a time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest

from cass_ray.execute.rewards.processes import THREADS, ProcessRewards
from cass_ray.execute.rewards.verdicts import Outcome, RewardItem, RewardVerdict

FATAL = "this one takes its judge along"


class Naming:
    """Says which process judged what."""

    def judge(self, item: RewardItem) -> RewardVerdict:
        if item.answer == FATAL:
            os._exit(9)
        reason = f"{os.getpid()} {item.answer}"
        return RewardVerdict(reward=1.0, outcome=Outcome.RIGHT, reason=reason)


def batch(*groups: tuple[str, int]) -> list[RewardItem]:
    """So many answers to each question, all different."""
    return [
        RewardItem(question=question, answer=f"{question}{number}")
        for question, count in groups
        for number in range(count)
    ]


def by_question(items: list[RewardItem], verdicts: list[RewardVerdict]) -> Counter[tuple[str, str]]:
    """How many answers each process judged to each question."""
    judges = (each.reason.split()[0] for each in verdicts)
    return Counter((item.question, judge) for item, judge in zip(items, judges, strict=True))


@pytest.fixture(scope="module")
def two() -> Iterator[ProcessRewards]:
    yield ProcessRewards(Naming, 2 * THREADS)


def test_answers_come_in_order_from_processes_that_do_as_much(two: ProcessRewards) -> None:
    items = batch(("a", 4), ("b", 2), ("c", 2), ("d", 8))
    verdicts = two.rewards(items)
    assert [each.reason.split()[1] for each in verdicts] == [each.answer for each in items]
    judges = Counter(each.reason.split()[0] for each in verdicts)
    assert sorted(judges.values()) == [8, 8]
    assert len(by_question(items, verdicts)) == 4  # each question at one process


def test_a_question_stays_where_it_was_measured(two: ProcessRewards) -> None:
    items = batch(("e", 3), ("f", 3))
    there = by_question(items, two.rewards(items))
    others = batch(("f", 3), ("e", 3))
    assert by_question(others, two.rewards(others)) == there


def test_many_answers_to_one_question_are_shared(two: ProcessRewards) -> None:
    items = batch(("g", 10))
    assert sorted(by_question(items, two.rewards(items)).values()) == [5, 5]


def test_no_answers_are_no_verdicts(two: ProcessRewards) -> None:
    assert two.rewards([]) == []


def test_who_takes_a_process_along_costs_its_share_of_one_batch(two: ProcessRewards) -> None:
    items = [*batch(("h", 4)), RewardItem(question="i", answer=FATAL)]
    rewards = [each.reward for each in two.rewards(items)]
    assert rewards[4] is None
    assert rewards.count(1.0) >= 3
    assert [each.reward for each in two.rewards(items[:4])] == [1.0] * 4
