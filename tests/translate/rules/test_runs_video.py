"""Scalar video instructions and ``slct``, on the CPU backend; values by hand from the manual."""

from __future__ import annotations

import pytest

from cass_ray.translate.rules import RulesTranslator
from tests.translate.programs import output_of

CASES = [
    # instruction, operands, a, b, c -> result
    ("vadd.s32.s32.s32", "%0, %1.h0, %2.h1", 0x0001FFFF, 0x80000005, 0, 0xFFFF7FFF),
    ("vsub.s32.u32.u32", "%0, %1.h1, %2.h0", 0xFFFF0000, 0x00000001, 0, 0x0000FFFE),
    ("vadd.u32.u32.u32", "%0, %1.b3, %2", 0xFF000000, 0x00000002, 0, 0x00000101),
    ("vadd.u32.u32.u32", "%0.b0, %1, %2, %3", 0x00000180, 0x00000090, 0, 0x00000010),
    ("vsub.u32.u32.u32", "%0.h1, %1, %2, %3", 3, 5, 0x12345678, 0xFFFE5678),
    ("vmax.s32.s32.s32.max", "%0, %1, %2, %3", 0xFFFFFFF0, 0xFFFFFFF8, 0xFFFFFFFC, 0xFFFFFFFC),
    ("vmin.s32.s32.s32.min", "%0, %1, %2, %3", 3, 0xFFFFFFFF, 0x80000000, 0x80000000),
    ("vmax.s32.s32.s32.add", "%0, %1, %2, %3", 0xFFFFFFFF, 7, 0xFFFFFFFE, 5),
    ("vsub.u32.u32.u32.add", "%0, %1, %2, %3", 10, 4, 100, 106),
    ("vadd.u32.s32.s32.sat.min", "%0, %1, %2, %3", 0xFFFFFFF6, 4, 9, 0),
    ("vadd.u32.s32.s32.sat.min", "%0, %1, %2, %3", 10, 4, 9, 9),
    ("vadd.u32.s32.s32.sat.min", "%0, %1, %2, %3", 0x7FFFFFFF, 1, 0xFFFFFFFF, 0x80000000),
    ("vadd.u32.s32.s32.sat", "%0.b0, %1, %2, %3", 250, 9, 0xAABBCC00, 0xAABBCCFF),
    ("vadd.u32.s32.s32.sat", "%0.b2, %1, %2, %3", 0xFFFFFF9C, 9, 0xAABBCCDD, 0xAA00CCDD),
    ("vadd.s32.s32.s32.sat", "%0, %1, %2", 0x7FFFFFFF, 1, 0, 0x7FFFFFFF),
    ("vsub.s32.s32.s32.sat", "%0.h0, %1, %2, %3", 0xFFFF0000, 1, 0x11112222, 0x11118000),
    ("vabsdiff.u32.u32.u32", "%0, %1.b0, %2.b1", 0x05, 0x0900, 0, 4),
    ("vabsdiff.u32.u32.u32.add", "%0, %1, %2, %3", 9, 5, 100, 104),
    ("vmad.u32.u32.u32", "%0, %1.b1, %2.b3, %3", 0x0300, 0x05000000, 1, 16),
    ("vmad.s32.s32.u32", "%0, %1.b0, %2, %3", 0xFF, 3, 1, 0xFFFFFFFE),
    ("slct.u32.s32", "%0, %1, %2, %3", 1, 2, 0, 1),
    ("slct.s32.s32", "%0, %1, %2, %3", 1, 2, 0xFFFFFFFF, 2),
]


def _statement(number: int, opcode: str, operands: str) -> str:
    asm = f'asm("{opcode} {operands};" : "=r"(r) : "r"(in[0]), "r"(in[1]), "r"(in[2]));'
    return f"  in = values + {3 * number}; {asm} out[{number}] = r;\n"


@pytest.mark.amd
def test_parts_are_extended_combined_clamped_and_merged() -> None:
    statements = "".join(_statement(n, *case[:2]) for n, case in enumerate(CASES))
    values = ", ".join(f"{value:#x}u" for case in CASES for value in case[2:5])
    source = f"""
#include <cstdio>
__device__ unsigned values[] = {{{values}}};
__global__ void video(unsigned* out, float* chosen, float by) {{
  unsigned r, *in;
{statements}
  float f;
  asm("slct.f32.s32 %0, %1, %2, %3;" : "=f"(f) : "f"(1.5f), "f"(2.5f), "r"(-1)); chosen[0] = f;
  asm("slct.f32.f32 %0, %1, %2, %3;" : "=f"(f) : "f"(1.5f), "f"(2.5f), "f"(-0.0f)); chosen[1] = f;
  asm("slct.ftz.f32.f32 %0, %1, %2, %3;" : "=f"(f) : "f"(1.5f), "f"(2.5f), "f"(by)); chosen[2] = f;
}}
int main() {{
  unsigned *device, host[{len(CASES)}];
  float *chosen, floats[3];
  cudaMalloc(&device, sizeof host); cudaMalloc(&chosen, sizeof floats);
  video<<<1, 1>>>(device, chosen, 0.0f / 0.0f);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(floats, chosen, sizeof floats, cudaMemcpyDeviceToHost);
  printf("words:");
  for (unsigned word : host) printf(" %#x", word);
  printf("\\nchosen: %g %g %g\\n", floats[0], floats[1], floats[2]);
}}
"""
    printed = output_of(source)
    words = [int(word, 16) for word in printed["words"].split()]
    for case, word in zip(CASES, words, strict=True):
        assert word == case[5], f"{case[:5]}: {word:#x}"
    assert printed["chosen"] == "2.5 1.5 2.5"


@pytest.mark.parametrize(
    "statement",
    [
        "vmad.u32.u32.u32.sat %0, %1, %2, %3",
        "vmad.u32.u32.u32 %0, -%1, %2, %3",
        "vadd.u32.u32.u32.min %0, %1, %2, %3",
        "vadd.u32.u32 %0, %1, %2",
        "vadd.u32.u32.u32 %0.b1, %1, %2",
        "vset.u32.u32.lt %0, %1, %2",
        "slct.u32.u32 %0, %1, %2, %3",
    ],
)
def test_other_forms_are_refused(statement: str) -> None:
    source = f'asm("{statement};" : "=r"(r) : "r"(a), "r"(b), "r"(c));'
    made = RulesTranslator().translate(source, filename="a.cuh")
    assert made.source == source
    assert made.findings
