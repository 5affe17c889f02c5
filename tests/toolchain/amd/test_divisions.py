"""Unsigned divisions whose dividends have many leading ones, against the host's compiler."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, build, execute
from cass_ray.toolchain.locate import find_amd

# What the compiler sees to have few bits beside copies of its sign: `i` is the thread's number, `g`
# any number.
DIVIDENDS = (
    *(
        "i - 3u",
        "(unsigned)(signed char)g",
        "(unsigned)(short)g",
        "~(g & 255u)",
        "0u - (g & 1023u)",
    ),
    *("(unsigned)((int)g >> 12)", "g | 0xfffff000u", "i & 1u ? i : ~i", "0xfffffff0u"),
    *("g & 0xffffu", "g >> 9", "g"),
)
DIVISORS = ("(h & 7u) + 1u", "(h & 0x3fffu) | 1u", "(unsigned)(short)(h | 1u)", "h | 1u")
WIDE = ("(unsigned long long)(long long)(int)({})", "(unsigned long long)({})")

FUNCTION = """
__host__ __device__ inline void divide_@k@(
    unsigned i, unsigned g, unsigned h, unsigned long long* out) {
@statements@
}
__global__ void on_device_@k@(const unsigned* g, const unsigned* h, unsigned long long* out) {
  unsigned i = threadIdx.x;
  divide_@k@(i, g[i], h[i], out + i * CASES);
}
"""
COMPARISON = """
  for (int i = 0; i < 64; ++i) divide_@k@(i, g[i], h[i], here + i * CASES);
  on_device_@k@<<<1, 64>>>(device_g, device_h, out);
  hipMemcpy(there, out, sizeof there, hipMemcpyDeviceToHost);
  for (int k = 0; k < 64 * CASES; ++k)
    if (here[k] != there[k]) printf("@k@.%d: %llu, not %llu\\n", k % CASES, there[k], here[k]);
"""
PROGRAM_TEXT = """
#include <hip/hip_runtime.h>
#include <cstdio>
constexpr int CASES = @cases@;
@functions@
__global__ void by_block(const unsigned* g, unsigned h, unsigned* out) {  // uniform throughout
  out[blockIdx.x] = (blockIdx.x - 3u) / ((h & 7u) + 1u) + (~(*g & 255u)) % ((h & 15u) + 1u);
}
int main() {
  static unsigned g[64], h[64], blocks[8];
  static unsigned long long here[64 * CASES], there[64 * CASES];
  unsigned seed = 1;
  for (int i = 0; i < 64; ++i) {
    g[i] = (seed = seed * 1664525u + 1013904223u) ^ seed >> 16;
    h[i] = (seed = seed * 1664525u + 1013904223u) ^ seed >> 16;
  }
  unsigned *device_g, *device_h, *device_blocks;
  unsigned long long* out;
  hipMalloc(&device_g, sizeof g);
  hipMalloc(&device_h, sizeof h);
  hipMalloc(&out, sizeof there);
  hipMalloc(&device_blocks, sizeof blocks);
  hipMemcpy(device_g, g, sizeof g, hipMemcpyHostToDevice);
  hipMemcpy(device_h, h, sizeof h, hipMemcpyHostToDevice);
@comparisons@
  by_block<<<8, 1>>>(device_g, h[0], device_blocks);
  hipMemcpy(blocks, device_blocks, sizeof blocks, hipMemcpyDeviceToHost);
  for (unsigned b = 0; b < 8; ++b)
    if (blocks[b] != (b - 3u) / ((h[0] & 7u) + 1u) + (~(*g & 255u)) % ((h[0] & 15u) + 1u))
      printf("block %u: %u\\n", b, blocks[b]);
  puts("compared");
}
"""


def quotients(dividend: str) -> list[list[str]]:
    """``dividend`` by each divisor: words; extended to 64 bits; narrow and signed."""
    words = [f"({dividend}) {op} ({divisor})" for divisor in DIVISORS for op in "/%"]
    wide = [
        f"{extended.format(dividend)} / {WIDE[1].format(divisor)}"
        for extended in WIDE
        for divisor in DIVISORS
    ]
    narrow = [
        quotient
        for d in DIVISORS
        for quotient in (
            f"(unsigned)((unsigned short)({dividend}) / (unsigned char)(({d}) | 1u))",
            f"(unsigned)((int)({dividend}) / (int)({d}))",
        )
    ]
    return [words, wide, narrow]


def program() -> Sources:
    """Each list is a kernel of its own: what ends a basic block hides numbers from LLVM."""
    lists = [each for dividend in DIVIDENDS for each in quotients(dividend)]
    functions, comparisons = [], []
    for k, each in enumerate(lists):
        statements = [f"  out[{place}] = {quotient};" for place, quotient in enumerate(each)]
        text = FUNCTION.replace("@statements@", "\n".join(statements))
        functions.append(text.replace("@k@", str(k)))
        comparisons.append(COMPARISON.replace("@k@", str(k)))
    text = PROGRAM_TEXT.replace("@functions@", "".join(functions))
    text = text.replace("@comparisons@", "".join(comparisons))
    text = text.replace("@cases@", str(max(map(len, lists))))
    return Sources(PurePosixPath("program.hip"), {"program.hip": text.encode()})


@pytest.mark.amd
@pytest.mark.parametrize(
    ("architecture", "optimization"),
    [
        ("gfx1100", "-O3"),
        ("gfx90a", "-O3"),
        *[
            pytest.param(*others, marks=pytest.mark.slow)
            for others in [
                ("gfx1100", "-O0"),
                ("gfx1100", "-O1"),
                ("gfx1100", "-Os"),
                ("gfx1201", "-O3"),
                ("gfx942", "-O3"),
            ]
        ],
    ],
)
def test_every_quotient_is_the_hosts(architecture: str, optimization: str) -> None:
    runtime = runtime_library()
    executable = build(
        program(), find_amd(), runtime, architecture=architecture, optimization=optimization
    )
    options = RunOptions(seconds=60.0, devices=(architecture,))
    done = execute(executable, (), runtime, options)
    assert (done.returncode, done.stdout_text) == (0, "compared\n"), done.stderr_text
