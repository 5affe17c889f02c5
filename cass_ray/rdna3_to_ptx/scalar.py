"""Scalar instructions, which every thread of the warp does alike."""

from __future__ import annotations

from cass_ray.rdna3_to_ptx.errors import UnknownInstruction
from cass_ray.rdna3_to_ptx.operands import Rdna3Register
from cass_ray.rdna3_to_ptx.table import Rdna3Instruction, translates
from cass_ray.rdna3_to_ptx.wave import Wave

_COMPARE = {"eq": "eq", "lg": "ne", "gt": "gt", "ge": "ge", "lt": "lt", "le": "le"}
_LOGIC = {
    "and": "and.b{n} {{d}}, {a}, {b}",
    "or": "or.b{n} {{d}}, {a}, {b}",
    "xor": "xor.b{n} {{d}}, {a}, {b}",
    "and_not1": "and.b{n} {{d}}, {a}, {c}",
    "or_not1": "or.b{n} {{d}}, {a}, {c}",
}
IGNORED = frozenset((
    "s_nop", "s_waitcnt", "s_waitcnt_vscnt", "s_waitcnt_depctr", "s_delay_alu", "s_clause",
    "s_sendmsg", "s_set_inst_prefetch_distance", "s_sleep", "s_code_end", "buffer_gl0_inv",
    "buffer_gl1_inv", "s_setprio", "s_inst_prefetch", "v_nop",
))  # fmt: skip


def _is_wide(i: Rdna3Instruction) -> bool:
    return i.mnemonic.endswith(("b64", "u64", "i64"))


def _write(wave: Wave, i: Rdna3Instruction, value: str, *, wide: bool) -> None:
    (wave.write64 if wide else wave.write32)(i[0], value)


def _nonzero(wave: Wave, value: str, *, wide: bool) -> None:
    size = 64 if wide else 32
    wave.set_scc(wave.result("pred", f"setp.ne.b{size} {{d}}, {value}, 0"))


@translates("s_mov_{b32,b64}", "s_movk_i32", "s_cmov_b32")
def move(wave: Wave, i: Rdna3Instruction) -> None:
    """Copy; s_cmov only where SCC is set."""
    if _is_wide(i):
        wave.write64(i[0], wave.bits64(i[1]))
        return
    value = wave.bits32(i[1])
    if i.mnemonic == "s_cmov_b32":
        value = wave.result("b32", f"selp.b32 {{d}}, {value}, {wave.bits32(i[0])}, %scc")
    wave.write32(i[0], value)


@translates("s_{and,or,xor,and_not1,or_not1,nand,nor,xnor}_{b32,b64}")
def logic(wave: Wave, i: Rdna3Instruction) -> None:
    """Bitwise; SCC tells whether the result is not zero."""
    wide = _is_wide(i)
    read = wave.bits64 if wide else wave.bits32
    value = _logic(wave, i.mnemonic[2:-4], read(i[1]), read(i[2]), wide=wide)
    _write(wave, i, value, wide=wide)
    _nonzero(wave, value, wide=wide)


def _logic(wave: Wave, name: str, left: str, right: str, *, wide: bool) -> str:
    kind = "b64" if wide else "b32"
    inverted = name in ("nand", "nor", "xnor")
    name = {"nand": "and", "nor": "or", "xnor": "xor"}.get(name, name)
    other = right
    if name.endswith("_not1"):
        other = wave.result(kind, f"not.{kind} {{d}}, {right}")
    template = _LOGIC[name].format(n=kind[1:], a=left, b=right, c=other)
    value = wave.result(kind, template)
    return wave.result(kind, f"not.{kind} {{d}}, {value}") if inverted else value


@translates("s_{and,or,xor,and_not1,or_not1,and_not0,or_not0}_saveexec_b32")
def save_exec(wave: Wave, i: Rdna3Instruction) -> None:
    """Keep EXEC and combine it with a mask."""
    name = i.mnemonic.split("_saveexec")[0][2:]
    before = wave.result("b32", "mov.b32 {d}, %exec")
    mask = wave.result("b32", f"mov.b32 {{d}}, {wave.bits32(i[1])}")
    left, right = (mask, before)  # not1 inverts the second operand, which is EXEC
    if name.endswith("_not0"):
        name, left, right = name.replace("not0", "not1"), before, mask
    value = _logic(wave, name, left, right, wide=False)
    wave.write32(i[0], before)
    wave.write32(Rdna3Register(("exec",)), value)
    _nonzero(wave, value, wide=False)


@translates("s_not_{b32,b64}")
def invert(wave: Wave, i: Rdna3Instruction) -> None:
    """All bits flipped; SCC says whether the result is not zero."""
    wide = _is_wide(i)
    kind = "b64" if wide else "b32"
    source = wave.bits64(i[1]) if wide else wave.bits32(i[1])
    value = wave.result(kind, f"not.{kind} {{d}}, {source}")
    _write(wave, i, value, wide=wide)
    _nonzero(wave, value, wide=wide)


@translates("s_{add,sub}_{u32,i32}", "s_{addc,subb}_u32", "s_addk_i32")
def add(wave: Wave, i: Rdna3Instruction) -> None:
    """Sum or difference; SCC is the carry, the borrow or the signed overflow."""
    if i.mnemonic == "s_addk_i32":
        left, right = wave.bits32(i[0]), wave.bits32(i[1])
    else:
        left, right = wave.bits32(i[1]), wave.bits32(i[2])
    kind = "s32" if i.mnemonic.endswith("i32") else "u32"
    wide = {"s32": "s64", "u32": "u64"}[kind]
    one, two = (
        wave.result("b64", f"cvt.{wide}.{kind} {{d}}, {_held(wave, x)}") for x in (left, right)
    )
    name = "sub" if "sub" in i.mnemonic else "add"
    total = wave.result("b64", f"{name}.s64 {{d}}, {one}, {two}")
    if i.mnemonic in ("s_addc_u32", "s_subb_u32"):
        carry = wave.result("b64", "selp.b64 {d}, 1, 0, %scc")
        total = wave.result("b64", f"{name}.s64 {{d}}, {total}, {carry}")
    value = wave.result("b32", f"cvt.u32.u64 {{d}}, {total}")
    wave.write32(i[0], value)
    again = wave.result("b64", f"cvt.{wide}.{kind} {{d}}, {value}")
    wave.set_scc(wave.result("pred", f"setp.ne.s64 {{d}}, {again}, {total}"))


def _held(wave: Wave, value: str) -> str:
    """A register with ``value``: conversions take no literals."""
    return value if value.startswith("%") else wave.result("b32", f"mov.b32 {{d}}, {value}")


@translates("s_mul_i32", "s_mul_hi_{u32,i32}", "s_mulk_i32")
def multiply(wave: Wave, i: Rdna3Instruction) -> None:
    """Low or high word of a product; SCC stays."""
    if i.mnemonic == "s_mulk_i32":
        left, right = wave.bits32(i[0]), wave.bits32(i[1])
    else:
        left, right = wave.bits32(i[1]), wave.bits32(i[2])
    kind = "hi" if "_hi_" in i.mnemonic else "lo"
    sign = "u32" if i.mnemonic.endswith("u32") else "s32"
    wave.write32(i[0], wave.result("b32", f"mul.{kind}.{sign} {{d}}, {left}, {right}"))


@translates("s_{lshl,lshr,ashr}_{b32,b64,i32,i64}")
def shift(wave: Wave, i: Rdna3Instruction) -> None:
    """Shift by the low bits of the second operand."""
    wide = _is_wide(i)
    size = 64 if wide else 32
    operation = {"lshl": f"shl.b{size}", "lshr": f"shr.u{size}", "ashr": f"shr.s{size}"}
    source = wave.bits64(i[1]) if wide else wave.bits32(i[1])
    amount = wave.result("b32", f"and.b32 {{d}}, {wave.bits32(i[2])}, {size - 1}")
    value = wave.result(f"b{size}", f"{operation[i.mnemonic[2:6]]} {{d}}, {source}, {amount}")
    _write(wave, i, value, wide=wide)
    _nonzero(wave, value, wide=wide)


@translates("s_lshl{1,2,3,4}_add_u32")
def shift_add(wave: Wave, i: Rdna3Instruction) -> None:
    """Shift left and add; SCC is the carry."""
    amount = int(i.mnemonic[6])
    wide = wave.result("b64", f"cvt.u64.u32 {{d}}, {_held(wave, wave.bits32(i[1]))}")
    shifted = wave.result("b64", f"shl.b64 {{d}}, {wide}, {amount}")
    other = wave.result("b64", f"cvt.u64.u32 {{d}}, {_held(wave, wave.bits32(i[2]))}")
    total = wave.result("b64", f"add.u64 {{d}}, {shifted}, {other}")
    wave.write32(i[0], wave.result("b32", f"cvt.u32.u64 {{d}}, {total}"))
    wave.set_scc(wave.result("pred", f"setp.gt.u64 {{d}}, {total}, 0xFFFFFFFF"))


@translates("s_bfe_{u32,i32}")
def bit_field(wave: Wave, i: Rdna3Instruction) -> None:
    """Extract bits: position and width are packed in the second operand."""
    packed = wave.bits32(i[2])
    position = wave.result("b32", f"and.b32 {{d}}, {packed}, 31")
    width = wave.result("b32", f"bfe.u32 {{d}}, {packed}, 16, 7")
    kind = "u32" if i.mnemonic.endswith("u32") else "s32"
    value = wave.result("b32", f"bfe.{kind} {{d}}, {wave.bits32(i[1])}, {position}, {width}")
    wave.write32(i[0], value)
    _nonzero(wave, value, wide=False)


@translates("s_{min,max}_{u32,i32}")
def extreme(wave: Wave, i: Rdna3Instruction) -> None:
    """Smaller or larger; SCC tells whether it is the first."""
    kind = i.mnemonic[6:].replace("i", "s")
    left, right = wave.bits32(i[1]), wave.bits32(i[2])
    order = "lt" if "min" in i.mnemonic else "gt"
    first = wave.result("pred", f"setp.{order}.{kind} {{d}}, {_held(wave, left)}, {right}")
    wave.write32(i[0], wave.result("b32", f"selp.b32 {{d}}, {left}, {right}, {first}"))
    wave.set_scc(first)


@translates("s_cmp_{eq,lg,gt,ge,lt,le}_{u32,i32}", "s_cmp_{eq,lg}_u64")
@translates("s_cmpk_{eq,lg,gt,ge,lt,le}_{u32,i32}")
def compare(wave: Wave, i: Rdna3Instruction) -> None:
    """Compare two scalars; SCC is the result."""
    _, _, order, kind = i.mnemonic.split("_")
    read = wave.bits64 if kind == "u64" else wave.bits32
    left, right = read(i[0]), read(i[1])
    if kind != "u64":
        left = _held(wave, left)
    kind = kind.replace("i", "s")
    wave.set_scc(wave.result("pred", f"setp.{_COMPARE[order]}.{kind} {{d}}, {left}, {right}"))


@translates("s_bitcmp{0,1}_b32")
def compare_bit(wave: Wave, i: Rdna3Instruction) -> None:
    """SCC is whether one bit of a scalar is set, or whether it is not."""
    amount = wave.result("b32", f"and.b32 {{d}}, {wave.bits32(i[1])}, 31")
    shifted = wave.result("b32", f"shr.u32 {{d}}, {wave.bits32(i[0])}, {amount}")
    bit = wave.result("b32", f"and.b32 {{d}}, {shifted}, 1")
    wave.set_scc(wave.result("pred", f"setp.eq.u32 {{d}}, {bit}, {i.mnemonic[8]}"))


@translates("s_cselect_{b32,b64}")
def select(wave: Wave, i: Rdna3Instruction) -> None:
    """The first operand where SCC is set."""
    wide = _is_wide(i)
    kind = "b64" if wide else "b32"
    read = wave.bits64 if wide else wave.bits32
    value = wave.result(kind, f"selp.{kind} {{d}}, {read(i[1])}, {read(i[2])}, %scc")
    _write(wave, i, value, wide=wide)


@translates("s_bcnt1_i32_{b32,b64}", "s_abs_i32")
def count(wave: Wave, i: Rdna3Instruction) -> None:
    """Set bits, or a magnitude; SCC tells whether it is not zero."""
    if i.mnemonic == "s_abs_i32":
        value = wave.result("b32", f"abs.s32 {{d}}, {wave.bits32(i[1])}")
    elif i.mnemonic.endswith("64"):
        value = wave.result("b32", f"popc.b64 {{d}}, {wave.bits64(i[1])}")
    else:
        value = wave.result("b32", f"popc.b32 {{d}}, {wave.bits32(i[1])}")
    wave.write32(i[0], value)
    _nonzero(wave, value, wide=False)


@translates("s_ctz_i32_b32", "s_clz_i32_u32", "s_brev_b32", "s_sext_i32_{i8,i16}")
def bits(wave: Wave, i: Rdna3Instruction) -> None:
    """Positions of bits, -1 if there is none; reversal; sign extension."""
    source = _held(wave, wave.bits32(i[1]))
    if i.mnemonic == "s_brev_b32":
        value = wave.result("b32", f"brev.b32 {{d}}, {source}")
    elif i.mnemonic.startswith("s_sext"):
        size = i.mnemonic.rpartition("i")[2]
        value = wave.result("b32", f"bfe.s32 {{d}}, {source}, 0, {size}")
    else:
        if "ctz" in i.mnemonic:
            source = wave.result("b32", f"brev.b32 {{d}}, {source}")
        zeros = wave.result("b32", f"clz.b32 {{d}}, {source}")
        none = wave.result("pred", f"setp.eq.u32 {{d}}, {source}, 0")
        value = wave.result("b32", f"selp.b32 {{d}}, -1, {zeros}, {none}")
    wave.write32(i[0], value)


@translates("s_bitset{0,1}_b32")
def set_bit(wave: Wave, i: Rdna3Instruction) -> None:
    """Clear or set one bit of the destination."""
    amount = wave.result("b32", f"and.b32 {{d}}, {wave.bits32(i[1])}, 31")
    bit = wave.result("b32", f"shl.b32 {{d}}, 1, {amount}")
    if "set1" in i.mnemonic:
        value = wave.result("b32", f"or.b32 {{d}}, {wave.bits32(i[0])}, {bit}")
    else:
        others = wave.result("b32", f"not.b32 {{d}}, {bit}")
        value = wave.result("b32", f"and.b32 {{d}}, {wave.bits32(i[0])}, {others}")
    wave.write32(i[0], value)


@translates("s_pack_{ll,lh,hh}_b32_b16")
def pack(wave: Wave, i: Rdna3Instruction) -> None:
    """Low and high halves of two scalars in one."""
    selector = {"ll": "0x5410", "lh": "0x7610", "hh": "0x7632"}[i.mnemonic[7:9]]
    left, right = _held(wave, wave.bits32(i[1])), wave.bits32(i[2])
    wave.write32(i[0], wave.result("b32", f"prmt.b32 {{d}}, {left}, {right}, {selector}"))


@translates("s_getpc_b64")
def program_counter(wave: Wave, i: Rdna3Instruction) -> None:
    """Zero: what is added to it is the whole address of a symbol (``wave.Wave.bits32``)."""
    wave.write64(i[0], "0")


@translates("s_load_{b32,b64,b128,b256,b512}")
def load(wave: Wave, i: Rdna3Instruction) -> None:
    """Words from memory; the kernel's arguments are memory too."""
    i.allow("offset", "glc", "dlc")
    base, target = i[1], i[0]
    address = wave.bits64(base)
    if len(i.operands) > 2 and i.operands[2] != "null":
        offset = _held(wave, wave.bits32(i[2]))
        wide = wave.result("b64", f"cvt.s64.s32 {{d}}, {offset}")
        address = wave.result("b64", f"add.s64 {{d}}, {address}, {wide}")
    if not isinstance(target, Rdna3Register):
        raise UnknownInstruction(i.text, "no destination")
    added = i.number("offset")
    values = [
        wave.result("b32", f"ld.b32 {{d}}, [{address}+{added + 4 * word}]")
        for word in range(int(i.mnemonic[8:]) // 32)
    ]
    for word, value in enumerate(values):
        wave.write32(target, value, word)
