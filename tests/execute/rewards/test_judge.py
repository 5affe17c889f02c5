"""Verdicts on answers that are right, wrong, broken and forged."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest

from cass_ray.cache import ContentCache
from cass_ray.dataset.row import Reason
from cass_ray.execute.grades import Grade
from cass_ray.execute.originals import reference_backends
from cass_ray.execute.rewards.judge import LocalRewards, RewardJudge
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import Outcome, PartialCredit, RewardItem
from cass_ray.execute.verification import MOVES_OTHERWISE, PortVerification, RunRecord
from cass_ray.toolchain.sandbox.process import Limits
from cass_ray.toolchain.unit import CompileFailure
from tests.execute.conftest import HONEST

INPUTS = [["100", "3"], ["257", "11"]]


def in_cuda(hip: str) -> str:
    return hip.replace("hip/hip_runtime.h", "cuda_runtime.h").replace("hip", "cuda")


QUESTION = in_cuda(HONEST)
# What the port prints on the first input, from the definition: n and the sum of squares of
# (s >> 24) for s = 3 * 1664525 + 1013904223 and on, modulo 2^32.


def output_of(n: int, seed: int) -> str:
    total = 0
    for _ in range(n):
        seed = (seed * 1664525 + 1013904223) % 2**32
        total += (seed >> 24) ** 2
    return f"n {n}\nsum {total}\n"


WRONG = HONEST.replace("if (i < n)", "if (i < n - 1)")
BROKEN = HONEST.replace("hipMalloc(&in", "cudaMalloc(&in")
CRASHES = HONEST.replace("  int* in;", "  abort();\n  int* in;")
HALF_RIGHT = HONEST.replace('  printf("n %d', '  if (n > 200) sum += 1;\n  printf("n %d')
PRINTED = output_of(100, 3).replace("\n", "\\n")
CONSTANT = (
    "#include <cstdio>\n#include <hip/hip_runtime.h>\n__global__ void k() {}\n"
    f'int main() {{ k<<<1, 1>>>(); printf("{PRINTED}"); }}\n'
)


@pytest.fixture(scope="module")
def judge(backend) -> RewardJudge:  # type: ignore[no-untyped-def]
    # The original in the place where the port runs: it needs no Nvidia compiler.
    originals = reference_backends("rdna3", backend)
    return RewardJudge(backend, originals, partial=PartialCredit(), least=Grade.AGREES)


def item(answer: str) -> RewardItem:
    return RewardItem(question=QUESTION, answer=answer, inputs=INPUTS)


@pytest.mark.parametrize("fence", ["", "hip"])
def test_a_right_answer_gets_all(judge, fence):
    answer = f"Here it is:\n```{fence}\n{HONEST}```\nDone." if fence else HONEST

    verdict = judge.judge(item(answer))

    assert verdict.outcome is Outcome.RIGHT, verdict.reason
    assert (verdict.reward, verdict.inputs, verdict.right) == (1.0, 2, 2)


@pytest.mark.parametrize(
    ("answer", "outcome", "reward"),
    [
        (WRONG, Outcome.WRONG, 0.2),  # compiles and runs
        (HALF_RIGHT, Outcome.WRONG, 0.45),  # and is right on one input of two
        (BROKEN, Outcome.NOT_COMPILED, 0.0),
        (CRASHES, Outcome.NOT_RUN, 0.1),
        ("I cannot do that.", Outcome.NO_CODE, 0.0),
        ("```hip\n" + HONEST, Outcome.NO_CODE, 0.0),  # cut
    ],
    ids=["wrong", "half", "broken", "crashes", "refusal", "cut"],
)
def test_partial_credit(judge, answer, outcome, reward):
    verdict = judge.judge(item(answer))

    assert verdict.outcome is outcome, verdict.reason
    assert verdict.reward == pytest.approx(reward)


def test_what_is_printed_without_the_device_gets_nothing(judge):
    verdict = judge.judge(RewardItem(question=QUESTION, answer=CONSTANT, inputs=INPUTS[:1]))

    assert verdict.right == 1  # its text is right
    assert verdict.outcome is Outcome.FORGED
    assert verdict.reward == 0.0
    assert verdict.findings


def test_a_translation_is_no_reference_for_itself(judge):
    strict = RewardJudge(judge.backend, judge.originals)

    verdict = strict.judge(item(HONEST))

    assert (verdict.outcome, verdict.reward) == (Outcome.NOT_SHOWN, 0.0)
    assert verdict.right == 2
    assert "translation" in verdict.reason


def test_a_question_that_fails_itself_decides_nothing(judge):
    broken = QUESTION.replace("return cudaFree(in)", "return 1 || cudaFree(in)")

    verdict = judge.judge(RewardItem(question=broken, answer=HONEST, inputs=INPUTS[:1]))

    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.reward is None


def test_verdicts_are_kept(judge, tmp_path):
    cached = RewardJudge(judge.backend, judge.originals, ContentCache(tmp_path))
    first = cached.judge(item(WRONG))
    without = RewardJudge(judge.backend, [], ContentCache(tmp_path))

    class Elsewhere(RewardJudge):
        def _judged(self, item, code):
            raise AssertionError("it was judged again")

    again = Elsewhere(judge.backend, judge.originals, ContentCache(tmp_path)).judge(item(WRONG))
    assert again.model_copy(update={"seconds": 0}) == first.model_copy(update={"seconds": 0})
    assert first.reward == 0.0  # no partial credit was asked for
    assert without._key(item(WRONG), WRONG) != cached._key(item(WRONG), WRONG)


def test_the_judge_of_the_settings_keeps_verdicts_without_an_nvidia_gpu(tmp_path, monkeypatch):
    monkeypatch.setenv("CASS_RESULTS", str(tmp_path))
    judge = RewardSettings(reference_backend="rdna3", least=Grade.AGREES).judge()
    judge.originals = [*reference_backends(None, judge.backend)[:1], *judge.originals]

    assert judge.judge(item(HONEST)).passed
    assert judge.judge(item(HONEST)).passed
    assert list(tmp_path.rglob("*"))


def test_a_batch_judges_equal_answers_once_and_in_order(judge):
    asked = []

    class Counting:
        def judge(self, item):
            asked.append(item.answer)
            return judge.judge(item)

    items = [item(HONEST), item("no"), item(HONEST)]
    verdicts = LocalRewards(Counting(), 2).rewards(items)

    assert [verdict.reward for verdict in verdicts] == [1.0, 0.0, 1.0]
    assert sorted(asked) == sorted([HONEST, "no"])


def test_an_item_that_breaks_the_judge_costs_itself_alone():
    class Breaking:
        def judge(self, item):
            raise RuntimeError("out of disk")

    [verdict] = LocalRewards(Breaking(), 1).rewards([item("x")])
    assert verdict.reward is None
    assert "out of disk" in verdict.reason


BOMBS = {
    "macros of macros": "#define A0 x x x x x x x x\n"
    + "".join(f"#define A{n} {f'A{n - 1} ' * 8}\n" for n in range(1, 12))
    + "int y = A11;\n",
    "templates that fork": "template <int N, int M> struct A { A<N - 1, 2 * M> a; "
    "A<N - 1, 2 * M + 1> b; };\ntemplate <int M> struct A<0, M> { int x; };\nA<24, 1> a;\n",
    "a recursion before running": "constexpr long f(long n) { return n < 2 ? n : "
    "f(n - 1) + f(n - 2); }\nconstexpr long x = f(200);\n",
    "a loop before running": "constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) "
    "s += i; return s; }\nconstexpr long x = f(1L << 60);\n",
    "an array of a gigabyte": "char x[1L << 30] = {1};\n",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_compile_bomb_gets_nothing(judge, bomb):
    """It is no way out: who would be wrong is not left out of the batch."""
    limits = Limits(cpu_seconds=1.5, wall_seconds=30, memory_bytes=400 << 20, output_bytes=8 << 20)
    bounded = replace(judge, backend=replace(judge.backend, limits=limits))

    verdict = bounded.judge(item(f"```hip\n{BOMBS[bomb]}{HONEST}```"))

    assert (verdict.outcome, verdict.reward) == (Outcome.NOT_COMPILED, 0.0), verdict.reason
    assert verdict.reason


@pytest.mark.parametrize("reason", [Reason.COMPILER_KILLED, Reason.INTERNAL_ERROR])
def test_a_fault_of_ours_decides_nothing(judge, reason, monkeypatch):
    def fails(self, program):
        raise CompileFailure(reason, "ended from outside", "clang")

    monkeypatch.setattr(type(judge.backend), "build", fails)

    verdict = judge.judge(item(HONEST))

    assert (verdict.outcome, verdict.reward) == (Outcome.UNDECIDED, None)


@pytest.mark.parametrize(
    ("undecided", "outcome", "reward"),
    [(MOVES_OTHERWISE, Outcome.NOT_SHOWN, 0.0), ("", Outcome.UNDECIDED, None)],
)
def test_a_port_that_cannot_be_followed_is_not_undecided(judge, undecided, outcome, reward):
    """How it moves its data is the answer's own choice, and no way out of the batch."""
    record = RunRecord.model_construct(
        undecided=undecided, numeric=True, perturbations=0, same_data=0
    )
    fields = {"runs": [record], "findings": [], "problem": "", "weakness": undecided}
    fields |= {"ran": True, "exact": True, "numeric": True, "passed": False}
    origin = {"reference_kind": "lifted sm_90", "independent": True}
    result = PortVerification.model_construct(grade=Grade.CANNOT_TELL, **fields, **origin)

    verdict = replace(judge, partial=None)._verdict(result, 1)

    assert (verdict.outcome, verdict.reward) == (outcome, reward)


@pytest.mark.parametrize(
    ("grade", "outcome", "shown", "reward"),
    [
        (Grade.AGREES, Outcome.NOT_SHOWN, [0, 0], 0.2),
        (Grade.AGREES, Outcome.NOT_SHOWN, [3, 0], 0.2),
        (Grade.DIFFERS, Outcome.WRONG, [3, 0], 0.2 + 0.5 * 1 / 3),
        (Grade.DIFFERS, Outcome.WRONG, [0, 0], 0.2),
        (Grade.VERIFIED, Outcome.RIGHT, [3, 3], 1.0),
    ],
)
def test_the_right_text_alone_gets_no_credit(judge, grade, outcome, shown, reward):
    """Of three inputs two are right as text; ``shown`` has the changes that speak for each."""
    make = functools.partial(RunRecord.model_construct, arguments=[], difference="")
    records = [make(undecided="", numeric=True, perturbations=each, same_data=0) for each in shown]
    wrong = outcome is Outcome.WRONG
    records.append(make(undecided="", numeric=not wrong, perturbations=0, same_data=0))
    fields = {"runs": records, "findings": [], "problem": "", "weakness": "", "ran": True}
    fields |= {"exact": False, "numeric": not wrong, "passed": grade is Grade.VERIFIED}
    origin = {"reference_kind": "lifted sm_90", "independent": True}
    result = PortVerification.model_construct(grade=grade, **fields, **origin)

    verdict = replace(judge, least=Grade.VERIFIED)._verdict(result, 3)

    assert (verdict.outcome, verdict.reward) == (outcome, pytest.approx(reward))
