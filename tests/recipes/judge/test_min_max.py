"""``min`` and ``max`` with the rules' helper and without: the same of one type, not of two."""

import pytest

from cass_ray.cache import ContentCache
from cass_ray.execute.rewards.verdicts import Outcome
from cass_ray.translate.rules import RulesTranslator
from cass_ray.translate.rules.tables import snippet
from recipes.judge.compiled import OTHERWISE_SPELLED, CompileJudge

HELPER, OF_HOST = snippet("extremes"), snippet("host_extremes")
INCLUDED = "#include <hip/hip_runtime.h>\n"


@pytest.fixture(scope="module")
def judge(backend, tmp_path_factory):
    kept = ContentCache(tmp_path_factory.mktemp("kept"))
    return CompileJudge(backend.toolchain, kept, optimization="-O0")


def program(expression, declared="", more="", headers=""):
    """A kernel with ``expression`` of what it declares."""
    return (
        f"#include <cuda_runtime.h>\n{headers}{more}\n"
        "__global__ void kernel(double* out, int n) {\n"
        f"    {declared}\n"
        f"    out[threadIdx.x] = {expression};\n"
        "}\n"
        "int main() { kernel<<<1, 32>>>(nullptr, 3); return cudaDeviceSynchronize(); }\n"
    )


def rules(question):
    return RulesTranslator().translate(question).source


def with_helper(code, word="min", helper=HELPER):
    """The last call of ``word`` with the helper, which is defined."""
    before, call, after = code.rpartition(f"{word}(")
    assert call
    made = f"{before}cass::mixed_{word}({after}"
    return made if helper in code else made.replace(INCLUDED, INCLUDED + helper, 1)


def without_helper(code, word="min"):
    """Each call of ``word`` as HIP has it."""
    assert HELPER in code
    return code.replace(HELPER, "").replace(f"cass::mixed_{word}(", f"{word}(")


def is_right(judge, question, answer):
    verdict = judge.of(question, answer)
    assert (verdict.outcome is Outcome.COMPILED) == (verdict.reward == 1.0)
    assert (verdict.outcome is Outcome.COMPILED) == verdict.reason.startswith(OTHERWISE_SPELLED)
    return verdict.outcome is Outcome.COMPILED


ONE_TYPE = ["int", "unsigned", "long", "unsigned long long", "float", "double"]
TWO_TYPES = [("int", "unsigned"), ("float", "double"), ("int", "long"), ("long", "long long")]


@pytest.mark.parametrize("type_", ONE_TYPE)
@pytest.mark.parametrize("word", ["min", "max"])
def test_two_arguments_of_one_type_need_no_helper_and_may_have_it(judge, type_, word):
    question = program(f"{word}(a, b)", f"{type_} a = n, b = 2;")
    assert HELPER not in rules(question)
    assert is_right(judge, question, with_helper(rules(question), word))


@pytest.mark.parametrize("type_", ONE_TYPE[:4])
def test_what_the_rules_do_not_know_to_be_of_one_type_may_be_written_without(judge, type_):
    more = f"struct Pair {{ {type_} a, b; }};"
    question = program("min(pair.a, pair.b)", "Pair pair = {3, 4};", more)
    assert "cass::mixed_min(" in rules(question)
    assert is_right(judge, question, without_helper(rules(question)))


@pytest.mark.parametrize("types", TWO_TYPES[:1] + TWO_TYPES[2:])
def test_of_two_types_the_helper_is_wanted(judge, types):
    """``min(-1, 1u)`` is 1 in CUDA, -1 in HIP."""
    question = program("min(a, b)", f"{types[0]} a = n; {types[1]} b = 2;")
    assert "cass::mixed_min(" in rules(question)
    assert not is_right(judge, question, without_helper(rules(question)))


def test_it_is_not_wanted_where_the_rules_write_min_of_a_float_and_a_double(judge):
    question = program("min(a, b)", "float a = n; double b = 2;")
    assert HELPER not in rules(question)
    assert not is_right(judge, question, with_helper(rules(question)))


@pytest.mark.parametrize("type_", ["short", "unsigned char", "bool"])
def test_types_that_arithmetic_widens_are_not_of_one_type(judge, type_):
    question = program("min(a, b)", f"{type_} a = n, b = 2;")
    assert "cass::mixed_min(" in rules(question)
    assert not is_right(judge, question, without_helper(rules(question)))


def test_halves_are_not_of_one_type(judge):
    question = program(
        "__half2float(min(a, b))", "__half a = 1, b = 2;", headers="#include <cuda_fp16.h>\n"
    )
    assert HELPER not in rules(question)
    answer = rules(question).replace(
        "#include <hip/hip_fp16.h>\n", f"#include <hip/hip_fp16.h>\n{HELPER}"
    )
    assert HELPER in answer
    assert not is_right(judge, question, with_helper(answer))


PLANTED = [
    "template <class T> __device__ T least(T a, int b) { return min(a, b); }",  # not instantiated
    "#define LEAST(a, b) min(a, b)",  # not used
    "#ifdef NOT_DEFINED\n__device__ int least(int a, int b) { return min(a, b); }\n#endif",
    "static int least(int a, int b) { return min(a, b); }",  # not called
    "struct Least { int of(int a, int b) { return min(a, b); } };",
]


@pytest.mark.parametrize("more", PLANTED)
def test_what_the_compiler_may_not_see_has_to_be_as_the_rules_write_it(judge, more):
    question = program("n", more=more)
    code = rules(question)
    other = without_helper(code) if HELPER in code else with_helper(code)
    assert code.count("mixed_min(") != other.count("mixed_min(")
    assert not is_right(judge, question, other)


def test_a_function_that_no_kernel_calls_is_seen(judge):
    uncalled = "__device__ int least({} a, int b) {{ return min(a, b); }}"
    for type_, equal in (("int", True), ("unsigned", False)):
        question = program("n", more=uncalled.format(type_))
        assert "cass::mixed_min(" in rules(question)
        assert is_right(judge, question, without_helper(rules(question))) is equal


@pytest.mark.parametrize(
    "more",
    [
        "namespace own { __device__ int min(int a, int b) { return a; } }\nusing namespace own;",
        "struct Own { int* at; __device__ int* min(int a, int b) { return at; } };",
        "#include <algorithm>\nusing std::min;",
        "#define min(a, b) (a)",
    ],
)
def test_another_min_of_the_program_is_not_taken_for_hips(judge, more):
    question = program("min(n, 2)", more=more)
    assert not is_right(judge, question, with_helper(rules(question)))


def test_an_argument_of_a_macro_may_become_a_string(judge):
    question = program("TEXT(min(n, 2))[0]", more="#define TEXT(of) #of")
    assert not is_right(judge, question, with_helper(rules(question)))


@pytest.mark.parametrize(
    ("old", "new"),
    [("int n)", "long n)"), ("2;", "3;"), ("n, b", "n , b"), ("threadIdx.x", "threadIdx.y")],
)
def test_nothing_else_may_differ(judge, old, new):
    question = program("min(a, b)", "int a = n, b = 2;")
    answer = with_helper(rules(question))
    assert is_right(judge, question, answer)
    assert old in answer
    assert not is_right(judge, question, answer.replace(old, new, 1))


def test_spaces_of_a_string_differ(judge):
    question = program("min(a, b)", 'int a = n, b = 2; const char* text = "a  b";')
    answer = with_helper(rules(question))
    assert is_right(judge, question, answer)
    assert not is_right(judge, question, answer.replace("a  b", "a b"))


def test_the_helper_is_defined_before_it_is_called(judge):
    question = program("min(a, b)", "int a = n, b = 2;")
    answer = with_helper(rules(question))
    assert not is_right(judge, question, answer.replace(HELPER, ""))
    assert not is_right(judge, question, answer.replace(HELPER, f"/*\n{HELPER}*/\n"))
    assert not is_right(judge, question, answer.replace(HELPER, "") + HELPER)


def of_host(type_):
    return program("n", more=f"{type_} least() {{ {type_} a = 1, b = 2; return min(a, b); }}")


def test_the_hosts_helper_may_be_there_without_need(judge):
    question = of_host("int")
    assert OF_HOST not in rules(question)
    assert is_right(judge, question, rules(question).replace(INCLUDED, INCLUDED + OF_HOST, 1))


@pytest.mark.parametrize("type_", ["unsigned", "float", "long"])
def test_the_hosts_helper_may_not_be_lost_where_it_is_called(judge, type_):
    """HIP's min for the host is of int: ``min(1.5f, x)`` would be 1."""
    question = of_host(type_)
    assert OF_HOST in rules(question)
    assert not is_right(judge, question, rules(question).replace(OF_HOST, ""))


def test_a_judge_may_take_the_rules_by_their_word(judge, backend):
    question = program("min(a, b)", "int a = n, b = 2;")
    strict = CompileJudge(backend.toolchain, judge.cache, optimization="-O0", extremes=False)
    assert is_right(judge, question, with_helper(rules(question)))
    assert strict.of(question, with_helper(rules(question))).outcome is Outcome.FORGED
