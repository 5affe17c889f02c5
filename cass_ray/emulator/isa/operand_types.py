"""The types of an instruction's operands: what an inline constant means, what may be negated.

Widths are what the disassembler shows; types follow the mnemonic's suffixes and the exceptions
below (RDNA3 ISA, section 16, and MI300 ISA, chapter 12: instruction descriptions).
"""

from __future__ import annotations

import re
from pathlib import Path

from cass_ray.csv_tables import read_mapping
from cass_ray.emulator.isa.probe import Probed

_TYPE = re.compile(r"_([biuf](?:16|32|64|96|128|256|512)|[iu](?:8|24|4)|bf16)(?=_|$)")
_REGISTER = re.compile(r"^[-|]*([vs])\[(\d+):(\d+)\]|^[-|]*([vs])(\d+)")

# mnemonic: destination, sources
_EXCEPTIONS = {
    name: types.split() for name, types in read_mapping(Path(__file__).with_suffix(".csv")).items()
}
_BY_PATTERN: list[tuple[re.Pattern[str], tuple[str, ...]]] = [
    (re.compile(r"v_(cmp|cmpx)_class_(f16|f32|f64)"), ("mask", r"\2", "b32")),
    (re.compile(r"v_(cmp|cmpx)_\w+_(\w\d\d)"), ("mask", r"\2", r"\2")),
    (re.compile(r"v_(add|sub|subrev)_co_ci_u32"), ("u32", "u32", "u32", "mask")),
    (re.compile(r"v_(add|sub|subrev)_co_u32"), ("u32", "u32", "u32")),
    (re.compile(r"v_cvt_pk_norm_(\w16)_(f\d\d)"), ("b32", r"\2", r"\2")),
    (re.compile(r"v_cvt_pk_(\w16)_(\w32)"), ("b32", r"\2", r"\2")),
    (re.compile(r"v_cvt_f32_ubyte\d"), ("f32", "b32")),
    (re.compile(r"v_cmp_class"), ("mask",)),
    (re.compile(r"v_s_\w+_(f\d\d)"), ("s32", r"\1")),
    (re.compile(r"v_dot4_f32_\w+"), ("f32", "b32", "b32", "f32")),
]


def _width(operand: str) -> int:
    match = _REGISTER.match(operand)
    if match is None:
        return 1
    return int(match[3]) - int(match[2]) + 1 if match[2] else 1


def _raw(width: int) -> str:
    return f"b{32 * width}"


def _vector_types(item: Probed, name: str) -> list[str]:
    if name in _EXCEPTIONS:
        return _EXCEPTIONS[name]
    for pattern, kinds in _BY_PATTERN:
        if match := pattern.fullmatch(name):
            return [match.expand(kind) for kind in kinds]
    operands = _own_operands(item)
    in_name = _TYPE.findall(name)
    if name.startswith("v_cvt_scalef32"):
        return [_raw(_width(operand)) for operand in operands]
    if name.startswith("v_pk_") and name.endswith("32"):
        return ["pk32"] * len(operands)
    if name.startswith("v_pk_"):
        # Inline constants are f16 for f16 only; integers see the 32 bits of an f32 or integer.
        return ["pk16" if name.endswith("f16") else "b32"] * len(operands)
    if name.startswith(("v_dot", "v_wmma", "v_swmmac", "v_mfma", "v_smfmac")):
        return [_raw(_width(operand)) for operand in operands]
    if not in_name:
        return [_raw(_width(operand)) for operand in operands]
    destination, source = in_name[0], in_name[-1]
    types = [destination] + [source] * (len(operands) - 1)
    return [_fit(kind, operand) for kind, operand in zip(types, operands, strict=True)]


def _fit(kind: str, operand: str) -> str:
    """``kind`` if it is as wide as the register, else untyped bits of the register's width."""
    bits = {"u8": 32, "i24": 32, "u24": 32, "i4": 32, "i16": 16, "bf16": 16}.get(kind)
    bits = bits or int(kind[1:])
    width = _width(operand)
    if kind in ("u8", "i24", "u24", "i4"):
        return _raw(width) if kind in ("u8", "i4") or width > 1 else kind[0] + "32"
    return kind if (bits + 31) // 32 == width else _raw(width)


def _own_operands(item: Probed) -> list[str]:
    """The operands that have a type of their own: no scalar destination, no implied VCC."""
    operands = item.operands
    if item.encoding in ("VOPDX", "VOPDY"):
        text = item.text.split(" :: ")[item.encoding == "VOPDY"]
        operands = Probed(item.encoding, 0, (), text).operands
    if item.encoding == "VOP3SD":
        del operands[1]
    return [operand for operand in operands if not operand.startswith("vcc")]


# Floats in scalar registers (gfx12); what they are packed into is bits.
_SCALAR_FLOAT = re.compile(r"s_\w+_f(16|32)(?=_|$)")
_PACKED_HALVES = ("s_cvt_pk_rtz_f16_f32", "s_cvt_hi_f32_f16")


def _scalar_float_types(item: Probed, name: str) -> list[str]:
    if name in _PACKED_HALVES:
        return {"s_cvt_pk_rtz_f16_f32": ["b32", "f32", "f32"]}.get(name, ["f32", "b32"])
    types = _TYPE.findall(name)
    if item.encoding == "SOPC":
        return ["none", types[0], types[0]]
    return [types[0]] + [types[-1]] * (len(item.operands) - 1)


_NO_RESULT = {
    "s_setpc_b64",
    "s_rfe_b64",
    "s_barrier_signal",
    "s_barrier_signal_isfirst",
    "s_barrier_init",
    "s_barrier_join",
    "s_alloc_vgpr",
    "s_sleep_var",
}


def _scalar_types(item: Probed, name: str) -> list[str]:
    if _SCALAR_FLOAT.search(name):
        return _scalar_float_types(item, name)
    operands = item.operands
    in_name = [kind for kind in _TYPE.findall(name) if kind[1:] in ("32", "64")]
    kind = in_name[-1] if in_name else "b32"
    types = []
    for operand in operands:
        width = _width(operand) if operand[0] == "s" else 1
        types.append(kind if int(kind[1:]) == 32 * width else _raw(width))
    if item.encoding == "SOPC" or name in _NO_RESULT:
        types.insert(0, "none")
    return types


def _memory_types(item: Probed, name: str) -> list[str]:
    """Destination, address, data 0, data 1."""
    vectors = [_width(part) for part in item.operands if re.match(r"v[\[\d]", part)]
    if item.encoding == "SMEM" and "prefetch" in name:
        return []
    if item.encoding == "SMEM":
        return [_raw(_width(part)) for part in item.operands[:1]]
    if item.encoding in ("MUBUF", "MTBUF", "MIMG"):
        return [_raw(vectors[0]) if vectors else "none", "b32", "none", "none"]
    chosen = {10: "none", 20: "none", 40: "none", 60: "none"}
    for part in item.operands:
        if match := re.match(r"v\[?(\d+)", part):
            chosen[int(match[1])] = _raw(_width(part))
    types = [chosen[10], chosen[20], chosen[40], chosen[60]]
    if name == "ds_store_addtid_b32":
        types[2] = "b32"
    if "atomic" in name:
        types[0] = types[2] if "cmpswap" not in name else _raw(int(types[2][1:]) // 64)
    return types


_MEMORY = ("SMEM", "DS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF", "MIMG")


def types_of(item: Probed, operation: str) -> list[str]:
    """Operand types, destination first, four of them, ``none`` where there is none.

    They follow the suffixes of ``operation``, the engine's name for what ``item`` does.
    """
    if item.encoding in _MEMORY:
        types = _memory_types(item, operation)
    elif item.encoding.startswith("SOP"):
        types = _scalar_types(item, operation)
    else:
        types = _vector_types(item, operation)
        if operation.startswith("v_cmpx") and item.encoding in ("VOPC", "VOP3"):
            types[0] = "mask"
    return (types + ["none"] * 4)[:4]
