"""Bytes and halves of registers as operands of CDNA's code (SDWA), which clang 19 swaps.

LLVM's pull request 106920: ``a - b`` and ``b - a`` of the same parts became one instruction.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from cass_ray.toolchain.amd import workarounds
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from tests.translate.programs import output_of

WORDS = (0x10FF8003, 0x90018105, 0x7F80FF01, 0x00FE0280, 0x80007FFF, 0xFFFF0001)

Form = tuple[str, Callable[[int, int], int]]


def _bytes(word: int) -> list[int]:
    return [word >> 8 * k & 255 for k in range(4)]


def _halves(word: int) -> list[int]:
    return [word >> 16 * k & 65535 for k in range(2)]


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 & 1 else value


def _half(bits: int) -> float:
    return float(struct.unpack("<e", struct.pack("<H", bits))[0])


def _pick(condition: bool, first: int, second: int) -> int:
    return first if condition else second


FORMS: dict[str, Form] = {
    "differences": (
        "for (int k = 0; k < 4; ++k) { int x = a >> 8 * k & 255, y = b >> 8 * k & 255;"
        " s += x < y ? (y - x) << k : x - y; }",
        lambda a, b: sum(
            _pick(x < y, (y - x) << k, x - y)
            for k, (x, y) in enumerate(zip(_bytes(a), _bytes(b), strict=True))
        ),
    ),
    "halves": (
        "for (int k = 0; k < 2; ++k) { int x = a >> 16 * k & 65535, y = b >> 16 * k & 65535;"
        " s += (x - y) * 3 ^ (y - x); }",
        lambda a, b: sum(
            (x - y) * 3 ^ (y - x) for x, y in zip(_halves(a), _halves(b), strict=True)
        ),
    ),
    "signed_halves": (
        "short x = a >> 16, y = b >> 16, z = (short)a, w = (short)b;"
        " s = (x - y) ^ ((y - x) << 3) ^ (z - w) * 5 ^ (w - z) * 7;",
        lambda a, b: (
            (x := _signed(a >> 16, 16)) * 0
            ^ (x - (y := _signed(b >> 16, 16)))
            ^ ((y - x) << 3)
            ^ ((z := _signed(a & 65535, 16)) - (w := _signed(b & 65535, 16))) * 5
            ^ (w - z) * 7
        ),
    ),
    "other_parts": (
        "int x = a & 255, y = b >> 24, z = a >> 24, w = b & 255;"
        " s = (x - y) * 3 + (y - x) * 5 + ((z - w) ^ (w - z)) + ((x - z) ^ (z - x));",
        lambda a, b: (
            (a % 256 - (b >> 24)) * 3
            + ((b >> 24) - a % 256) * 5
            + (((a >> 24) - b % 256) ^ (b % 256 - (a >> 24)))
            + ((a % 256 - (a >> 24)) ^ ((a >> 24) - a % 256))
        ),
    ),
    "shifts": (
        "unsigned x = a & 255, y = b >> 8 & 255;"
        " s = ((x << (y & 15)) ^ (y << (x & 15))) + ((x >> (y & 7)) ^ ((y >> (x & 7)) << 8));",
        lambda a, b: (
            (((x := a & 255) << ((y := b >> 8 & 255) & 15)) ^ (y << (x & 15)))
            + ((x >> (y & 7)) ^ ((y >> (x & 7)) << 8))
        ),
    ),
    "short_subtractions": (
        "unsigned short x = a >> 16, y = b, z = x - y, w = y - x; s = z * 3u ^ (unsigned)w << 8;",
        lambda a, b: (
            (((a >> 16) - (b & 65535)) & 65535) * 3 ^ (((b & 65535) - (a >> 16)) & 65535) << 8
        ),
    ),
    "converted": (
        "for (int k = 0; k < 4; ++k) { float x = a >> 8 * k & 255, y = b >> 8 * k & 255;"
        " s += (int)(x - y) * 7 + (int)((y - x) * 2.0f); }",
        lambda a, b: sum(
            (x - y) * 7 + (y - x) * 2 for x, y in zip(_bytes(a), _bytes(b), strict=True)
        ),
    ),
    "half_precision": (
        "__half x = __ushort_as_half(0x3c00 | (a >> 16 & 255)), y = __ushort_as_half(0x4000 |"
        " (b >> 16 & 255)); __half2 p = __halves2half2(y, x), q = __halves2half2(x, y);"
        " __half d = __hsub(__high2half(p), __high2half(q)), e = __hsub(__high2half(q),"
        " __high2half(p)); s = (int)(__half2float(d) * 1024) * 3 + (int)(__half2float(e) * 1024);",
        lambda a, b: (lambda d: int(d * 1024) * 3 + int(-d * 1024))(
            _half(0x3C00 | (a >> 16 & 255)) - _half(0x4000 | (b >> 16 & 255))
        ),
    ),
    "comparisons": (
        "for (int k = 0; k < 4; ++k) { int x = a >> 8 * k & 255, y = b >> 8 * (3 - k) & 255;"
        " s += max(x, y) * 5 - min(x, y) + (x < y ? 100 : 0) + (y < x ? 1000 : 0); }",
        lambda a, b: sum(
            max(x, y) * 5 - min(x, y) + _pick(x < y, 100, 0) + _pick(y < x, 1000, 0)
            for x, y in zip(_bytes(a), reversed(_bytes(b)), strict=True)
        ),
    ),
    "products": (
        "int x = a >> 8 & 255, y = b >> 16; s = x * y - y + ((y - x) * (x - y)) + (x * x - y);",
        lambda a, b: (x := a >> 8 & 255) * (y := b >> 16) - y + (y - x) * (x - y) + (x * x - y),
    ),
}
"""Each is a kernel's body, and what it computes."""


def _program() -> str:
    kernels = "\n".join(
        f"__global__ void {name}(int* o, const unsigned* in) {{ unsigned a = in[threadIdx.x],"
        f" b = in[(threadIdx.x + 1) % {len(WORDS)}]; int s = 0; {body} o[threadIdx.x] = s; }}"
        for name, (body, _) in FORMS.items()
    )
    calls = "\n".join(
        f"{name}<<<1, {len(WORDS)}>>>(o, d); cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);"
        f' printf("{name}:"); for (int v : h) printf(" %d", v); printf("\\n");'
        for name in FORMS
    )
    return f"""#include <cstdio>
#include <cuda_fp16.h>
{kernels}
int main() {{
  unsigned in[] = {{{", ".join(map(hex, WORDS))}}}, *d;
  int h[{len(WORDS)}], *o;
  cudaMalloc(&d, sizeof in), cudaMalloc(&o, sizeof h);
  cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice);
{calls}
}}
"""


def _expected() -> dict[str, str]:
    pairs = list(zip(WORDS, [*WORDS[1:], WORDS[0]], strict=True))
    return {
        name: " ".join(str(_signed(compute(a, b) & 0xFFFFFFFF, 32)) for a, b in pairs)
        for name, (_, compute) in FORMS.items()
    }


def _skip_without(target: str) -> None:
    try:
        find_amd(architectures=(target,))
    except ToolMissing as error:
        pytest.skip(str(error))


@pytest.mark.amd
@pytest.mark.parametrize(
    "level",
    ["-O3", "-Os", *(pytest.param(each, marks=pytest.mark.slow) for each in ("-O0", "-O1", "-O2"))],
)
@pytest.mark.parametrize("target", ["gfx942", "gfx90a", "gfx950", "gfx1100"])
def test_parts_are_taken_as_the_source_says(target: str, level: str) -> None:
    _skip_without(target)
    assert output_of(_program(), architecture=target, optimization=level) == _expected()


@pytest.mark.amd
def test_without_the_flag_clang_19_takes_others(monkeypatch: pytest.MonkeyPatch) -> None:
    if not find_amd().version.startswith("19."):
        pytest.skip("mended in LLVM 20")
    code_options = workarounds._code_options
    monkeypatch.setattr(workarounds, "_code_options", lambda version: code_options(version)[:1])
    made, expected = output_of(_program(), architecture="gfx942"), _expected()
    assert {name for name in FORMS if made[name] != expected[name]} >= {"differences"}
