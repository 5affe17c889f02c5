"""PTX that converts, saturates, carries or works on packed lanes; expected values by hand."""

from __future__ import annotations

import pytest

from tests.translate.programs import output_of

NAN, INFINITY, BIG = 0x7FC00000, 0x7F800000, 0x4F800000  # BIG is 2^32
_BF16 = "{ .reg .b16 h; cvt.rn.bf16.f32 h, %1; cvt.u32.u16 %0, h; }"

_FIELD = "{{ .reg .b64 t; mov.b64 t, {{%1, %2}}; bfe.{} t, t, 28, 8; cvt.u32.u64 %0, t; }}"
_BYTES = [0x80017FF2, 0x12F38495]

_WIDE = "{{ .reg .b64 t, u; mov.b64 t, {{%1, %2}}; mov.b64 u, {{%2, %1}}; {} }}"
_BOTH = (
    "{{ .reg .pred p, q, c; setp.ne.u32 c, %3, 0; {} selp.u32 %0, 1, 0, p; @q or.b32 %0, %0, 2; }}"
)
_FLOATS = (
    "{{ .reg .f32 a, b; .reg .pred p; mov.b32 a, %1; mov.b32 b, %2; setp.{}.f32 p, a, b;"
    " selp.u32 %0, 1, 0, p; }}"
)

_TESTP = "{{ .reg .pred p; testp.{}.f32 p, %1; selp.u32 %0, 1, 0, p; }}"

# PTX of one result; its 32-bit inputs as bits; the result as bits.
CASES: dict[str, tuple[str, list[int], int]] = {
    # ffffffff_00000001 and 00000001_ffffffff: true is all ones, or 1.0.
    "set.ge.u32.u64": (_WIDE.format("set.ge.u32.u64 %0, t, u;"), [1, 0xFFFFFFFF], 0xFFFFFFFF),
    "set.ge.u32.s64": (_WIDE.format("set.ge.u32.s64 %0, t, u;"), [1, 0xFFFFFFFF], 0),
    "set.hi.s32.u32": ("set.hi.s32.u32 %0, %1, %2;", [0x80000000, 1], 0xFFFFFFFF),
    "set.eq.f32.s32": (
        "{ .reg .f32 f; set.eq.f32.s32 f, %1, %2; mov.b32 %0, f; }",
        [5, 5],
        0x3F800000,
    ),
    "set.ge.or": (
        "{ .reg .pred c; setp.ne.u32 c, %3, 0; set.ge.or.u32.u32 %0, %1, %2, c; }",
        [1, 2, 1],
        0xFFFFFFFF,
    ),
    "set.ge.xor": (
        "{ .reg .pred c; setp.ne.u32 c, %3, 0; set.ge.xor.u32.u32 %0, %1, %2, !c; }",
        [2, 2, 0],
        0,
    ),
    # Bit 0 is p, bit 1 is q: the opposite of the comparison, joined with c as well.
    "setp p|q": (_BOTH.format("setp.lt.u32 p|q, %1, %2;"), [1, 2, 0], 1),
    "setp p|q false": (_BOTH.format("setp.lt.u32 p|q, %1, %2;"), [2, 2, 0], 2),
    "setp.and p|q": (_BOTH.format("setp.lt.and.u32 p|q, %1, %2, c;"), [1, 2, 0], 0),
    "setp.or p|q": (_BOTH.format("setp.lt.or.u32 p|q, %1, %2, c;"), [1, 2, 1], 3),
    "setp.xor p|q": (_BOTH.format("setp.lt.xor.s32 p|q, %1, %2, !c;"), [1, 2, 1], 1),
    # Without u both operands have to be numbers.
    "setp.ne nan": (_FLOATS.format("ne"), [NAN, BIG], 0),
    "setp.ne": (_FLOATS.format("ne"), [0, BIG], 1),
    "setp.neu nan": (_FLOATS.format("neu"), [NAN, BIG], 1),
    "setp.equ nan": (_FLOATS.format("equ"), [BIG, NAN], 1),
    "setp.equ": (_FLOATS.format("equ"), [BIG, 0], 0),
    "setp.ltu nan": (_FLOATS.format("ltu"), [NAN, NAN], 1),
    "setp.geu": (_FLOATS.format("geu"), [0, BIG], 0),
    "setp.num": (_FLOATS.format("num"), [BIG, INFINITY], 1),
    "setp.nan": (_FLOATS.format("nan"), [BIG, NAN], 1),
    "testp.finite": (_TESTP.format("finite"), [BIG], 1),
    "testp.finite infinity": (_TESTP.format("finite"), [INFINITY], 0),
    "testp.infinite": (_TESTP.format("infinite"), [INFINITY | 1 << 31], 1),
    "testp.number": (_TESTP.format("number"), [INFINITY], 1),
    "testp.notanumber": (_TESTP.format("notanumber"), [NAN], 1),
    # Zeros are normal there.
    "testp.normal": (_TESTP.format("normal"), [1 << 31], 1),
    "testp.normal of a subnormal": (_TESTP.format("normal"), [1], 0),
    "testp.subnormal": (_TESTP.format("subnormal"), [1], 1),
    # INT_MAX + 1 and INT_MIN - 1 stay at the ends.
    "add.sat": ("add.sat.s32 %0, %1, %2;", [0x7FFFFFFF, 1], 0x7FFFFFFF),
    "sub.sat": ("sub.sat.s32 %0, %1, %2;", [0x80000000, 1], 0x80000000),
    "add.sat inside": ("add.sat.s32 %0, %1, %2;", [5, 0xFFFFFFF9], 0xFFFFFFFE),
    # 3 + |2 - 9|, and with signs 3 + |-2 - 9|.
    "sad.u32": ("sad.u32 %0, %1, %2, %3;", [2, 9, 3], 10),
    "sad.s32": ("sad.s32 %0, %1, %2, %3;", [0xFFFFFFFE, 9, 3], 14),
    # Bit 9 of 0x2ff is the highest; of -3, ...11101, bit 1 is the highest that is no sign.
    "bfind.u32": ("bfind.u32 %0, %1;", [0x2FF], 9),
    "bfind.u32 0": ("bfind.u32 %0, %1;", [0], 0xFFFFFFFF),
    "bfind.s32": ("bfind.s32 %0, %1;", [0xFFFFFFFD], 1),
    "bfind.shiftamt.u32": ("bfind.shiftamt.u32 %0, %1;", [0x2FF], 22),
    "bfind.shiftamt.s32 -1": ("bfind.shiftamt.s32 %0, %1;", [0xFFFFFFFF], 0xFFFFFFFF),
    "bfind.u64": ("{ .reg .b64 t; mov.b64 t, {%1, %2}; bfind.u64 %0, t; }", [1, 0x2FF], 41),
    "bfind.s64": ("{ .reg .b64 t; mov.b64 t, {%1, %2}; bfind.s64 %0, t; }", [1, 0xFFFFFFFD], 33),
    # (2^32 - 1)² = 2^64 - 2^33 + 1: low 1, high 2^32 - 2. 1 + ffffffff carries; high + 5 + carry.
    "mad.lo.cc": (
        "{ .reg .u32 t; mad.lo.cc.u32 t, %1, %1, %2; madc.hi.u32 %0, %1, %1, %3; }",
        [0xFFFFFFFF, 0xFFFFFFFF, 5],
        4,
    ),
    # The same, and the carry out of the high half into a third word: fffffffe + ffffffff + 1.
    "madc.hi.cc": (
        "{ .reg .u32 t; mad.lo.cc.u32 t, %1, %1, %2; madc.hi.cc.u32 t, %1, %1, %2;"
        " addc.u32 %0, %3, 0; }",
        [0xFFFFFFFF, 0xFFFFFFFF, 7],
        8,
    ),
    # addc without .cc leaves the flag: 1 from the first addition is added twice.
    "addc keeps the flag": (
        "{ .reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 t, %3, 0; addc.u32 %0, t, 0; }",
        [0xFFFFFFFF, 1, 10],
        12,
    ),
    # Bytes from the lowest: f2 7f 01 80, 95 84 f3 12; selectors of 8 to 15 spread the sign.
    "prmt": ("prmt.b32 %0, %1, %2, %3;", [*_BYTES, 0x1F2E], 0x7F0001FF),
    "prmt ignores bit 16": ("prmt.b32 %0, %1, %2, %3;", [*_BYTES, 0xFFFF8967], 0xFF00F312),
    "prmt.f4e": ("prmt.b32.f4e %0, %1, %2, %3;", [*_BYTES, 1], 0x9580017F),
    "prmt.b4e": ("prmt.b32.b4e %0, %1, %2, %3;", [*_BYTES, 5], 0xF312F27F),
    "prmt.rc8": ("prmt.b32.rc8 %0, %1, %2, %3;", [*_BYTES, 2], 0x01010101),
    "prmt.ecl": ("prmt.b32.ecl %0, %1, %2, %3;", [*_BYTES, 2], 0x80010101),
    "prmt.ecr": ("prmt.b32.ecr %0, %1, %2, %3;", [*_BYTES, 1], 0x7F7F7FF2),
    "prmt.rc16": ("prmt.b32.rc16 %0, %1, %2, %3;", [*_BYTES, 3], 0x80018001),
    # Bits 28 to 35 of b_a0000000 are ba, of which the highest is a sign.
    "bfe.u64": (_FIELD.format("u64"), [0xA0000000, 0xB], 0xBA),
    "bfe.s64": (_FIELD.format("s64"), [0xA0000000, 0xB], 0xFFFFFFBA),
    "bfe.s64 past the end": (
        "{ .reg .b64 t; mov.b64 t, {%1, %2}; bfe.s64 t, t, 70, 3; cvt.u32.u64 %0, t; }",
        [0, 0x80000000],
        0xFFFFFFFF,
    ),
    "bfi.b64": (
        "{ .reg .b64 s, t; mov.b64 s, {%1, %2}; mov.b64 t, {%2, %1}; bfi.b64 t, s, t, 28, 8;"
        " shr.u64 t, t, 32; cvt.u32.u64 %0, t; }",
        [0xAB, 0x5],
        0xAA,
    ),
    "cvt.sat.u8.s32 over": ("cvt.sat.u8.s32 %0, %1;", [300], 255),
    "cvt.sat.u8.s32 under": ("cvt.sat.u8.s32 %0, %1;", [0xFFFFFFFB], 0),
    "cvt.sat.s8.s32": ("cvt.sat.s8.s32 %0, %1;", [0xFFFFFF00], 0xFFFFFF80),
    "cvt.sat.s32.u32": ("cvt.sat.s32.u32 %0, %1;", [0x80000001], 0x7FFFFFFF),
    # 2.5 and 3.5 to even; 254.6; out of range on both sides; NaN.
    "cvt.rni.u8 2.5": ("cvt.rni.sat.u8.f32 %0, %1;", [0x40200000], 2),
    "cvt.rni.u8 3.5": ("cvt.rni.sat.u8.f32 %0, %1;", [0x40600000], 4),
    "cvt.rni.u8 254.6": ("cvt.rni.sat.u8.f32 %0, %1;", [0x437E999A], 255),
    "cvt.rni.u8 2^32": ("cvt.rni.sat.u8.f32 %0, %1;", [BIG], 255),
    "cvt.rni.u8 -1": ("cvt.rni.sat.u8.f32 %0, %1;", [0xBF800000], 0),
    "cvt.rni.u8 NaN": ("cvt.rni.sat.u8.f32 %0, %1;", [NAN], 0),
    **{
        f"cvt.rni.s8.f16 {said}": (
            "{ .reg .b16 h, r; cvt.rn.f16.f32 h, %1; cvt.rni.sat.s8.f16 r, h; cvt.s32.s8 %0, r; }",
            [bits],
            expected & 0xFFFFFFFF,
        )
        for said, bits, expected in (
            ("2.5", 0x40200000, 2),
            ("-3.5", 0xC0600000, -4),
            ("1000", 0x447A0000, 127),
            ("-1000", 0xC47A0000, -128),
            ("NaN", NAN, 0),
        )
    },
    "cvt.rzi.s32 2^32": ("cvt.rzi.s32.f32 %0, %1;", [BIG], 0x7FFFFFFF),
    "cvt.rzi.s32 -inf": ("cvt.rzi.s32.f32 %0, %1;", [INFINITY | 1 << 31], 0x80000000),
    "cvt.rzi.u32 -2.5": ("cvt.rzi.u32.f32 %0, %1;", [0xC0200000], 0),
    "cvt.rmi.s32 -2.5": ("cvt.rmi.s32.f32 %0, %1;", [0xC0200000], 0xFFFFFFFD),
    # Floats: 2.5 to integral 2.0, -2.5 up to -2.0; kept in [0, 1], NaN to 0.
    "cvt.rni.f32": ("cvt.rni.f32.f32 %0, %1;", [0x40200000], 0x40000000),
    "cvt.rpi.f32": ("cvt.rpi.f32.f32 %0, %1;", [0xC0200000], 0xC0000000),
    "cvt.sat.f32 2.5": ("cvt.sat.f32.f32 %0, %1;", [0x40200000], 0x3F800000),
    "cvt.sat.f32 NaN": ("cvt.sat.f32.f32 %0, %1;", [NAN], 0),
    "add.sat.f32": ("add.sat.f32 %0, %1, %2;", [0x3F400000, 0x3F000000], 0x3F800000),
    "mul.sat.f32": ("mul.sat.f32 %0, %1, %2;", [0xBF800000, 0x3F000000], 0),
    "fma.rn.sat.f32": ("fma.rn.sat.f32 %0, %1, %1, %2;", [0x3F000000, 0x3E800000], 0x3F000000),
    # 1 + 2^-8 is half way between two bfloat16 numbers: to the even one; the next float goes up.
    "bf16 tie": (_BF16, [0x3F808000], 0x3F80),
    "bf16 up": (_BF16, [0x3F808001], 0x3F81),
    "bf16 NaN": (_BF16, [NAN], 0x7FFF),
    # The first source is the upper half.
    "bf16x2": ("cvt.rn.bf16x2.f32 %0, %1, %2;", [0x40000000, 0x3F800000], 0x40003F80),
    "f16x2": ("cvt.rn.f16x2.f32 %0, %1, %2;", [0x40000000, 0x3F800000], 0x40003C00),
    "f16 there and back": (
        "{ .reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.f32.f16 %0, h; }", [0x45001000], 0x45000000,
    ),  # 2049 has one bit too many for half: to even, 2048
    # 7 + 1·1 + 2·2 - 3·3 + 4·(-1), lowest byte first; unsigned, 255 and 253 stay as they are.
    "dp4a.s32.s32": ("dp4a.s32.s32 %0, %1, %2, %3;", [0x04FD0201, 0xFF030201, 7], 0xFFFFFFFF),
    "dp4a.u32.s32": (
        "dp4a.u32.s32 %0, %1, %2, %3;", [0x04FD0201, 0xFF030201, 7], 7 + 1 + 4 + 253 * 3 - 4,
    ),
    "dp2a.hi": ("dp2a.hi.u32.u32 %0, %1, %2, %3;", [0x00030002, 0x05040000, 1], 1 + 2 * 4 + 3 * 5),
    # Byte by byte: |1 - 4|, |255 - 0|, |7 - 9|, |128 - 127|; and their sum and 10.
    "vabsdiff4": ("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;", [0x8007FF01, 0x7F090004, 0], 0x0102FF03),
    "vabsdiff4.add": (
        "vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;", [0x8007FF01, 0x7F090004, 10], 271,
    ),
    # 0x7f + 1 stays at the top, 0x80 - 1 at the bottom; halves: 1 - 2 wraps without .sat.
    "vadd4.sat": ("vadd4.s32.s32.s32.sat %0, %1, %2, %3;", [0x7F800001, 0x01FF0001, 0], 0x7F800002),
    "vsub2": ("vsub2.s32.s32.s32 %0, %1, %2, %3;", [0x00050001, 0x00030002, 0], 0x0002FFFF),
    "vavrg4": ("vavrg4.u32.u32.u32 %0, %1, %2, %3;", [0x000A0103, 0x00050202, 0], 0x00080203),
    "vmax2": ("vmax2.s32.s32.s32 %0, %1, %2, %3;", [0x8000FFFF, 0x00010001, 0], 0x00010001),
}  # fmt: skip

_FLOAT_RESULT = (".f32.f32 %0", "cvt.f32.f16 %0", "sat.f32 %0")


def _statement(number: int, text: str, inputs: list[int]) -> str:
    """``out[number]`` from the PTX; floats travel as registers of their own."""
    floats = ".f32" in text
    wanted = "=f" if any(mark in text for mark in _FLOAT_RESULT) else "=r"
    operands = []
    for position in range(len(inputs)):
        value = f"in[{4 * number + position}]"
        operands.append(f'"f"(__uint_as_float({value}))' if floats else f'"r"({value})')
    result = "f" if wanted == "=f" else "r"
    stored = "__float_as_uint(f)" if result == "f" else "r"
    return (
        f'asm("{text}" : "{wanted}"({result}) : {", ".join(operands)}); out[{number}] = {stored};'
    )


def _source() -> str:
    statements = [
        _statement(number, text, inputs) for number, (text, inputs, _) in enumerate(CASES.values())
    ]
    values = [
        f"{value}u"
        for _, inputs, _ in CASES.values()
        for value in [*inputs, *([0] * (4 - len(inputs)))]
    ]
    count = len(CASES)
    return f"""
#include <cstdio>
#include <cstring>
__global__ void all(unsigned* out, const unsigned* in) {{
  unsigned r; float f;
  {chr(10).join(statements)}
}}
int main() {{
  static const unsigned values[] = {{{", ".join(values)}}};
  unsigned *out, *in;
  cudaMallocManaged(&out, {count} * 4);
  cudaMallocManaged(&in, sizeof values);
  memcpy(in, values, sizeof values);
  all<<<1, 1>>>(out, in);
  if (cudaDeviceSynchronize()) return 1;
  printf("results:");
  for (int i = 0; i < {count}; ++i) printf(" %u", out[i]);
  printf("\\n");
}}
"""


@pytest.fixture(scope="module")
def results() -> dict[str, int]:
    values = [int(item) for item in output_of(_source())["results"].split()]
    return dict(zip(CASES, values, strict=True))


@pytest.mark.amd
@pytest.mark.parametrize("name", CASES)
def test_numeric_ptx(results: dict[str, int], name: str) -> None:
    assert hex(results[name]) == hex(CASES[name][2])
