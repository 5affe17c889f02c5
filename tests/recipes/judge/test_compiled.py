"""The judge that compiles alone."""

import pytest

from cass_ray.cache import ContentCache
from cass_ray.execute.rewards.verdicts import Outcome, RewardItem
from cass_ray.translate.rules import RulesTranslator
from recipes.judge.compiled import CompileCredit, CompileJudge, without_origin
from tests.execute.conftest import HONEST
from tests.execute.rewards.test_judge import BROKEN, QUESTION


@pytest.fixture(scope="module")
def judge(backend, tmp_path_factory):
    return CompileJudge(backend.toolchain, ContentCache(tmp_path_factory.mktemp("kept")))


def test_a_port_that_compiles_gets_all(judge):
    verdict = judge.judge(RewardItem(question=QUESTION, answer=f"```hip\n{HONEST}```"))
    assert (verdict.outcome, verdict.reward) == (Outcome.COMPILED, 1.0)


def test_what_does_not_compile_gets_the_credit_of_a_program(judge):
    # A declaration that is missing: nothing of the program is.
    broken = HONEST.replace("hipMalloc(&in", "hipMallocs(&in")
    verdict = judge.of(QUESTION, broken)
    assert (verdict.outcome, verdict.reward) == (Outcome.NOT_COMPILED, CompileCredit().usable)
    assert "hipMallocs" in verdict.reason


def test_another_spelling_of_the_same_code_gets_all(judge):
    answer = HONEST.replace("if (i < n)", "if (i < (n)) /* in range */")
    assert judge.of(QUESTION, answer).outcome is Outcome.COMPILED


def test_what_compiles_to_other_code_gets_less(judge):
    """Every word of the translation is there, in its place; the operator is another."""
    verdict = judge.of(QUESTION, HONEST.replace("in[i] * in[i]", "in[i] + in[i]"))
    assert verdict.outcome is Outcome.OTHER_CODE
    assert verdict.reward == CompileCredit().other < 1


UNCALLED = "static __device__ int middle(int a, int b) { return a & b | a; }\n"
UNUSED_MACRO = "#define MIDDLE(a, b) ((a) & (b) | (a))\n"
TEMPLATE = "template <class T> __device__ T middle(T a, T b) { return a & b | a; }\n"


LOCAL = "static int middle(int a, int b) { return a & b | a; }\n"
UNNAMED = "namespace { int middle(int a, int b) { return a & b | a; } }\n"
UNREAD = "#define BEGIN {\nstatic int middle(int a, int b) BEGIN return a & b | a; }\n"
MEMBER = "struct Middle { int of(int a, int b) const { return a & b | a; } };\n"


@pytest.mark.parametrize("more", [UNCALLED, UNUSED_MACRO, TEMPLATE, LOCAL, UNNAMED, MEMBER, UNREAD])
def test_another_operator_where_no_kernel_gets_to_is_not_overlooked(judge, more):
    question, right = (
        text.replace("__global__", more + "__global__", 1) for text in (QUESTION, HONEST)
    )
    wrong = right.replace("& b", "^ b").replace("& (b)", "^ (b)")
    assert wrong != right
    assert judge.of(question, right).outcome is Outcome.COMPILED
    assert judge.of(question, wrong).outcome is Outcome.OTHER_CODE


@pytest.mark.parametrize("instead", ["", "#include <cstdint>\n"])
def test_the_header_of_the_runtime_may_not_be_lost(judge, instead):
    """The judge's compiler has it in any case, and would miss nothing."""
    verdict = judge.of(QUESTION, HONEST.replace("#include <hip/hip_runtime.h>\n", instead))
    assert verdict.outcome is Outcome.OTHER_CODE
    assert "hip/hip_runtime.h" in verdict.reason


def test_a_helper_of_the_translation_that_is_left_away_gets_nothing(judge):
    """CUDA's min of an int and an unsigned is unsigned; HIP's own is not."""
    question = QUESTION.replace("in[i] * in[i]", "in[i] * min(in[i] - 9, blockDim.x)")
    rules = RulesTranslator().translate(question).source
    assert judge.of(question, rules).outcome is Outcome.COMPILED
    plain = rules.replace("cass::mixed_min(", "min(")
    assert plain != rules
    verdict = judge.of(question, plain)
    assert (verdict.outcome, verdict.reward) == (Outcome.FORGED, 0.0)


def test_what_has_nothing_to_be_compared_with_gets_no_more_than_other_code(judge):
    """The program includes a header that is not here: it compiles only without it."""
    question = "#include <not_here.h>\n" + QUESTION
    assert not judge.compiles(RulesTranslator().translate(question).source)
    verdict = judge.of(question, HONEST)
    assert (verdict.outcome, verdict.reward) == (Outcome.OTHER_CODE, CompileCredit().other)
    assert "nothing to compare" in verdict.reason


def test_the_rules_translation_that_does_not_compile_is_known_by_its_lines(judge):
    question = "#include <not_here.h>\n" + QUESTION
    rules = RulesTranslator().translate(question).source
    proved = CompileJudge(judge.toolchain, credit=CompileCredit(unproved=0.9, usable=0.2))
    spaced = rules.replace("\n", "  \n\n", 3)
    verdict = proved.of(question, spaced)
    assert (verdict.outcome, verdict.reward) == (Outcome.UNPROVED, 0.9)
    verdict = proved.of(question, rules.replace("in[i] * in[i]", "in[i] + in[i]"))
    assert (verdict.outcome, verdict.reward) == (Outcome.NOT_COMPILED, 0.2)


def test_an_empty_line_inside_a_macro_is_no_matter_of_spaces(judge):
    """It ends the macro early; found among the answers that a run had rewarded."""
    macro = "#define TWICE(x) \\\n  do { \\\n    x; x; } while (0)\n"
    question = f"#include <not_here.h>\n{macro}{QUESTION}"
    rules = RulesTranslator().translate(question).source
    proved = CompileJudge(judge.toolchain, credit=CompileCredit(unproved=0.9, usable=0.2))
    assert proved.of(question, rules).outcome is Outcome.UNPROVED
    verdict = proved.of(question, rules.replace("do { \\\n", "do { \\\n\n"))
    assert (verdict.outcome, verdict.reward) == (Outcome.NOT_COMPILED, 0.2)


def test_the_rules_translation_to_the_letter_need_not_be_compiled(judge, monkeypatch):
    """Where it is worth the same whether it compiles; one operator less, and it is compiled."""
    sure = CompileJudge(judge.toolchain, credit=CompileCredit(unproved=1.0))
    rules = RulesTranslator().translate(QUESTION).source
    monkeypatch.setattr(CompileJudge, "_compiled", None)
    verdict = sure.of(QUESTION, rules)
    assert (verdict.outcome, verdict.reward) == (Outcome.LITERAL, 1.0)
    for other, code in ((CompileJudge(judge.toolchain), rules), (sure, f"{rules} ")):
        with pytest.raises(TypeError, match="not callable"):
            other.of(QUESTION, code)


def test_what_does_not_compile_is_compiled_once(judge, monkeypatch):
    broken = HONEST.replace("hipMalloc(&in", "hipMallocz(&in")
    assert not judge.compiles(broken)
    monkeypatch.setattr(CompileJudge, "_compiled", None)
    assert not judge.compiles(broken)
    assert "hipMallocz" in judge.of(QUESTION, broken).reason


def test_inline_ptx_that_stays_gets_nothing(judge):
    """Assembly is written, not assembled: the compiler alone would not find it."""
    ptx = 'unsigned lane; asm("mov.u32 %0, %%laneid;" : "=r"(lane));'
    question = QUESTION.replace("if (i < n)", f"{ptx} if (i < n)")
    answer = HONEST.replace("if (i < n)", f"{ptx} if (i < n)")
    verdict = judge.of(question, answer)
    assert (verdict.outcome, verdict.reward) == (Outcome.FORGED, 0.0)
    assert "inline assembly" in verdict.reason


def test_what_compiles_without_the_kernels_launch_gets_nothing(judge):
    launch = next(line for line in HONEST.split("\n") if "<<<" in line)
    verdict = judge.of(QUESTION, HONEST.replace(launch, ""))
    assert (verdict.outcome, verdict.reward) == (Outcome.FORGED, 0.0)


def test_half_a_translation_is_none(judge):
    assert judge.of(QUESTION, BROKEN).outcome is Outcome.FORGED


def test_a_cut_answer_is_no_program(judge):
    verdict = judge.judge(RewardItem(question=QUESTION, answer=f"```hip\n{HONEST[:200]}"))
    assert verdict.outcome is Outcome.NO_CODE


def test_a_verdict_is_made_once(judge, monkeypatch):
    first = judge.of(QUESTION, HONEST)
    monkeypatch.setattr(CompileJudge, "_compiled", None)
    assert judge.of(QUESTION, HONEST).outcome is first.outcome


def test_what_answers_are_compared_with_can_be_compiled_ahead(backend, tmp_path, monkeypatch):
    judge = CompileJudge(backend.toolchain, ContentCache(tmp_path))
    assert judge.foresee(QUESTION)
    assert not judge.foresee("#include <not_here.h>\n" + QUESTION)
    later, compiled = CompileJudge(backend.toolchain, ContentCache(tmp_path)), []
    made = CompileJudge._compiled
    monkeypatch.setattr(
        CompileJudge, "_compiled", lambda self, code: compiled.append(code) or made(self, code)
    )
    answer = HONEST.replace("if (i < n)", "if (i < (n))")
    assert later.of(QUESTION, answer).outcome is Outcome.COMPILED
    assert compiled == [answer]  # the translation it is compared with was known


def test_comments_and_lines_of_the_source_are_no_difference_of_code():
    one = '\t.file\t1 "a.hip"\n\tv_mov_b32 v0, 1 ; of a\n\t.ascii\t"x ; # y"\n'
    other = '\t.file\t1 "b.hip"\n\tv_mov_b32 v0, 1\n\t.ascii\t"x ; # y"\n'
    assert without_origin(one) == without_origin(other)
    assert without_origin(one) != without_origin(one.replace("# y", "# z"))
