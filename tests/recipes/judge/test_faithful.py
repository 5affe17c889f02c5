"""Answers that compile because they leave something out, and those that are the program."""

import pytest

from cass_ray.translate.rules import RulesTranslator
from recipes.judge.faithful import left_out

QUESTION = """#include <cuda_runtime.h>
#include <cstdio>

__global__ void scale(float* data, float by) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < 64) data[i] *= by;
}

int main() {
    float* data;
    cudaMalloc(&data, 256);
    cudaMemset(data, 0, 256);
    scale<<<2, 32>>>(data, 2.0f);  // the launch
    cudaDeviceSynchronize();
    printf("%s\\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
"""
RULES = RulesTranslator().translate(QUESTION).source


def test_the_rules_translation_leaves_nothing_out():
    assert RULES != QUESTION
    assert left_out(QUESTION, RULES, RULES) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#include <cstdio>\n", "#include <cstdio>\n#include <hip/hip_fp16.h>\n"),
        ("// the launch", "/* it is launched */"),
        ("hipDeviceSynchronize();", "(void)hipDeviceSynchronize();"),
        ("hipMemset(data, 0, 256)", "hipMemsetAsync(data, 0, 256)"),
    ],
)
def test_another_way_to_write_the_program_is_fair(old, new):
    assert old in RULES
    assert left_out(QUESTION, RULES, RULES.replace(old, new)) == ""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    scale<<<2, 32>>>(data, 2.0f);", "", "leaves out"),
        ("    scale<<<2, 32>>>(data, 2.0f);", "    // scale<<<2, 32>>>(data, 2.0f);", "leaves out"),
        ("<<<2, 32>>>", "(2, 32)", "<<<"),
        ("__global__ ", "", "__global__"),
        ("if (i < 64) data[i] *= by;", "", "leaves out"),
        ("    hipDeviceSynchronize();\n", "", "runtime"),
        ("    hipMalloc(", "#if 0\n    hipMalloc(", "#if"),
        ("    float* data;", "    if (1) return 0;\n    float* data;", "return"),
        ("    hipMemset", "    false && hipMemset", "&&"),
        ("int main", "#define hipMemset(...) 0\nint main", "#define"),
        ("2.0f", "1.0f", "2.0f"),
        ('"%s\\n"', '"hipMemset(data)"', "%s"),
    ],
)
def test_what_leaves_code_out_is_said(old, new, said):
    assert old in RULES
    assert said in left_out(QUESTION, RULES, RULES.replace(old, new))


MIXED = """#include <cuda_runtime.h>

__global__ void least(unsigned* out, int limit) {
    unsigned own = threadIdx.x;
    asm("add.u32 %0, %0, %%nctaid.x;" : "+r"(own));
    out[threadIdx.x] = min(__shfl_sync(0xffffffffu, own, 0), limit);
}

int main() {
    least<<<1, 32>>>(nullptr, 7);
    return cudaDeviceSynchronize();
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("cass::mixed_min(", "min("),  # compares as double
        ("gridDim.x", "blockDim.x"),
        ("__shfl(own, 0, 32)", "__shfl(own, 0)"),  # the whole wave, 64 lanes on CDNA
    ],
)
def test_what_the_rules_add_is_asked_for(old, new):
    rules = RulesTranslator().translate(MIXED).source
    assert old in rules
    assert left_out(MIXED, rules, rules) == ""
    assert "which the translation has" in left_out(MIXED, rules, rules.replace(old, new))


def test_what_the_rules_add_is_asked_for_in_its_place():
    question = MIXED.replace("limit);", "limit) + min(own, 3u);")
    rules = RulesTranslator().translate(question).source
    swapped = rules.replace("cass::mixed_min(__shfl", "min(__shfl")
    swapped = swapped.replace(" min(own, 3u)", " cass::mixed_min(own, 3u)")
    assert swapped.count("mixed_min") == rules.count("mixed_min")
    assert "mixed_min, x elsewhere" in left_out(question, rules, swapped)


def test_no_port_at_all_is_none():
    assert "runtime" in left_out(QUESTION, RULES, QUESTION)
