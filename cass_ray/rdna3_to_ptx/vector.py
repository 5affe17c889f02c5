"""Vector instructions of integers: arithmetic, logic, comparisons, selections."""

from __future__ import annotations

from pathlib import Path

from cass_ray.assembly.mnemonic_patterns import expand
from cass_ray.csv_tables import read_mapping
from cass_ray.rdna3_to_ptx.operands import Rdna3Operand, Rdna3Register
from cass_ray.rdna3_to_ptx.table import Rdna3Instruction, translates
from cass_ray.rdna3_to_ptx.wave import Wave

_THREE = read_mapping(Path(__file__).with_name("vector_pairs.csv"))
"""Mnemonic -> two PTX instructions, of which the second takes the first's result."""
_SIMPLE = read_mapping(Path(__file__).with_suffix(".csv"))
"""Mnemonic -> the PTX instruction that does the same with its operands."""
_ORDERS = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}


def _held(wave: Wave, value: str) -> str:
    return value if value.startswith("%") else wave.result("b32", f"mov.b32 {{d}}, {value}")


def sources(wave: Wave, i: Rdna3Instruction, first: int = 1) -> list[str]:
    """All operands from ``first`` on, in registers."""
    return [_held(wave, wave.bits32(i[n])) for n in range(first, len(i.operands))]


@translates(*_SIMPLE)
def simple(wave: Wave, i: Rdna3Instruction) -> None:
    """What one PTX instruction does with the same operands."""
    i.allow()
    template = _SIMPLE[i.mnemonic].replace("{d}", "{{d}}")
    wave.write32(i[0], wave.result("b32", template.format(*sources(wave, i))))


@translates("v_mul_hi_{u32_u24,i32_i24}")
def multiply_high_of_24(wave: Wave, i: Rdna3Instruction) -> None:
    """Bits 32 to 47 of a product of 24-bit integers; PTX's mul24.hi gives bits 16 to 47."""
    i.allow()
    kind = "u32" if i.mnemonic.endswith("u24") else "s32"
    left, right = (
        wave.result("b32", f"bfe.{kind} {{d}}, {value}, 0, 24") for value in sources(wave, i)
    )
    wave.write32(i[0], wave.result("b32", f"mul.hi.{kind} {{d}}, {left}, {right}"))


@translates(*_THREE)
def three(wave: Wave, i: Rdna3Instruction) -> None:
    """Two PTX instructions, one after the other; shifts take five bits."""
    i.allow()
    one, two, third = sources(wave, i)
    first, second = _THREE[i.mnemonic].split()
    if first == "shl.b32":
        two = wave.result("b32", f"and.b32 {{d}}, {two}, 31")
    if second == "shl.b32":
        third = wave.result("b32", f"and.b32 {{d}}, {third}, 31")
    middle = wave.result("b32", f"{first} {{d}}, {one}, {two}")
    wave.write32(i[0], wave.result("b32", f"{second} {{d}}, {middle}, {third}"))


@translates("v_{lshlrev,lshrrev,ashrrev}_{b32,i32}")
def shift(wave: Wave, i: Rdna3Instruction) -> None:
    """Shift of the second operand by the first."""
    i.allow()
    amount, value = sources(wave, i)
    operation = {"lshl": "shl.b32", "lshr": "shr.u32", "ashr": "shr.s32"}[i.mnemonic[2:6]]
    amount = wave.result("b32", f"and.b32 {{d}}, {amount}, 31")
    wave.write32(i[0], wave.result("b32", f"{operation} {{d}}, {value}, {amount}"))


@translates("v_{lshlrev,lshrrev,ashrrev}_{b64,i64}")
def shift_wide(wave: Wave, i: Rdna3Instruction) -> None:
    """Shift of a pair of registers; the amount is the first operand, modulo 64."""
    i.allow()
    operation = {"lshl": "shl.b64", "lshr": "shr.u64", "ashr": "shr.s64"}[i.mnemonic[2:6]]
    amount = wave.result("b32", f"and.b32 {{d}}, {wave.bits32(i[1])}, 63")
    value = wave.bits64(i[2])
    wave.write64(i[0], wave.result("b64", f"{operation} {{d}}, {value}, {amount}"))


@translates("v_bfe_{u32,i32}")
def bit_field(wave: Wave, i: Rdna3Instruction) -> None:
    """Extract bits; position and width take five bits."""
    i.allow()
    value, position, width = sources(wave, i)
    position = wave.result("b32", f"and.b32 {{d}}, {position}, 31")
    width = wave.result("b32", f"and.b32 {{d}}, {width}, 31")
    kind = "u32" if i.mnemonic.endswith("u32") else "s32"
    wave.write32(i[0], wave.result("b32", f"bfe.{kind} {{d}}, {value}, {position}, {width}"))


@translates("v_{alignbit,alignbyte}_b32")
def align(wave: Wave, i: Rdna3Instruction) -> None:
    """The low word of a pair shifted right."""
    i.allow()
    high, low, amount = sources(wave, i)
    if "byte" in i.mnemonic:
        amount = wave.result("b32", f"shl.b32 {{d}}, {amount}, 3")
    wave.write32(i[0], wave.result("b32", f"shf.r.wrap.b32 {{d}}, {low}, {high}, {amount}"))


@translates("v_perm_b32")
def permute(wave: Wave, i: Rdna3Instruction) -> None:
    """Bytes of {first, second}; selectors from 8 on are constants (ISA 16.9)."""
    i.allow()
    high, low, selector = sources(wave, i)
    # Selectors 0 to 7 are those of prmt with the operands exchanged, 12 is zero, 13 and more ones.
    narrowed = wave.result("b32", "mov.b32 {d}, 0")
    for byte in range(4):
        one = wave.result("b32", f"bfe.u32 {{d}}, {selector}, {8 * byte}, 8")
        picked = wave.result("b32", f"prmt.b32 {{d}}, {low}, {high}, {one}")
        picked = wave.result("b32", f"and.b32 {{d}}, {picked}, 255")
        is_ones = wave.result("pred", f"setp.ge.u32 {{d}}, {one}, 13")
        is_zero = wave.result("pred", f"setp.eq.u32 {{d}}, {one}, 12")
        picked = wave.result("b32", f"selp.b32 {{d}}, 255, {picked}, {is_ones}")
        picked = wave.result("b32", f"selp.b32 {{d}}, 0, {picked}, {is_zero}")
        narrowed = wave.result("b32", f"bfi.b32 {{d}}, {picked}, {narrowed}, {8 * byte}, 8")
    wave.write32(i[0], narrowed)


@translates("v_{ffbh_u32,ffbl_b32,clz_i32_u32,ctz_i32_b32,cls_i32}", "v_bcnt_u32_b32")
def count(wave: Wave, i: Rdna3Instruction) -> None:
    """Positions of bits, -1 if there is none; bits set, added to the second operand."""
    i.allow()
    given = sources(wave, i)
    if i.mnemonic == "v_bcnt_u32_b32":
        bits = wave.result("b32", f"popc.b32 {{d}}, {given[0]}")
        wave.write32(i[0], wave.result("b32", f"add.u32 {{d}}, {bits}, {given[1]}"))
        return
    source = given[0]
    if "ffbl" in i.mnemonic or "ctz" in i.mnemonic:
        source = wave.result("b32", f"brev.b32 {{d}}, {source}")
    if "cls" in i.mnemonic:
        sign = wave.result("b32", f"shr.s32 {{d}}, {source}, 31")
        source = wave.result("b32", f"xor.b32 {{d}}, {source}, {sign}")
    zeros = wave.result("b32", f"clz.b32 {{d}}, {source}")
    none = wave.result("pred", f"setp.eq.u32 {{d}}, {source}, 0")
    wave.write32(i[0], wave.result("b32", f"selp.b32 {{d}}, -1, {zeros}, {none}"))


@translates("v_{add,sub,subrev}_co_u32", "v_{add,sub,subrev}_co_ci_u32")
def with_carry(wave: Wave, i: Rdna3Instruction) -> None:
    """Sum or difference with the carry or borrow in a mask."""
    i.allow()
    target, carry_out, left, right = i[0], i[1], i[2], i[3]
    if "rev" in i.mnemonic:
        left, right = right, left
    one, two = (
        wave.result("b64", f"cvt.u64.u32 {{d}}, {_held(wave, wave.bits32(x))}")
        for x in (left, right)
    )
    name = "add" if "_add_" in i.mnemonic else "sub"
    total = wave.result("b64", f"{name}.s64 {{d}}, {one}, {two}")
    if "_ci_" in i.mnemonic:
        carry = wave.result("b64", f"selp.b64 {{d}}, 1, 0, {wave.lane_bit(i[4])}")
        total = wave.result("b64", f"{name}.s64 {{d}}, {total}, {carry}")
    out = wave.result("pred", f"setp.gt.u64 {{d}}, {total}, 0xFFFFFFFF")
    wave.write32(target, wave.result("b32", f"cvt.u32.u64 {{d}}, {total}"))
    if not (isinstance(carry_out, Rdna3Register) and carry_out.is_null):
        wave.write_mask(carry_out, out)


@translates("v_mad_{u64_u32,i64_i32}")
def multiply_wide(wave: Wave, i: Rdna3Instruction) -> None:
    """Product of words plus a pair; the carry in the mask."""
    i.allow()
    kind = "u" if i.mnemonic.endswith("u32") else "s"
    left, right = (_held(wave, wave.bits32(i[n])) for n in (2, 3))
    addend = wave.bits64(i[4])
    product = wave.result("b64", f"mul.wide.{kind}32 {{d}}, {left}, {right}")
    total = wave.result("b64", f"add.{kind}64 {{d}}, {product}, {addend}")
    if not (isinstance(i[1], Rdna3Register) and i[1].is_null):
        wave.write_mask(i[1], wave.result("pred", f"setp.lt.u64 {{d}}, {total}, {addend}"))
    wave.write64(i[0], total)


_COMPARISONS = expand("v_cmp{,x}_{eq,ne,lt,le,gt,ge}_{i32,u32,i64,u64,i16,u16}")


@translates(*_COMPARISONS)
def compare(wave: Wave, i: Rdna3Instruction) -> None:
    """A mask from comparing integers."""
    i.allow()
    _, order, kind = i.mnemonic.removeprefix("v_").split("_")
    sign = kind[0].replace("i", "s")
    size = kind[1:]

    def read(operand: Rdna3Operand) -> str:
        if size == "64":
            return wave.bits64(operand)
        value = _held(wave, wave.bits32(operand))
        return wave.result("b16", f"cvt.u16.u32 {{d}}, {value}") if size == "16" else value

    first = len(i.operands) - 2
    left, right = read(i[first]), read(i[first + 1])
    predicate = wave.result("pred", f"setp.{_ORDERS[order]}.{sign}{size} {{d}}, {left}, {right}")
    write_comparison(wave, i, predicate)


def write_comparison(wave: Wave, i: Rdna3Instruction, predicate: str) -> None:
    """Set the mask that a comparison names: EXEC for v_cmpx."""
    if i.mnemonic.startswith("v_cmpx"):
        wave.write_mask(Rdna3Register(("exec",)), predicate)
    else:
        wave.write_mask(i[0] if len(i.operands) == 3 else Rdna3Register(("vcc_lo",)), predicate)


@translates("v_cndmask_b32")
def select(wave: Wave, i: Rdna3Instruction) -> None:
    """The second operand where the mask is set."""
    i.allow()
    mask = wave.lane_bit(i[3] if len(i.operands) > 3 else Rdna3Register(("vcc_lo",)))
    left, right = (wave.float32(i[n]) if _has_sign(i[n]) else wave.bits32(i[n]) for n in (1, 2))
    wave.write32(i[0], wave.result("b32", f"selp.b32 {{d}}, {right}, {left}, {mask}"))


def _has_sign(operand: Rdna3Operand) -> bool:
    return isinstance(operand, Rdna3Register) and (operand.negated or operand.absolute)


@translates("v_{and,or,xor,add,sub,lshlrev,lshrrev,ashrrev,mul_lo}_{b16,u16,i16}")
@translates("v_{add,sub}_nc_{u16,i16}", "v_{min,max}_{u16,i16}", "v_mad_{u16,i16}")
def sixteen(wave: Wave, i: Rdna3Instruction) -> None:
    """Low halves; the result's high half is zero, as with the destination's kept bits ignored."""
    i.allow()
    name = i.mnemonic[2:].rpartition("_")[0].removesuffix("_nc")
    kind = i.mnemonic.rpartition("_")[2].replace("i", "s")
    halves = [wave.result("b16", f"cvt.u16.u32 {{d}}, {x}") for x in sources(wave, i)]
    if name in ("and", "or", "xor"):
        result = wave.result("b16", f"{name}.b16 {{d}}, {halves[0]}, {halves[1]}")
    elif name in ("lshlrev", "lshrrev", "ashrrev"):
        operation = {"lshlrev": "shl.b16", "lshrrev": "shr.u16", "ashrrev": "shr.s16"}[name]
        wide = wave.result("b32", f"cvt.u32.u16 {{d}}, {halves[0]}")
        amount = wave.result("b32", f"and.b32 {{d}}, {wide}, 15")
        result = wave.result("b16", f"{operation} {{d}}, {halves[1]}, {amount}")
    elif name == "mad":
        result = wave.result("b16", f"mad.lo.{kind} {{d}}, {', '.join(halves)}")
    else:
        operation = name.replace("mul_lo", "mul.lo")
        result = wave.result("b16", f"{operation}.{kind} {{d}}, {halves[0]}, {halves[1]}")
    wave.write32(i[0], wave.result("b32", f"cvt.u32.u16 {{d}}, {result}"))
