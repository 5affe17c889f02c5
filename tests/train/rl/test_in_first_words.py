"""Answers to questions in other words, in the words of the question itself."""

from __future__ import annotations

from cass_ray.train.rl.in_first_words import in_first_words
from cass_ray.train.rl.rollouts import Question

CUDA = "__global__ void ovu(float *kela) { kela[0] = other; }\ncudaFree(kela);\n"
HIP = "__global__ void ovu(float *kela) { kela[0] = other; }\nhipFree(kela);\n"
QUESTION = Question("a~1", CUDA, HIP, of="a", names={"ovu": "scaled", "kela": "values"})


def test_both_sides_are_in_the_words_of_the_question() -> None:
    assert in_first_words(QUESTION, HIP.replace("other", "ovu")) == (
        "__global__ void scaled(float *values) { values[0] = other; }\ncudaFree(values);\n",
        "__global__ void scaled(float *values) { values[0] = scaled; }\nhipFree(values);\n",
    )


def test_an_answer_that_would_become_another_stays_as_it_is() -> None:
    """It has a word that the question has not but its first form has: `scaled` would be both."""
    answer = HIP.replace("other", "scaled")
    assert in_first_words(QUESTION, answer) == (CUDA, answer)


def test_an_invented_word_behind_a_dot_is_not_half_exchanged() -> None:
    answer = HIP.replace("other", "other.kela")
    assert in_first_words(QUESTION, answer) == (CUDA, answer)


def test_names_that_the_judge_reads_stay() -> None:
    named = Question("a~2", CUDA, HIP, of="a", names={"ovu": "hip_scaled"})
    assert in_first_words(named, HIP) == (CUDA, HIP)


def test_a_question_in_its_own_words_is_judged_so() -> None:
    assert in_first_words(Question("a", CUDA, HIP), HIP) == (CUDA, HIP)
