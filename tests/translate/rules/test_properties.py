"""What holds for every input: idempotence, literals and comments untouched, no crash."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cass_ray.translate.protocol import Context
from cass_ray.translate.rules import RulesTranslator

ENGINE = RulesTranslator()

PIECES = [
    "cudaMalloc(&p, n);", "__shfl_down_sync(0xffffffff, v, 1)", "__ballot_sync(m, p)", "warpSize",
    "#include <cuda_runtime.h>\n", '#include "cuda.h"\n', "#include <cub/cub.cuh>\n",
    "#if __CUDA_ARCH__ >= 600\n", "#ifdef __CUDA_ARCH__\n", "#else\n", "#endif\n", "__syncwarp();",
    "// cudaFree here\n", "/* cudaFree\n here */", '"cudaFree(p)"', "'c'", 'R"x(cudaFree)x"',
    "cudaFuncSetAttribute(k<int, 2>, a, b);", "k<<<1, 32>>>(p);", "nvcuda::wmma", "cub::Sum()",
    'asm volatile("mov.u32 %0, %laneid;" : "=r"(x));', "CUDART_VERSION", "#define X ", "\\\n",
    "(", ")", "{", "}", "<", ">", ",", ";", '"', "'", "/*", "*/", "//", "\n", " ", "\r\n", "x",
    "__match_any_sync(m, v)", "__reduce_add_sync(m, v)", "#pragma once\n", "1'000", "cuda::std::",
]  # fmt: skip
SOURCES = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
CONTEXTS = st.sampled_from([Context(), Context(wavefronts=(32,))])


@settings(max_examples=300, deadline=None)
@given(SOURCES, st.sampled_from(["a.cu", "a.cuh"]), CONTEXTS)
def test_translating_twice_changes_nothing_more(source: str, name: str, context: Context) -> None:
    once = ENGINE.translate(source, filename=name, context=context).source
    assert ENGINE.translate(once, filename=name, context=context).source == once


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_any_text_comes_back(source: str) -> None:
    result = ENGINE.translate(source, filename="a.h")
    assert isinstance(result.source, str)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES[:28]), max_size=20).map(" ".join))
@example("/* cudaFree\n here */ #define X  #if __CUDA_ARCH__ >= 600\n")
def test_strings_and_comments_are_untouched(source: str) -> None:
    result = ENGINE.translate(source, filename="a.cuh").source
    for literal in ('"cudaFree(p)"', "// cudaFree here\n", "/* cudaFree\n here */"):
        assert result.count(literal) == source.count(literal)
    assert result.count('R"x(cudaFree)x"') == source.count('R"x(cudaFree)x"')
