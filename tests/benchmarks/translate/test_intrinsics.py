"""CUDA's device functions are read from its headers; translated, they give what Nvidia's do."""

from __future__ import annotations

import re
import struct

import pytest

from benchmarks.translate.intrinsics.__main__ import measured, read_functions
from benchmarks.translate.intrinsics.declarations import Declaration, Parameter, declarations
from benchmarks.translate.intrinsics.kinds import BF16, F16, F32, ROWS, SLOT, edges, nearest, pack
from benchmarks.translate.intrinsics.measure import difference
from benchmarks.translate.intrinsics.programs import kernel, number_at, reason_to_skip, without
from benchmarks.translate.intrinsics.verdicts import FAULTS, detail, verdict

HEADERS = """\
# 1 "/usr/include/cuda_fp16.h" 1 3
static __attribute__((host)) __attribute__((device)) inline float __half2float(const __half a);
extern "C" {
__attribute__((device)) int __own(float x, int *y) { asm("{ mov; }"); return 0; }
static inline int for_hosts(int x);
}
template <typename T> __attribute__((device)) T any(T x);
struct __attribute__((aligned(2))) __half {
protected:
  unsigned short __x;
public:
  __attribute__((host)) __attribute__((device)) explicit __half(const float f) : __x(f) { }
  __attribute__((device)) operator unsigned int() const { return 0; }
};
__attribute__((device)) __half &operator+=(__half &a, const __half &b);
# 7 "/usr/include/elsewhere.h"
__attribute__((device)) int not_of_these(int x);
"""


def test_declarations_are_read() -> None:
    found = {each.signature: each for each in declarations(HEADERS)}
    assert list(found) == [
        "__half2float(__half)",
        "__own(float, int*)",
        "__half::__half(float)",
        "__half::operator unsigned int()",
        "operator+=(__half&, __half)",
    ]
    assert found["__own(float, int*)"].result == "int"


def test_a_kernel_stores_the_result_and_what_is_written() -> None:
    function = Declaration(
        "frexpf", "float", (Parameter("float", "value"), Parameter("int", "output")), "math.h"
    )
    text = kernel(3, function)
    assert "float r = frexpf(a0, &o0); put(out, 2, 0, r); put(out, 2, 1, o0);" in text
    assert number_at(f"\n{text}\n", 2) == 3
    assert "frexpf" not in without(text, [3])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("__shfl_sync", "of memory, time or other threads"),
        ("__internal_x", "internal to the headers"),
    ],
)
def test_what_is_not_of_its_arguments_is_not_called(name: str, reason: str) -> None:
    function = Declaration(name, "int", (Parameter("int", "value"),), "device_functions.h")
    assert reason_to_skip(function) == reason


def test_edges_are_numbers_by_their_bits() -> None:
    """0x7c00 is a half's infinity, 0x3f80 is 1 in bfloat16, 0x3f808000 a tie of bfloat16."""
    assert {0x7C00, 0xFC00, 1, 0x8001, 0x7BFF} <= set(edges(F16))
    assert 0x3F80 in edges(BF16)
    assert 0x3F808000 in edges(F32)
    assert nearest(F32, 0.1) == struct.unpack("<I", struct.pack("<f", 0.1))[0] - 1  # towards zero


def rows_of(*words: int) -> bytes:
    filled = [*words, *[0] * (ROWS - len(words))]
    return b"".join(pack((F32,), (word,)) for word in filled)


def test_differences_are_counted_in_numbers() -> None:
    """1.0 and the next two; two NaNs are one; a NaN and a number are no distance apart."""
    function = Declaration("f", "float", (Parameter("float", "value"),), "math.h")
    assert len(rows_of()) == ROWS * SLOT
    one, nan = 0x3F800000, 0x7FC00000
    found = difference(function, rows_of(one, nan, 0), rows_of(one + 2, nan + 1, 0))
    assert found is not None
    assert (found.rows, found.wrong, found.steps) == (1, 0, 2)
    found = difference(function, rows_of(one, nan), rows_of(one, one))
    assert found is not None
    assert (found.rows, found.wrong) == (1, 1)
    assert difference(function, rows_of(nan), rows_of(nan | 1)) is None


_CASTS = re.compile(
    r"__half2(?:int|short|ull)_r[nd]|__bfloat162(?:int|ll)_r[nu]|__(?:int|ull)2half_r[nu]"
    r"|__(?:int|ll)2bfloat16_rn|__(?:float|double)2bfloat16(?:_r[nz])?\(|__float2half_r"
    r"|__\w*(?:half|bfloat16)_as_|__\w*_as_(?:half|bfloat16)|__low2bf|__h(?:ne|gt|hisnan)2?\("
)


def faults(chosen: re.Pattern[str]) -> dict[str, str]:
    functions = tuple(
        each
        for each in read_functions()
        if chosen.match(each.signature) and not reason_to_skip(each)
    )
    assert functions
    return {
        each.function.signature: detail(each)
        for each in measured(functions)
        if verdict(each) in FAULTS
    }


@pytest.mark.nvidia
@pytest.mark.amd
def test_casts_of_halves_are_those_of_nvidia() -> None:
    assert faults(_CASTS) == {}


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.slow
def test_every_function_is_that_of_nvidia() -> None:
    assert faults(re.compile("")) == {}
