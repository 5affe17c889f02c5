"""Forms of PTX instructions that the rules translate: opcode, result, operands.

In an opcode ``(a|b)`` is a choice. A result and the operands are kinds:

======  ==============================  ======  ==========================================
``r``   32 bits                         ``L``   an address in global memory
``l``   64 bits                         ``5``   an integer constant from 0 to 31
``h``   16 bits                         ``t``   a table of three-input logic (0 to 255)
``f``   a float                         ``s``   a selector of ``prmt``
``d``   a double                        ``c``   the clamp of a shuffle
``p``   a predicate                     ``m``   a mask of lanes
======  ==============================  ======  ==========================================

Opcodes and kinds of their operands: PTX ISA 8.5, chapter 9.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_INTEGERS = (
    "(add|sub).(u32|s32): r rr",
    "(add|sub).(u64|s64): l ll",
    "(add|sub).(u16|s16): h hh",
    "(add|sub).sat.s32: r rr",
    "mul.lo.(u32|s32): r rr",
    "mul.lo.(u64|s64): l ll",
    "mul.hi.(u32|s32): r rr",
    "mul.hi.(u64|s64): l ll",
    "mul.wide.(u32|s32): l rr",
    "mad.lo.(u32|s32): r rrr",
    "mad.hi.(u32|s32): r rrr",
    "mad.lo.(u64|s64): l lll",
    "mad.wide.(u32|s32): l rrl",
    "(div|rem).(u32|s32): r rr",
    "(min|max).(u32|s32): r rr",
    "(min|max).(u64|s64): l ll",
    "(min|max).(u16|s16): h hh",
    "(neg|abs).s32: r r",
    "sad.(u32|s32): r rrr",
)
_BITS = (
    "(and|or|xor).b32: r rr",
    "(and|or|xor).b64: l ll",
    "(and|or|xor).b16: h hh",
    "not.b32: r r",
    "not.b64: l l",
    "shl.b32: r rr",
    "shl.b32: r r5",
    "shl.b64: l l5",
    "shr.(u32|s32|b32): r rr",
    "shr.(u32|s32|b32): r r5",
    "shr.(u64|s64): l l5",
    "bfe.(u32|s32): r rrr",
    "bfe.(u32|s32): r r55",
    "bfi.b32: r rrrr",
    "bfi.b32: r rr55",
    "prmt.b32: r rrr",
    "prmt.b32: r rrs",
    "lop3.b32: r rrrt",
    "shf.(l|r).(wrap|clamp).b32: r rrr",
    "shf.(l|r).(wrap|clamp).b32: r rr5",
    "(popc|clz|brev).b32: r r",
    "(popc|clz).b64: r l",
    "brev.b64: l l",
    "bfind.u32: r r",
)
_FLOATS = (
    "(add|sub|mul|min|max).f32: f ff",
    "(add|sub|mul).(rn|rz|rm|rp).f32: f ff",
    "(add|sub|mul).(rn|rz|rm|rp).f64: d dd",
    "(add|sub|mul).sat.f32: f ff",
    "(add|sub|mul|min|max).f64: d dd",
    "(add|mul).ftz.f32: f ff",
    "fma.(rn|rz|rm|rp).f32: f fff",
    "fma.(rn|rz|rm|rp).f64: d ddd",
    "fma.rn.sat.f32: f fff",
    "mad.rn.f32: f fff",
    "div.(rn|rz|rm|rp|approx|full).f32: f ff",
    "div.(rn|rz).f64: d dd",
    "(neg|abs).f32: f f",
    "(neg|abs).f64: d d",
    "(sin|cos|ex2|lg2|rsqrt).approx.f32: f f",
    "(sin|ex2|lg2|rsqrt).approx.ftz.f32: f f",
    "tanh.approx.f32: f f",
    "(sqrt|rcp).(rn|rz|rm|rp).f32: f f",
    "(sqrt|rcp).approx.f32: f f",
    "(sqrt|rcp).(rn|rz).f64: d d",
)
_CONVERSIONS = (
    "cvt.(rn|rz|rm|rp).f32.(u32|s32): f r",
    "cvt.(rn|rz|rm|rp).f32.(u64|s64): f l",
    "cvt.rn.f64.(u32|s32): d r",
    "cvt.rn.f64.(u64|s64): d l",
    "cvt.(rni|rzi|rmi|rpi).(u32|s32).f32: r f",
    "cvt.(rni|rzi|rmi|rpi).(u32|s32).f64: r d",
    "cvt.(rni|rzi|rmi|rpi).(u64|s64).f32: l f",
    "cvt.(rni|rzi|rmi|rpi).sat.(u32|s32).f32: r f",
    "cvt.(rni|rzi|rmi|rpi).f32.f32: f f",
    "cvt.(rni|rzi|rmi|rpi).f64.f64: d d",
    "cvt.(rn|rz|rm|rp).f32.f64: f d",
    "cvt.f64.f32: d f",
    "cvt.sat.f32.f32: f f",
    "cvt.u64.u32: l r",
    "cvt.s64.s32: l r",
    "cvt.u32.u64: r l",
    "cvt.u32.u16: r h",
    "cvt.s32.s16: r h",
    "cvt.u16.u32: h r",
    "cvt.sat.(u8|s8|u16|s16).(s32|u32): r r",
    "cvt.rn.(f16|bf16).f32: h f",
    "cvt.rn.(f16x2|bf16x2).f32: r ff",
    "cvt.f32.(f16|bf16): f h",
)
_PACKED = (
    "dp4a.(u32|s32).(u32|s32): r rrr",
    "dp2a.(lo|hi).(u32|s32).(u32|s32): r rrr",
    "(vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4).u32.u32.u32: r rrr",
    "(vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2).u32.u32.u32: r rrr",
    "(vadd4|vsub4|vmin4|vmax4|vadd2|vsub2|vmin2|vmax2).s32.s32.s32: r rrr",
    "(vadd4|vsub4|vadd2|vsub2).(u32|s32).(u32|s32).(u32|s32).sat: r rrr",
    "(vabsdiff4|vabsdiff2).(u32|s32).(u32|s32).(u32|s32).add: r rrr",
    "(vset2|vset4).u32.u32.(eq|ne|lt|le|gt|ge): r rrr",
    "(vset2|vset4).(u32.u32|s32.s32).(eq|ne|lt|le|gt|ge).add: r rrr",
    "(add|sub|mul).f16x2: r rr",
    "(add|sub|mul).f16: h hh",
    "(min|max).f16x2: r rr",
    "fma.rn.f16x2: r rrr",
    "fma.rn.f16: h hhh",
    "(neg|abs).f16x2: r r",
)
_CHOICES = (
    "setp.(eq|ne|lt|le|gt|ge).(u32|s32): p rr",
    "setp.(eq|ne|lt|le|gt|ge).(u64|s64): p ll",
    "setp.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).u32: p rr",
    "setp.(eq|ne|lt|le|gt|ge).f32: p ff",
    "setp.(eq|ne|lt|le|gt|ge).f64: p dd",
    "selp.(u32|s32|b32): r rrp",
    "selp.(u64|s64|b64): l llp",
    "selp.f32: f ffp",
    "(and|or|xor).pred: p pp",
)
_MOVES = (
    "mov.(u32|s32|b32): r r",
    "mov.(u64|b64): l l",
    "mov.f32: f f",
    "mov.b32: f r",
    "mov.b32: r f",
    "mov.b64: d l",
)
_MEMORY = (
    "ld.global.(u32|s32): r L",
    "ld.global.(ca|cg|cs|lu|cv|nc).(u32|s32): r L",
    "ld.global.(f32|cg.f32|cs.f32|nc.f32|nc.L1::no_allocate.f32): f L",
    "ld.global.(f64|nc.f64|cg.f64): d L",
    "ld.global.(u64|nc.u64|cg.u64): l L",
    "ld.(volatile|relaxed.gpu|acquire.gpu|acquire.sys).global.u32: r L",
    "ld.(u32|s32): r L",
    "atom.global.(add|min|max|exch).u32: r Lr",
    "atom.global.(and|or|xor|exch).b32: r Lr",
    "atom.(relaxed|acquire|release|acq_rel).gpu.global.add.u32: r Lr",
    "atom.add.(u32|s32): r Lr",
    "atom.global.cas.b32: r Lrr",
    "atom.global.(inc|dec).u32: r Lr",
    "atom.global.add.f32: f Lf",
)
_WARP = (
    "activemask.b32: r ",
    "shfl.sync.(down|up|bfly|idx).b32: r r5cm",
    "shfl.sync.(down|up|bfly|idx).b32: r rrcm",
    "match.any.sync.b32: r rm",
)
_EFFECTS = (
    "st.global.(u32|s32|cg.u32|cs.u32|wb.u32|wt.u32): - Lr",
    "st.global.(f32|cs.f32|cg.f32): - Lf",
    "st.global.(f64|cs.f64): - Ld",
    "st.global.(u64|cg.u64): - Ll",
    "st.(volatile|relaxed.gpu|release.gpu|release.sys).global.u32: - Lr",
    "red.global.(add|min|max).(u32|s32): - Lr",
    "red.global.(and|or|xor).b32: - Lr",
    "red.global.add.f32: - Lf",
    "red.release.gpu.global.add.u32: - Lr",
    "membar.(gl|cta|sys): - ",
    "fence.(acq_rel|sc).(cta|gpu|sys): - ",
    "(bar.sync|barrier.sync) 0: - ",
    "bar.warp.sync: - m",
    "prefetch.global.(L1|L2): - L",
    "nanosleep.u32: - r",
    "nanosleep.u32: - 5",
)


@dataclass(frozen=True, slots=True)
class Form:
    """An opcode with choices, the kind of its result (``-``: none), the kinds of its operands."""

    opcode: str
    result: str
    operands: str


def _forms(texts: Sequence[str]) -> tuple[Form, ...]:
    """``opcode: result operands`` as forms."""
    made = []
    for text in texts:
        opcode, _, kinds = text.rpartition(": ")
        result, _, operands = kinds.partition(" ")
        made.append(Form(opcode, result, operands))
    return tuple(made)


GROUPS: dict[str, tuple[Form, ...]] = {
    "integers": _forms(_INTEGERS),
    "bits": _forms(_BITS),
    "floats": _forms(_FLOATS),
    "conversions": _forms(_CONVERSIONS),
    "packed": _forms(_PACKED),
    "choices": _forms(_CHOICES),
    "moves": _forms(_MOVES),
    "memory": _forms(_MEMORY),
    "warp": _forms(_WARP),
}
"""What has a result, by what it is about."""
EFFECTS = _forms(_EFFECTS)
"""What has none."""
SPECIAL = (
    *("laneid", "warpid", "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt"),
    *("lanemask_ge", "clock", "smid"),
    *(f"{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
)
"""Special registers of 32 bits."""
SPECIAL_64 = ("clock64", "globaltimer")
