"""Write ``data/*.npz``: operands and results of vector instructions, from AMD's own text.

The results are those of the pseudo-code in AMD's "Instruction Set Architecture" manuals of RDNA3,
RDNA4 and CDNA; of the last, instructions that gfx942 has (LLVM says which). The
package ``tinygrad`` carries that text, extracted from the manual; only this script needs it:

    pip download --no-deps tinygrad==0.14.0 -d FOLDER && unzip -d FOLDER FOLDER/tinygrad-*.whl
    PYTHONPATH=FOLDER python -m tests.emulator.engine.instructions.generate

Where the text is approximate (it rounds twice, or leaves a function undefined), ``EXACT`` below has
a definition of our own.
"""

from __future__ import annotations

import enum
import functools
import importlib
import json
import random
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from cass_ray.emulator.isa.opcode_table import operation_named
from cass_ray.emulator.isa.probe import probe
from tests.emulator.engine.instructions import pseudocode
from tests.emulator.engine.instructions.pseudocode import NotSupported, Value

FOLDER = Path(__file__).parent / "data"
CASES = 128


@dataclass(frozen=True)
class Manual:
    """A manual's text in the package, and the data file made of it."""

    package: str
    file: str
    instruction_set: str

    @property
    def table(self) -> dict[enum.Enum, str]:
        """The text by instruction."""
        module = importlib.import_module(f"tinygrad.runtime.autogen.amd.{self.package}.str_pcode")
        found: dict[enum.Enum, str] = module.PCODE
        return found

    @functools.cached_property
    def mnemonics(self) -> frozenset[str]:
        """Those that LLVM has for the instruction set, with the ``_e64`` of the long form only."""
        return frozenset(item.mnemonic for item in probe(self.instruction_set))

    def operation(self, mnemonic: str) -> str:
        """What the engine calls it."""
        return operation_named(mnemonic, self.instruction_set)


MANUALS = (
    Manual("rdna3", "vectors.npz", "gfx11"),
    Manual("cdna", "vectors_gfx942.npz", "gfx942"),
    Manual("rdna4", "vectors_gfx12.npz", "gfx12"),
)

_SHORT, _LONG = ("VOP1", "VOP2", "VOPC"), ("VOP3", "VOP3SD")
_FORMATS = ("VOP1Op", "VOP2Op", "VOP3Op", "VOP3POp", "VOP3SDOp", "VOPCOp")
# Tested by tolerance, across lanes or elsewhere, or with inner roundings that are open.
_ELSEWHERE = re.compile(
    r"V_(RCP|RSQ|SQRT|EXP_F|LOG|SIN|COS|TRIG|READ|WRITE|PERMLANE|MOVREL|SWAP|DIV_SCALE|DIV_FMAS|WMMA"
    r"|CMPX|MBCNT|FMA_MIX|MQSAD_U32|NOP|PIPEFLUSH|DOT2_F16|DOT2_BF16|FMAMK|FMAAK|.*INTERP|CNDMASK_B16|MOV_B16"
    r"|MFMA|SMFMAC|SWMMAC|S_|DOT4_F32|PK_(ADD|MUL|FMA)_F32|PK_MOV|CVT_.*(FP8|BF8)|MAD[AM]K)"
)
_TRAP_STATUS = re.compile(r"^if [^\n]*then\nTRAPSTS\.\w+ = 1\nendif;?\n", re.MULTILINE)
# Of CDNA: what RDNA3's text defines better, and what the engine does not have.
_NOT_OF_CDNA = re.compile(r"V_(PK_M(IN|AX)_F16|DIV_FIXUP_LEGACY_F16|CVT_PKACCUM_U8_F32)")
_PACKED_FLOAT = re.compile(r"V_PK_\w+_F16")
_FLOAT_EDGES = {
    16: [
        0,
        1,
        0x200,
        0x3FF,
        0x400,
        0x401,
        0x37FF,
        0x3800,
        0x3C00,
        0x3C01,
        0x3E00,
        0x4100,
        0x6400,
        0x77FF,
        0x7800,
        0x7BFF,
        0x7C00,
        0x7C01,
        0x7E00,
        0x7FFF,
    ],
    32: [
        0,
        1,
        0x400000,
        0x7FFFFF,
        0x800000,
        0x800001,
        0x33800000,
        0x38800000,
        0x3EFFFFFF,
        0x3F000000,
        0x3F800000,
        0x3F800001,
        0x3FC00000,
        0x40200000,
        0x437F8000,
        0x477FE000,
        0x477FF000,
        0x4B000001,
        0x4EFFFFFF,
        0x4F000000,
        0x4F7FFFFF,
        0x4F800000,
        0x7F7FFFFF,
        0x7F800000,
        0x7F800001,
        0x7FC00000,
        0x7FFFFFFF,
    ],
    64: [
        0,
        1,
        1 << 51,
        (1 << 52) - 1,
        1 << 52,
        0x3690000000000000,
        0x36A0000000000001,
        0x380FFFFFE0000000,
        0x3FDFFFFFFFFFFFFF,
        0x3FE0000000000000,
        0x3FF0000000000000,
        0x3FF0000000000001,
        0x3FF0000010000000,
        0x4004000000000000,
        0x41DFFFFFFFC00000,
        0x41E0000000000000,
        0x41EFFFFFFFF00000,
        0x47EFFFFFE0000000,
        0x47EFFFFFF0000000,
        0x7FEFFFFFFFFFFFFF,
        0x7FF0000000000000,
        0x7FF0000000000001,
        0x7FF8000000000000,
        0x7FFFFFFFFFFFFFFF,
    ],
}
_MANTISSA = {16: 10, 32: 23, 64: 52}
_NEAR = {
    16: (0x3000, 0x4C00),
    32: (0x3C000000, 0x4A000000),
    64: (0x3F80000000000000, 0x4130000000000000),
}


def _float_bits(draw: random.Random, width: int) -> int:
    choice = draw.random()
    if choice < 0.45:
        bits = draw.choice(_FLOAT_EDGES[width])
    elif choice < 0.75:
        bits = draw.randrange(*_NEAR[width])
    else:
        bits = draw.getrandbits(width - 1)
    return bits | draw.getrandbits(1) << (width - 1)


def _integer_bits(draw: random.Random, width: int) -> int:
    edges = [0, 1, 2, (1 << width) - 1, (1 << width) - 2, 1 << (width - 1), (1 << (width - 1)) - 1]
    choice = draw.random()
    if choice < 0.3:
        return draw.choice(edges)
    if choice < 0.55:
        return draw.randrange(2 * width)
    return draw.getrandbits(width)


def operand(draw: random.Random, kind: str) -> int:
    """Bits of an operand register, or of two; ``n`` kinds are floats without denormals."""
    if kind == "pf16":
        return _float_bits(draw, 16) | _float_bits(draw, 16) << 16
    if kind == "p16":
        return _integer_bits(draw, 16) | _integer_bits(draw, 16) << 16
    if kind == "pbf16":
        return _float_bits(draw, 32) >> 16 | (_float_bits(draw, 32) >> 16) << 16
    width = int(kind[1:])
    if kind[0] == "n":
        bits = _float_bits(draw, width)
        if pseudocode.is_denormal(Value("F", width, bits)):
            bits |= 1 << _MANTISSA[width]
    elif kind[0] == "f":
        bits = _float_bits(draw, width)
    else:
        bits = _integer_bits(draw, width)
    return bits | draw.getrandbits(16) << 16 if width == 16 else bits


# ---- definitions of our own: operands' bits to the result's


def _signed(bits: int, width: int) -> int:
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def _round_even(width: int) -> Callable[..., int]:
    def function(bits: int) -> int:
        value = Value("F", width, bits & ((1 << width) - 1))
        if pseudocode.is_nan(value) or pseudocode.is_infinite(value):
            return value.bits
        number = Fraction(round(pseudocode.fraction(value)))
        return pseudocode.rounded(width, number, negative_zero=bool(pseudocode.sign(value))).bits

    return function


def _fraction(width: int) -> Callable[..., int]:
    """x - floor(x), but below 1."""

    def function(bits: int) -> int:
        value = Value("F", width, bits & ((1 << width) - 1))
        if pseudocode.is_nan(value) or pseudocode.is_infinite(value):
            return pseudocode.nan(width).bits
        number = pseudocode.fraction(value)
        part = pseudocode.rounded(width, number - number.__floor__())
        return min(part.bits, pseudocode.rounded(width, Fraction(1)).bits - 1)

    return function


def _exponent(width: int) -> Callable[..., int]:
    """That of frexp() in C: 0 for zero, where the manual's text is open."""

    def function(bits: int) -> int:
        value = Value("F", width, bits & ((1 << width) - 1))
        number = abs(pseudocode.fraction_or_zero(value))
        exponent = 0
        while number >= 1:
            number, exponent = number / 2, exponent + 1
        while 0 < number < Fraction(1, 2):
            number, exponent = number * 2, exponent - 1
        return exponent & (0xFFFF if width == 16 else 0xFFFF_FFFF)

    return function


def _scale(width: int) -> Callable[..., int]:
    def function(bits: int, exponent: int) -> int:
        value = Value("F", width, bits & ((1 << width) - 1))
        if pseudocode.is_nan(value) or pseudocode.is_infinite(value):
            return value.bits
        power = max(-5000, min(5000, _signed(exponent, 16 if width == 16 else 32)))
        number = pseudocode.fraction(value) * Fraction(2) ** power
        return pseudocode.rounded(width, number, negative_zero=bool(pseudocode.sign(value))).bits

    return function


def _permute(a: int, b: int, selector: int) -> int:
    data = (a << 32 | b).to_bytes(8, "little")
    result = 0
    for at in range(4):
        which = selector >> 8 * at & 0xFF
        if which < 8:
            byte = data[which]
        elif which < 12:
            byte = 0xFF if data[2 * (which - 8) + 1] & 0x80 else 0
        else:
            byte = 0 if which == 12 else 0xFF
        result |= byte << 8 * at
    return result


def _clamped(number: int, low: int, high: int) -> int:
    return max(low, min(high, number))


def _saturated_bytes(bits: int) -> int:
    low, high = (_clamped(_signed(bits >> shift, 16), 0, 255) for shift in (0, 16))
    return low | high << 8


def _normalised(width: int, largest: int, low: int) -> Callable[[int], int]:
    def function(bits: int) -> int:
        value = Value("F", width, bits & ((1 << width) - 1))
        if pseudocode.is_nan(value):
            return 0
        infinite = pseudocode.is_infinite(value)
        number = (
            Fraction(-2 if pseudocode.sign(value) else 2)
            if infinite
            else pseudocode.fraction(value)
        )
        return round(_limited(number, low) * largest) & 0xFFFF

    return function


def _limited(number: Fraction, low: int) -> Fraction:
    return max(Fraction(low), min(Fraction(1), number))


def _pair(one: Callable[[int], int]) -> Callable[..., int]:
    return lambda a, b: one(a) & 0xFFFF | (one(b) & 0xFFFF) << 16


def _integer_of_float(low: int, high: int) -> Callable[[int], int]:
    kind = "I" if low < 0 else "U"
    return lambda bits: pseudocode.to_integer(Value("F", 32, bits), kind, 16).bits


def _toward_zero(bits: int) -> int:
    value = Value("F", 32, bits)
    if pseudocode.is_nan(value) or pseudocode.is_infinite(value):
        return pseudocode.to_float(value, 16).bits
    number = abs(pseudocode.fraction(value))
    half = pseudocode.rounded(16, min(number, Fraction(65504)))
    if pseudocode.fraction(half) > number:
        half = Value("F", 16, half.bits - 1)
    return half.bits | pseudocode.sign(value) << 15


def _windows(bits: int, mask: int, addends: int, *, masked: bool) -> int:
    result = 0
    for at in range(4):
        total = addends >> 16 * at & 0xFFFF
        for byte in range(4):
            a, b = bits >> 8 * (at + byte) & 0xFF, mask >> 8 * byte & 0xFF
            total += 0 if masked and b == 0 else abs(a - b)
        result |= (total & 0xFFFF) << 16 * at
    return result


def _integer_dot(bits: int, a_signed: bool, b_signed: bool) -> Callable[..., int]:
    def part(value: int, at: int, is_signed: bool) -> int:
        field = value >> bits * at & ((1 << bits) - 1)
        return _signed(field, bits) if is_signed else field

    return lambda a, b, c: (
        (sum(part(a, at, a_signed) * part(b, at, b_signed) for at in range(32 // bits)) + c)
        & 0xFFFFFFFF
    )


def _saturating(operation: Callable[..., int], width: int, is_signed: bool) -> Callable[..., int]:
    low, high = (
        (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)
    )

    def function(*operands: int) -> int:
        mask = (1 << width) - 1
        numbers = [_signed(bits, width) if is_signed else bits & mask for bits in operands]
        return _clamped(operation(*numbers), low, high) & mask

    return function


def _to_byte(value: int, at: int, others: int) -> int:
    number = Value("F", 32, value)
    if pseudocode.is_nan(number):
        byte = 0
    elif pseudocode.is_infinite(number):
        byte = 0 if pseudocode.sign(number) else 255
    else:
        byte = _clamped(round(pseudocode.fraction(number)), 0, 255)
    shift = 8 * (at & 3)
    return others & ~(0xFF << shift) | byte << shift


@dataclass(frozen=True)
class Exact:
    """An instruction's definition: operand kinds, width of the result, modifiers of the text."""

    kinds: tuple[str, ...]
    width: int
    function: Callable[..., int]
    suffix: str = ""


def _exact() -> dict[str, Exact]:
    found = {
        "v_perm_b32": Exact(("u32", "u32", "u32"), 32, _permute),
        "v_sat_pk_u8_i16": Exact(("p16",), 16, _saturated_bytes),
        "v_cvt_pk_u8_f32": Exact(("f32", "u32", "u32"), 32, _to_byte),
        "v_cvt_pk_rtz_f16_f32": Exact(("f32", "f32"), 32, _pair(_toward_zero)),
        "v_cvt_off_f32_i4": Exact(
            ("u32",), 32, lambda a: pseudocode.rounded(32, Fraction(_signed(a, 4), 16)).bits
        ),
        "v_cvt_pk_i16_i32": Exact(
            ("i32", "i32"), 32, _pair(lambda a: _clamped(_signed(a, 32), -0x8000, 0x7FFF))
        ),
        "v_cvt_pk_u16_u32": Exact(("u32", "u32"), 32, _pair(lambda a: min(a, 0xFFFF))),
        "v_cvt_pk_i16_f32": Exact(("f32", "f32"), 32, _pair(_integer_of_float(-0x8000, 0x7FFF))),
        "v_cvt_pk_u16_f32": Exact(("f32", "f32"), 32, _pair(_integer_of_float(0, 0xFFFF))),
        "v_qsad_pk_u16_u8": Exact(
            ("u64", "u32", "u64"), 64, lambda a, b, c: _windows(a, b, c, masked=False)
        ),
        "v_mqsad_pk_u16_u8": Exact(
            ("u64", "u32", "u64"), 64, lambda a, b, c: _windows(a, b, c, masked=True)
        ),
    }
    found["v_mad_u64_u32"] = Exact(
        ("u32", "u32", "u64"), 64, lambda a, b, c: (a * b + c) & 0xFFFF_FFFF_FFFF_FFFF
    )
    found["v_mad_i64_i32"] = Exact(
        ("i32", "i32", "i64"),
        64,
        lambda a, b, c: (_signed(a, 32) * _signed(b, 32) + c) & 0xFFFF_FFFF_FFFF_FFFF,
    )
    for width in (16, 32, 64):
        kind = f"f{width}"
        found[f"v_rndne_{kind}"] = Exact((kind,), width, _round_even(width))
        found[f"v_fract_{kind}"] = Exact((kind,), width, _fraction(width))
        exponent = "i16" if width == 16 else "i32"
        found[f"v_frexp_exp_{exponent}_{kind}"] = Exact(
            (kind,), int(exponent[1:]), _exponent(width)
        )
        found[f"v_ldexp_{kind}"] = Exact((kind, exponent), width, _scale(width))
    for source in (16, 32):
        for letter, largest, low in (("i", 32767, -1), ("u", 65535, 0)):
            one = _normalised(source, largest, low)
            kind = f"f{source}"
            found[f"v_cvt_pk_norm_{letter}16_{kind}"] = Exact((kind, kind), 32, _pair(one))
            if source == 16:
                found[f"v_cvt_norm_{letter}16_f16"] = Exact((kind,), 16, one)
    words = ("u32", "u32", "u32")
    for name, bits in (("v_dot4_i32_iu8", 8), ("v_dot8_i32_iu4", 4)):
        for signs in range(4):
            a, b = bool(signs & 1), bool(signs & 2)
            suffix = f" neg_lo:[{int(a)},{int(b)},0]"
            found[f"{name}#{signs}"] = Exact(words, 32, _integer_dot(bits, a, b), suffix)
    for letter, is_signed in (("u", False), ("i", True)):
        for width in (16, 32):
            kinds = (f"{letter}{width}",) * 2
            for name, operation in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b)):
                found[f"v_{name}_nc_{letter}{width}#clamp"] = Exact(
                    kinds, width, _saturating(operation, width, is_signed), " clamp"
                )
        found[f"v_mad_{letter}16#clamp"] = Exact(
            (f"{letter}16",) * 3,
            16,
            _saturating(lambda a, b, c: a * b + c, 16, is_signed),
            " clamp",
        )
    return found


EXACT = _exact()


# ---- instructions from the manual's text


def _library(manual: Manual) -> dict[str, str]:
    library: dict[str, str] = {}
    for key, written in manual.table.items():
        text = written
        if type(key).__name__ in _FORMATS:
            name = key.name.removesuffix("_E32").removesuffix("_E64")
            if name.startswith("V_DIV_FIXUP"):
                text = _with_overflow(text, name[-3:].lower())
            # What FMAC adds is the old destination; the text of one of them says S2.
            text = _without_high_half(_TRAP_STATUS.sub("", text))
            library.setdefault(name, text.replace("S2", "D0") if "MAC" in name else text)
    return library


def _without_high_half(text: str) -> str:
    """The legacy 16-bit forms of CDNA spell out where the result lies; only it is compared."""
    return re.sub(
        r"if OPSEL\.u4\[3\] then\n.*?\n(?:else\n)D0 = \{ 16'0, tmp\.(\w+) \}\nendif",
        r"D0.\1 = tmp.\1",
        text,
        flags=re.DOTALL,
    )


def _with_overflow(text: str, kind: str) -> str:
    """A quotient that is NaN means overflow: the text is silent, but division relies on it."""
    start, _, end = text.rpartition("else\n")
    overflow = f"D0.{kind} = sign_out ? -INF.{kind} : +INF.{kind}\n"
    return f"{start}elsif isNAN(64'F(S0.{kind})) then\n{overflow}else\n{end}"


def _kinds(name: str, text: str) -> tuple[str, ...]:
    """Kinds of the operands that the text reads."""
    kinds = []
    for number in range(3):
        if not re.search(rf"\bS{number}\b", text):
            break
        members = re.findall(rf"\bS{number}(?:\s*\[[^\]]*\])?\.([uifb]\d+|bf16)", text)
        if name.startswith(("V_PK_", "V_DOT2")) and members and members[0].endswith("16"):
            kind = {"f16": "pf16", "bf16": "pbf16"}.get(members[0], "p16")
        else:
            kind = members[0] if members else "u32"
        width = int(re.sub(r"\D", "", kind))
        kinds.append(kind.replace("b", "u") if kind[0] == "b" else kind)
        if name.startswith("V_DIV_FIXUP"):
            # Whether exponent() sees denormals normalised is open.
            kinds[-1] = f"n{width}"
        if width in (4, 8, 24):
            kinds[-1] = "u32"
    return tuple(kinds) or _kinds(name, f"S0.{name[-3:].lower()} S1.{name[-3:].lower()}")


def _state(
    kinds: tuple[str, ...], values: tuple[int, ...], old: int, carry: int
) -> dict[str, Value]:
    state = {f"S{number}": Value("B", 64, bits) for number, bits in enumerate(values[: len(kinds)])}
    return state | {"D0": Value("B", 64, old), "VCC": Value("U", 64, carry)}


@dataclass
class Record:
    """One instruction in the data file."""

    name: str
    text: str
    kinds: tuple[str, ...]
    width: int
    accumulates: bool
    carry_in: bool
    carry_out: bool
    is_float: bool


def _result_width(name: str, text: str) -> int:
    if re.search(r"D0\.u64\[laneId\]", text):
        return 1
    members = re.findall(r"\bD0\.[uifb](\d+)", text)
    if members:
        return int(members[0])
    return 16 if "D0.bf16" in text else 32


def _from_text(manual: Manual, library: dict[str, str], name: str) -> Record:
    text = library[name]
    width = _result_width(name, text)
    kinds = _kinds(name, text)
    carries = "_CO_" in name or name.startswith(("V_MAD_U64", "V_MAD_I64"))
    suffix = "_e64" if width == 1 or name.removeprefix("V_").lower() in _two_forms(manual) else ""
    return Record(
        name=name.lower(),
        text=name.lower() + suffix,
        kinds=kinds,
        width=width,
        accumulates="MAC" in name or "ACC" in name,
        carry_in=bool(re.search("_CO_CI_|ADDC_|SUBB_|SUBBREV_|CNDMASK", name)),
        carry_out=carries,
        is_float=bool(re.search(r"D0(\[[^\]]*\])?\.(f|bf)\d+", text) or _PACKED_FLOAT.match(name))
        and "CNDMASK" not in name,
    )


@functools.cache
def _two_forms(manual: Manual) -> set[str]:
    """Names (without ``v_``) that also have a short form, where ``_e64`` asks for the long one.

    Assemblers differ about the long form of ``v_pk_fmac_f16``.
    """
    short = {item.mnemonic for item in probe(manual.instruction_set) if item.encoding in _SHORT}
    long = {item.mnemonic for item in probe(manual.instruction_set) if item.encoding in _LONG}
    return {name.removeprefix("v_") for name in short & long - {"v_pk_fmac_f16"}}


def _inputs(kinds: tuple[str, ...]) -> np.ndarray:
    """Five rows: three sources, the old destination, the carry."""
    draw = random.Random(" ".join(kinds))
    padded = (*kinds, "u32", "u32", "u32")[:3]
    rows = [[operand(draw, kind) for _ in range(CASES)] for kind in padded]
    old = kinds[-1] if kinds[-1] in ("f16", "f32", "pf16") else "u32"
    rows.append([operand(draw, old) for _ in range(CASES)])
    rows.append([draw.getrandbits(1) for _ in range(CASES)])
    return np.array(rows, dtype=np.uint64)


def _key(kinds: tuple[str, ...]) -> str:
    return "in/" + ",".join(kinds)


def _write(manual: Manual) -> None:
    library = _library(manual)
    arrays: dict[str, np.ndarray] = {}
    records: list[Record] = []
    exact_names = {plain for name in EXACT if (plain := name.partition("#")[0])}
    for name in library:
        operation = manual.operation(name.lower())
        if _ELSEWHERE.match(name) or name.lower() not in manual.mnemonics:
            continue
        if manual.package == "cdna" and _NOT_OF_CDNA.match(name):
            continue
        if operation in EXACT or f"{operation}#0" in EXACT:
            continue
        try:
            record = _from_text(manual, library, name)
            cases = arrays.setdefault(_key(record.kinds), _inputs(record.kinds))
            results, carries = [], []
            for column in cases.T.tolist():
                after = pseudocode.evaluate(
                    library, name, _state(record.kinds, tuple(column[:3]), column[3], column[4])
                )
                results.append(after["D0"].bits & ((1 << record.width) - 1))
                carries.append(after["VCC"].bits & 1)
        except (
            NotSupported,
            ValueError,
            KeyError,
            IndexError,
            TypeError,
            AssertionError,
        ) as problem:
            print(f"{name}: {type(problem).__name__} {problem}")
            continue
        arrays[f"out/{record.name}"] = np.array(results, dtype=np.uint64)
        if record.carry_out:
            arrays[f"carry/{record.name}"] = np.array(carries, dtype=np.uint64)
        records.append(record)
    spelled = {
        operation: name
        for name in sorted(manual.mnemonics)
        if (operation := manual.operation(name)) in exact_names
    }
    forms = _two_forms(manual)
    for name, exact in EXACT.items():
        operation, _, variant = name.partition("#")
        if operation not in spelled:
            continue
        cases = arrays.setdefault(_key(exact.kinds), _inputs(exact.kinds))
        plain = spelled[operation]
        columns = cases[: len(exact.kinds)].T.tolist()
        key = plain + (f"#{variant}" if variant else "")
        arrays[f"out/{key}"] = np.array(
            [exact.function(*column) for column in columns], dtype=np.uint64
        )
        text = plain + ("_e64" if plain.removeprefix("v_") in forms else "") + "|" + exact.suffix
        is_float = plain.startswith(("v_rndne", "v_fract", "v_ldexp"))
        records.append(Record(key, text, exact.kinds, exact.width, False, False, False, is_float))
    index = json.dumps([vars(record) for record in records])
    arrays["index"] = np.frombuffer(index.encode(), dtype=np.uint8)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / manual.file
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    print(
        f"{path.name}: {len(records)} instructions, {CASES} cases each, {path.stat().st_size} bytes"
    )


def main() -> None:
    """Write the data files; print what the evaluator could not do."""
    wanted = sys.argv[1:]
    for manual in MANUALS:
        if not wanted or manual.instruction_set in wanted:
            _write(manual)


if __name__ == "__main__":
    main()
