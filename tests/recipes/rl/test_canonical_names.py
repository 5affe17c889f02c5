"""Answers to questions in other words, in the words of the question itself."""

from __future__ import annotations

from cass_ray.execute.rewards.verdicts import Outcome, RewardItem, RewardVerdict
from cass_ray.train.rl.rollouts import RenamedItem
from cass_ray.train.rl.trainer import fenced
from recipes.rl.canonical_names import CanonicalNamesJudge, with_canonical_names

CUDA = "__global__ void ovu(float *kela) { kela[0] = other; }\ncudaFree(kela);\n"
HIP = "__global__ void ovu(float *kela) { kela[0] = other; }\nhipFree(kela);\n"
NAMES = {"ovu": "scaled", "kela": "values"}


def test_both_sides_are_in_the_words_of_the_question() -> None:
    assert with_canonical_names(CUDA, HIP.replace("other", "ovu"), NAMES) == (
        "__global__ void scaled(float *values) { values[0] = other; }\ncudaFree(values);\n",
        "__global__ void scaled(float *values) { values[0] = scaled; }\nhipFree(values);\n",
    )


def test_an_answer_that_would_become_another_stays_as_it_is() -> None:
    """It has a word that the question has not but its first form has: `scaled` would be both."""
    answer = HIP.replace("other", "scaled")
    assert with_canonical_names(CUDA, answer, NAMES) == (CUDA, answer)


def test_an_invented_word_behind_a_dot_is_not_half_exchanged() -> None:
    answer = HIP.replace("other", "other.kela")
    assert with_canonical_names(CUDA, answer, NAMES) == (CUDA, answer)


def test_names_that_the_judge_reads_stay() -> None:
    assert with_canonical_names(CUDA, HIP, {"ovu": "hip_scaled"}) == (CUDA, HIP)


def test_a_question_in_its_own_words_is_judged_so() -> None:
    assert with_canonical_names(CUDA, HIP, {}) == (CUDA, HIP)


class Keeps:
    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def judge(self, item: RewardItem) -> RewardVerdict:
        self.seen.append((item.question, item.answer))
        return RewardVerdict(reward=1.0, outcome=Outcome.RIGHT)


def test_a_judge_is_shown_the_first_words_whatever_fence_the_answer_is_in() -> None:
    judge = Keeps()
    for names in (NAMES, {}):
        CanonicalNamesJudge(judge).judge(
            RenamedItem(question=CUDA, answer=fenced(HIP), names=names)
        )
    first, as_asked = judge.seen
    assert first == (
        "__global__ void scaled(float *values) { values[0] = other; }\ncudaFree(values);\n",
        fenced("__global__ void scaled(float *values) { values[0] = other; }\nhipFree(values);\n"),
    )
    assert as_asked == (CUDA, fenced(HIP))
