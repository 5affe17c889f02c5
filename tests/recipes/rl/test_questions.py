"""Questions in other words, and parts of files."""

from __future__ import annotations

import random

from cass_ray.train.rl.rollouts import EditQuestion
from cass_ray.translate.rules import RulesTranslator
from recipes.rl.questions import cut, fewer_long, in_other_words

PROGRAM = """\
#include <cuda_runtime.h>
__global__ void scaled(float *values, float factor) {
  values[threadIdx.x] *= factor;
}
int main() {
  float *values;
  cudaMalloc(&values, 128);
  scaled<<<1, 32>>>(values, 2.0f);
  return cudaDeviceSynchronize();
}
"""


def test_other_words_have_the_translation_that_the_rules_make_of_them() -> None:
    rules = RulesTranslator()
    question = EditQuestion("a", PROGRAM, rules.translate(PROGRAM).source)
    chance = random.Random(0)
    made = [in_other_words(question, chance) for _ in range(12)]
    assert all(each.translation == rules.translate(each.cuda).source for each in made)
    assert len({each.cuda for each in made}) > 6 and len({each.id for each in made}) == 12
    assert {each.of for each in made} == {"a"}
    assert any("scaled" not in each.cuda for each in made)


def test_a_part_is_of_whole_declarations_and_has_a_kernel() -> None:
    kernels = [
        f"// {number}\n__global__ void k{number}(int *a) {{\n" + "  a[0]++;\n" * 10 + "}\n"
        for number in range(20)
    ]
    whole = "#include <cstdio>\n" + "".join(kernels)
    made = [cut(whole, random.Random(seed)) for seed in range(40)]
    parts = [part for part in made if part is not None]
    assert len(parts) > 30 and len(set(parts)) > 20
    for part in parts:
        assert part in whole
        assert part.startswith(("#include", "// ")) and part.endswith("\n}\n")
        assert 25 <= part.count("\n") <= 160 and "__global__" in part


def test_a_file_that_has_no_such_part_has_none() -> None:
    assert cut("int a;\n" * 200, random.Random(0)) is None
    assert cut("__global__ void k() {\n}\n", random.Random(0)) is None


def test_long_answers_are_a_share_of_the_questions_at_most() -> None:
    rows = [{"id": number, "answer_tokens": 700 if number % 2 else 400} for number in range(12)]
    kept = [row["id"] for row in fewer_long(rows, 0.25)]
    assert kept == [0, 1, 2, 3, 4, 6, 8, 10]  # two of eight: the first ones
    assert fewer_long(rows, 1.0) == rows
