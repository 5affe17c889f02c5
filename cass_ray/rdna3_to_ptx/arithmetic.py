"""Vector instructions of floating-point numbers: arithmetic, conversions, comparisons."""

from __future__ import annotations

from pathlib import Path

from cass_ray.assembly.mnemonic_patterns import expand
from cass_ray.csv_tables import read_mapping
from cass_ray.rdna3_to_ptx.operands import Literal, Rdna3Operand
from cass_ray.rdna3_to_ptx.table import Rdna3Instruction, translates
from cass_ray.rdna3_to_ptx.vector import write_comparison
from cass_ray.rdna3_to_ptx.wave import Wave, float_literal

_TWO_PI = 6.283185307179586
_LARGEST_FRACTION = "0f3F7FFFFF"
_SIMPLE = {
    "add": "add.rn.{k} {d}, {0}, {1}",
    "sub": "sub.rn.{k} {d}, {0}, {1}",
    "subrev": "sub.rn.{k} {d}, {1}, {0}",
    "mul": "mul.rn.{k} {d}, {0}, {1}",
    "fma": "fma.rn.{k} {d}, {0}, {1}, {2}",
    "min": "min.{k} {d}, {0}, {1}",
    "max": "max.{k} {d}, {0}, {1}",
    "trunc": "cvt.rzi.{k}.{k} {d}, {0}",
    "ceil": "cvt.rpi.{k}.{k} {d}, {0}",
    "floor": "cvt.rmi.{k}.{k} {d}, {0}",
    "rndne": "cvt.rni.{k}.{k} {d}, {0}",
}
_APPROXIMATE = read_mapping(Path(__file__).with_name("approximate.csv"))
_CONVERSIONS = read_mapping(Path(__file__).with_name("conversions.csv"))
_KINDS = {"f16": "b16", "f32": "f32", "f64": "f64"}


def read(wave: Wave, operand: Rdna3Operand, kind: str) -> str:
    """A value of ``kind`` (f16, f32, f64, u32 …) with its modifiers, in a register."""
    if kind == "f32":
        return wave.result("f32", f"mov.b32 {{d}}, {wave.float32(operand)}")
    if kind == "f64":
        return wave.result("f64", f"mov.b64 {{d}}, {wave.float64(operand)}")
    if kind == "f16":
        return wave.float16(operand)
    value = wave.result("b32", f"mov.b32 {{d}}, {wave.bits32(operand)}")
    return wave.result("b16", f"cvt.u16.u32 {{d}}, {value}") if kind[1:] == "16" else value


def write(wave: Wave, i: Rdna3Instruction, value: str, kind: str) -> None:
    """Set the destination to a value of ``kind``, clamped to [0, 1] if the instruction says so."""
    i.allow("clamp")
    if "clamp" in i.modifiers:
        value = wave.result(_KINDS[kind], f"cvt.sat.{kind}.{kind} {{d}}, {value}")
    if kind == "f64":
        wave.write64(i[0], value)
    elif kind[1:] == "16":
        wave.write32(i[0], wave.result("b32", f"cvt.u32.u16 {{d}}, {value}"))
    else:
        wave.write32(i[0], value)


def _apply(wave: Wave, template: str, kind: str, values: list[str]) -> str:
    text = template.replace("{d}", "{{d}}").format(*values, k=kind)
    return wave.result(_KINDS.get(kind, "b32"), text)


@translates("v_{add,sub,subrev,mul,fma,min,max}_{f16,f32,f64}")
@translates("v_{trunc,ceil,floor,rndne}_{f16,f32,f64}")
def simple(wave: Wave, i: Rdna3Instruction) -> None:
    """One PTX instruction, rounded to nearest."""
    _, name, kind = i.mnemonic.split("_")
    values = [read(wave, i[n], kind) for n in range(1, len(i.operands))]
    write(wave, i, _apply(wave, _SIMPLE[name], kind, values), kind)


@translates("v_fmac_{f16,f32,f64}", "v_fmaak_f32", "v_fmamk_f32")
def multiply_add(wave: Wave, i: Rdna3Instruction) -> None:
    """Fused; the addend is the destination, or a literal that is an operand."""
    kind = i.mnemonic.rpartition("_")[2]
    values = [read(wave, i[n], kind) for n in range(1, len(i.operands))]
    if "fmac" in i.mnemonic:
        values.append(read(wave, i[0], kind))
    write(wave, i, _apply(wave, _SIMPLE["fma"], kind, values), kind)


@translates(*_APPROXIMATE)
def approximate(wave: Wave, i: Rdna3Instruction) -> None:
    """What both makers' manuals give an error bound for."""
    kind = i.mnemonic.rpartition("_")[2]
    value = read(wave, i[1], kind)
    write(wave, i, _apply(wave, _APPROXIMATE[i.mnemonic], kind, [value]), kind)


@translates("v_{sin,cos}_f32")
def circular(wave: Wave, i: Rdna3Instruction) -> None:
    """The argument is in revolutions."""
    turns = read(wave, i[1], "f32")
    whole = wave.result("f32", f"cvt.rni.f32.f32 {{d}}, {turns}")
    rest = wave.result("f32", f"sub.rn.f32 {{d}}, {turns}, {whole}")
    angle = wave.result("f32", f"mul.rn.f32 {{d}}, {rest}, {float_literal(_TWO_PI)}")
    write(wave, i, wave.result("f32", f"{i.mnemonic[2:5]}.approx.f32 {{d}}, {angle}"), "f32")


@translates("v_fract_{f32,f64}")
def fraction(wave: Wave, i: Rdna3Instruction) -> None:
    """x - floor(x), never 1: the largest number below it instead."""
    kind = i.mnemonic[-3:]
    largest = _LARGEST_FRACTION if kind == "f32" else "0d3FEFFFFFFFFFFFFF"
    value = read(wave, i[1], kind)
    floor = wave.result(kind, f"cvt.rmi.{kind}.{kind} {{d}}, {value}")
    rest = wave.result(kind, f"sub.rn.{kind} {{d}}, {value}, {floor}")
    write(wave, i, wave.result(kind, f"min.{kind} {{d}}, {rest}, {largest}"), kind)


@translates("v_{min3,max3,med3,maxmin,minmax}_f32", "v_med3_{i32,u32}")
def three(wave: Wave, i: Rdna3Instruction) -> None:
    """Smallest, largest or middle of three."""
    _, name, kind = i.mnemonic.split("_")
    one, two, third = (read(wave, i[n], kind) for n in (1, 2, 3))
    ptx = kind.replace("i", "s")
    register = "f32" if kind == "f32" else "b32"

    def op(which: str, left: str, right: str) -> str:
        return wave.result(register, f"{which}.{ptx} {{d}}, {left}, {right}")

    if name == "med3":
        lower, upper = op("min", one, two), op("max", one, two)
        result = op("max", lower, op("min", upper, third))
    else:
        first = name[:3]
        second = {"maxmin": "min", "minmax": "max"}.get(name, first)
        result = op(second, op(first, one, two), third)
    write(wave, i, result, kind)


@translates("v_ldexp_{f32,f64}")
def scale(wave: Wave, i: Rdna3Instruction) -> None:
    """Times a power of two, rounded once: in double precision, by two factors for doubles."""
    kind = i.mnemonic[-3:]
    value = read(wave, i[1], kind)
    limit = 400 if kind == "f32" else 2100
    amount = wave.result("b32", f"max.s32 {{d}}, {wave.bits32(i[2])}, {-limit}")
    amount = wave.result("b32", f"min.s32 {{d}}, {amount}, {limit}")
    if kind == "f32":
        wide = wave.result("f64", f"cvt.f64.f32 {{d}}, {value}")
        wide = wave.result("f64", f"mul.rn.f64 {{d}}, {wide}, {_power(wave, amount)}")
        write(wave, i, wave.result("f32", f"cvt.rn.f32.f64 {{d}}, {wide}"), "f32")
        return
    # The first factors are exact unless the result overflows or is 0 whatever they do.
    for _ in range(2):
        third = wave.result("b32", f"max.s32 {{d}}, {amount}, -1000")
        third = wave.result("b32", f"min.s32 {{d}}, {third}, 1000")
        is_large = wave.result("pred", f"setp.gt.s32 {{d}}, {amount}, -1022")
        third = wave.result("b32", f"selp.b32 {{d}}, {third}, 0, {is_large}")
        value = wave.result("f64", f"mul.rn.f64 {{d}}, {value}, {_power(wave, third)}")
        amount = wave.result("b32", f"sub.s32 {{d}}, {amount}, {third}")
    value = wave.result("f64", f"mul.rn.f64 {{d}}, {value}, {_power(wave, amount)}")
    write(wave, i, value, "f64")


def _power(wave: Wave, exponent: str) -> str:
    """2 to an exponent that a normal double has; others are taken to the nearest."""
    biased = wave.result("b32", f"add.s32 {{d}}, {exponent}, 1023")
    biased = wave.result("b32", f"max.s32 {{d}}, {biased}, 1")
    biased = wave.result("b32", f"min.s32 {{d}}, {biased}, 2046")
    high = wave.result("b32", f"shl.b32 {{d}}, {biased}, 20")
    return wave.result("f64", f"mov.b64 {{d}}, {{{{0, {high}}}}}")


@translates("v_div_scale_{f32,f64}")
def divide_scale(wave: Wave, i: Rdna3Instruction) -> None:
    """Start of a division, which v_div_fixup does as a whole: the operand as it is."""
    kind = i.mnemonic[-3:]
    value = read(wave, i[2], kind)
    wave.write_mask(i[1], wave.result("pred", "setp.ne.u32 {d}, %lane, %lane"))
    (wave.write64 if kind == "f64" else wave.write32)(i[0], value)


@translates("v_div_fmas_{f32,f64}")
def divide_step(wave: Wave, i: Rdna3Instruction) -> None:
    """A step of a division; its result is an operand of v_div_fixup only."""
    kind = i.mnemonic[-3:]
    values = [read(wave, i[n], kind) for n in (1, 2, 3)]
    write(wave, i, _apply(wave, _SIMPLE["fma"], kind, values), kind)


@translates("v_div_fixup_{f32,f64}")
def divide(wave: Wave, i: Rdna3Instruction) -> None:
    """The end of a division: numerator by denominator, correctly rounded as the steps make it."""
    kind = i.mnemonic[-3:]
    denominator, numerator = (read(wave, i[n], kind) for n in (2, 3))
    write(wave, i, wave.result(kind, f"div.rn.{kind} {{d}}, {numerator}, {denominator}"), kind)


@translates(*_CONVERSIONS)
def convert(wave: Wave, i: Rdna3Instruction) -> None:
    """Between numbers, rounded to nearest or to zero and saturated."""
    target, source = i.mnemonic.removeprefix("v_cvt_").split("_")
    value = read(wave, i[1], source)
    register = _KINDS.get(target, "b16" if target[1:] == "16" else "b32")
    result = wave.result(register, f"{_CONVERSIONS[i.mnemonic]} {{d}}, {value}")
    write(wave, i, result, target)


@translates("v_cvt_f32_ubyte{0,1,2,3}")
def convert_byte(wave: Wave, i: Rdna3Instruction) -> None:
    """The byte that the mnemonic numbers, as a float."""
    value = read(wave, i[1], "u32")
    byte = wave.result("b32", f"bfe.u32 {{d}}, {value}, {8 * int(i.mnemonic[-1])}, 8")
    write(wave, i, wave.result("f32", f"cvt.rn.f32.u32 {{d}}, {byte}"), "f32")


@translates("v_frexp_mant_f32", "v_frexp_exp_i32_f32")
def split(wave: Wave, i: Rdna3Instruction) -> None:
    """Significand in [0.5, 1) and exponent; 0, infinities and NaN stay, with exponent 0."""
    value = read(wave, i[1], "f32")
    wide = wave.result("f64", f"cvt.f64.f32 {{d}}, {value}")
    low, high = wave.temporary(), wave.temporary()
    wave.line(f"mov.b64 {{{low}, {high}}}, {wide}")
    is_normal = wave.result("pred", f"testp.normal.f64 {{d}}, {wide}")
    if "exp" in i.mnemonic.split("frexp_")[1]:
        biased = wave.result("b32", f"bfe.u32 {{d}}, {high}, 20, 11")
        exponent = wave.result("b32", f"sub.s32 {{d}}, {biased}, 1022")
        wave.write32(i[0], wave.result("b32", f"selp.b32 {{d}}, {exponent}, 0, {is_normal}"))
        return
    kept = wave.result("b32", f"lop3.b32 {{d}}, {high}, 0x800FFFFF, 0x3FE00000, 0xEA")
    half = wave.result("f64", f"mov.b64 {{d}}, {{{{{low}, {kept}}}}}")
    result = wave.result("f32", f"cvt.rn.f32.f64 {{d}}, {half}")
    write(wave, i, wave.result("f32", f"selp.f32 {{d}}, {result}, {value}, {is_normal}"), "f32")


_ORDERS = {
    "lt": "lt", "eq": "eq", "le": "le", "gt": "gt", "lg": "ne", "ge": "ge", "o": "num",
    "u": "nan", "nge": "ltu", "nlg": "equ", "ngt": "leu", "nle": "gtu", "neq": "neu",
    "nlt": "geu",
}  # fmt: skip


@translates(*expand("v_cmp{,x}_{" + ",".join(_ORDERS) + "}_{f16,f32,f64}"))
def compare(wave: Wave, i: Rdna3Instruction) -> None:
    """Compare floats in each lane; the mask of lanes goes to a scalar register or EXEC."""
    i.allow()
    _, order, kind = i.mnemonic.removeprefix("v_").split("_")
    first = len(i.operands) - 2
    left, right = (read(wave, i[first + n], kind) for n in (0, 1))
    predicate = wave.result("pred", f"setp.{_ORDERS[order]}.{kind} {{d}}, {left}, {right}")
    write_comparison(wave, i, predicate)


@translates("v_cmp{,x}_class_{f32,f64}")
def classify(wave: Wave, i: Rdna3Instruction) -> None:
    """Whether a float is of one of the classes in a constant mask (ISA 16.12)."""
    i.allow()
    kind = i.mnemonic[-3:]
    first = len(i.operands) - 2
    mask = i[first + 1]
    value = read(wave, i[first], kind)
    size = int(kind[1:])
    bits = wave.result(f"b{size}", f"mov.b{size} {{d}}, {value}")
    fraction, quiet = (23, 1 << 22) if size == 32 else (52, 1 << 51)
    infinity = (0xFF << 23) if size == 32 else (0x7FF << 52)
    magnitude = wave.result(f"b{size}", f"and.b{size} {{d}}, {bits}, {(1 << size - 1) - 1}")
    negative = wave.result("pred", f"setp.lt.s{size} {{d}}, {bits}, 0")
    tests = {
        0: f"setp.gt.u{size} {{d}}, {magnitude}, {infinity}",
        4: f"setp.eq.u{size} {{d}}, {magnitude}, {infinity}",
        16: f"setp.ge.u{size} {{d}}, {magnitude}, {1 << fraction}",
        128: f"setp.ne.u{size} {{d}}, {magnitude}, 0",
    }
    is_nan, is_infinite, is_big, is_something = (wave.result("pred", t) for t in tests.values())
    is_quiet = wave.result("pred", f"setp.ge.u{size} {{d}}, {magnitude}, {infinity | quiet}")
    # The bit of the value's class: signalling NaN, quiet NaN, -inf … -0, +0 … +inf.
    place = wave.result("b32", f"selp.b32 {{d}}, 4, 5, {is_something}")
    place = wave.result("b32", f"selp.b32 {{d}}, 3, {place}, {is_big}")
    place = wave.result("b32", f"selp.b32 {{d}}, 2, {place}, {is_infinite}")
    mirrored = wave.result("b32", f"sub.s32 {{d}}, 11, {place}")
    place = wave.result("b32", f"selp.b32 {{d}}, {place}, {mirrored}, {negative}")
    place = wave.result("b32", f"selp.b32 {{d}}, 0, {place}, {is_nan}")
    place = wave.result("b32", f"selp.b32 {{d}}, 1, {place}, {is_quiet}")
    given = wave.bits32(mask) if not isinstance(mask, Literal) else f"0x{mask.bits(32):X}"
    given = wave.result("b32", f"mov.b32 {{d}}, {given}")
    shifted = wave.result("b32", f"shr.u32 {{d}}, {given}, {place}")
    one = wave.result("b32", f"and.b32 {{d}}, {shifted}, 1")
    write_comparison(wave, i, wave.result("pred", f"setp.ne.u32 {{d}}, {one}, 0"))
