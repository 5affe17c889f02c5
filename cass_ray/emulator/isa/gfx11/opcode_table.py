"""Write the engine's opcode table from what LLVM's disassembler says about each opcode.

``python -m cass_ray.emulator.isa.gfx11.opcode_table`` rewrites ``engine/tables/opcodes.inc``. The
disassembler gives mnemonics and operand widths; operand types (what an inline constant ``1.0``
means) follow the mnemonic's suffixes and the exceptions below (RDNA3 ISA, section 16, instruction
descriptions).
"""

from __future__ import annotations

import re
from pathlib import Path

from cass_ray.emulator.isa.gfx11.probe import Probed, probe

TABLE = Path(__file__).parents[2] / "engine" / "tables" / "opcodes.inc"
MNEMONICS = TABLE.with_name("mnemonics.inc")

_HEADER = """\
// One row per opcode of each gfx11 encoding, by encoding and opcode:
// INSTRUCTION(encoding, opcode, mnemonic, destination, source 0, source 1, source 2)
// Memory formats: destination, address, data 0, data 1.
// Written by cass_ray/emulator/isa/gfx11/opcode_table.py; change that, not this.
"""

_TYPE = re.compile(r"_([biuf](?:16|32|64|96|128|256|512)|[iu](?:8|24|4)|bf16)(?=_|$)")
_REGISTER = re.compile(r"^[-|]*([vs])\[(\d+):(\d+)\]|^[-|]*([vs])(\d+)")

# mnemonic: destination, sources
_EXCEPTIONS: dict[str, tuple[str, ...]] = {
    "v_cndmask_b32": ("f32", "f32", "f32", "mask"),
    "v_cndmask_b16": ("f16", "f16", "f16", "mask"),
    "v_readfirstlane_b32": ("s32", "b32"),
    "v_readlane_b32": ("s32", "b32", "b32"),
    "v_writelane_b32": ("b32", "b32", "b32"),
    "v_mad_u64_u32": ("u64", "u32", "u32", "u64"),
    "v_mad_i64_i32": ("i64", "i32", "i32", "i64"),
    "v_lshlrev_b64": ("b64", "u32", "b64"),
    "v_lshrrev_b64": ("b64", "u32", "b64"),
    "v_ashrrev_i64": ("i64", "u32", "i64"),
    "v_ldexp_f64": ("f64", "f64", "i32"),
    "v_ldexp_f32": ("f32", "f32", "i32"),
    "v_ldexp_f16": ("f16", "f16", "i16"),
    "v_trig_preop_f64": ("f64", "f64", "u32"),
    "v_pack_b32_f16": ("b32", "f16", "f16"),
    "v_fma_mix_f32": ("f32", "mix", "mix", "mix"),
    "v_fma_mixlo_f16": ("f16", "mix", "mix", "mix"),
    "v_fma_mixhi_f16": ("f16", "mix", "mix", "mix"),
    "v_dot2_f32_f16": ("f32", "pk16", "pk16", "f32"),
    "v_dot2_f32_bf16": ("f32", "pk16", "pk16", "f32"),
    "v_dot2acc_f32_f16": ("f32", "pk16", "pk16"),
    "v_dot2_f16_f16": ("f16", "pk16", "pk16", "f16"),
    "v_dot2_bf16_bf16": ("b16", "pk16", "pk16", "b16"),
    "v_cvt_pk_u8_f32": ("b32", "f32", "u32", "b32"),
    "v_mad_u32_u16": ("u32", "u16", "u16", "u32"),
    "v_mad_i32_i16": ("i32", "i16", "i16", "i32"),
    "v_cvt_pk_rtz_f16_f32": ("b32", "f32", "f32"),
    "v_cvt_off_f32_i4": ("f32", "b32"),
    "v_sat_pk_u8_i16": ("b16", "b32"),
    "v_bcnt_u32_b32": ("u32", "b32", "u32"),
    "v_mbcnt_lo_u32_b32": ("u32", "b32", "u32"),
    "v_mbcnt_hi_u32_b32": ("u32", "b32", "u32"),
    "v_cvt_f16_f32": ("f16", "f32"),
    "v_sad_u16": ("b32", "b32", "b32", "b32"),
    "v_swap_b32": ("b32", "b32"),
    "v_nop": (),
    "v_pipeflush": (),
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
]


def _width(operand: str) -> int:
    match = _REGISTER.match(operand)
    if match is None:
        return 1
    return int(match[3]) - int(match[2]) + 1 if match[2] else 1


def _raw(width: int) -> str:
    return f"b{32 * width}"


def _vector_types(item: Probed) -> list[str]:
    name = item.mnemonic.replace("v_dual_", "v_")
    if name in _EXCEPTIONS:
        return list(_EXCEPTIONS[name])
    for pattern, kinds in _BY_PATTERN:
        if match := pattern.fullmatch(name):
            return [match.expand(kind) for kind in kinds]
    operands = _own_operands(item)
    found = _TYPE.findall(name)
    if name.startswith("v_pk_"):
        # Inline constants are f16 for f16 only; integers see the 32 bits of an f32 or integer.
        return ["pk16" if name.endswith("f16") else "b32"] * len(operands)
    if name.startswith(("v_dot", "v_wmma")):
        return [_raw(_width(operand)) for operand in operands]
    if not found:
        return [_raw(_width(operand)) for operand in operands]
    destination, source = found[0], found[-1]
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


def _scalar_types(item: Probed) -> list[str]:
    name, operands = item.mnemonic, item.operands
    found = [kind for kind in _TYPE.findall(name) if kind[1:] in ("32", "64")]
    kind = found[-1] if found else "b32"
    types = []
    for operand in operands:
        width = _width(operand) if operand[0] == "s" else 1
        types.append(kind if int(kind[1:]) == 32 * width else _raw(width))
    if item.encoding == "SOPC" or name == "s_setpc_b64" or name == "s_rfe_b64":
        types.insert(0, "none")
    return types


def _memory_types(item: Probed) -> list[str]:
    """Destination, address, data 0, data 1."""
    name = item.mnemonic
    vectors = [_width(part) for part in item.operands if re.match(r"v[\[\d]", part)]
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


def types_of(item: Probed) -> list[str]:
    """Operand types, destination first, four of them, ``none`` where there is none."""
    if item.encoding in _MEMORY:
        types = _memory_types(item)
    elif item.encoding.startswith("SOP"):
        types = _scalar_types(item)
    else:
        types = _vector_types(item)
        if item.mnemonic.startswith("v_cmpx") and item.encoding in ("VOPC", "VOP3"):
            types[0] = "mask"
    return (types + ["none"] * 4)[:4]


def rows() -> list[str]:
    """Rows of ``opcodes.inc``: one for each opcode of each format that LLVM knows."""
    lines = []
    seen = set()
    items = probe()
    carry = {item.opcode for item in items if _is_carry(item)}
    for item in sorted(items, key=lambda item: (item.encoding, item.opcode)):
        key = (item.encoding, item.opcode)
        mnemonic = item.mnemonic.replace("v_dual_", "v_")
        if key in seen or (item.encoding == "VOP3" and item.opcode in carry):
            continue
        if item.encoding == "VOP3SD" and item.opcode not in carry:
            continue
        seen.add(key)
        types = ", ".join(types_of(item))
        lines.append(f"INSTRUCTION({item.encoding}, {item.opcode:#x}, {mnemonic}, {types})")
    return lines


def _is_carry(item: Probed) -> bool:
    """Whether the opcode has a scalar destination beside the vector one."""
    return item.encoding == "VOP3SD" and len(item.operands) > 1 and item.operands[1] == "s12"


def main() -> None:
    """Rewrite ``opcodes.inc`` and ``mnemonics.inc`` from what LLVM's disassembler says."""
    lines = rows()
    TABLE.write_text(_HEADER + "\n".join(lines) + "\n")
    names = sorted({line.split(", ")[2] for line in lines})
    MNEMONICS.write_text(
        "// Every mnemonic once; written by cass_ray/emulator/isa/gfx11/opcode_table.py.\n"
        + "".join(f"MNEMONIC({name})\n" for name in names)
    )


if __name__ == "__main__":
    main()
