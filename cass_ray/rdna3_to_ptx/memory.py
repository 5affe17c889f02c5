"""Vector memory: global, flat, scratch and LDS; atomics."""

from __future__ import annotations

from typing import NamedTuple

from cass_ray.assembly.mnemonic_patterns import expand
from cass_ray.rdna3_to_ptx.errors import UnknownInstruction
from cass_ray.rdna3_to_ptx.operands import Off, Rdna3Operand, Rdna3Register
from cass_ray.rdna3_to_ptx.table import Rdna3Instruction, translates
from cass_ray.rdna3_to_ptx.wave import Wave

_IGNORED = ("offset", "glc", "slc", "dlc", "th", "offset0", "offset1")
_NARROW = {"u8": "u8", "i8": "s8", "u16": "u16", "i16": "s16"}
_ATOMICS = {
    "add_u32": "add.u32", "sub_u32": "add.u32", "min_i32": "min.s32", "min_u32": "min.u32",
    "max_i32": "max.s32", "max_u32": "max.u32", "and_b32": "and.b32", "or_b32": "or.b32",
    "xor_b32": "xor.b32", "swap_b32": "exch.b32", "inc_u32": "inc.u32", "dec_u32": "dec.u32",
    "add_f32": "add.f32", "add_u64": "add.u64", "swap_b64": "exch.b64", "and_b64": "and.b64",
    "or_b64": "or.b64", "xor_b64": "xor.b64", "min_i64": "min.s64", "max_i64": "max.s64",
    "min_u64": "min.u64", "max_u64": "max.u64", "cmpswap_b32": "cas.b32", "cmpswap_b64": "cas.b64",
}  # fmt: skip


class PtxAddress(NamedTuple):
    """An address: a register and a number of bytes."""

    register: str
    offset: int

    def at(self, word: int = 0) -> str:
        """The operand of an access to a 32-bit word."""
        return f"[{self.register}+{self.offset + 4 * word}]"


def _address(wave: Wave, i: Rdna3Instruction, first: int) -> tuple[str, PtxAddress]:
    """PTX space and address of an access whose address operands begin at ``first``."""
    offset = i.number("offset")
    kind = i.mnemonic.split("_")[0]
    address = i[first]
    base = i[first + 1] if len(i.operands) > first + 1 and kind != "flat" else Off()
    if kind == "scratch":
        return ".local", PtxAddress(_scratch(wave, address, base), offset)
    space = ".global" if kind == "global" else ""
    if isinstance(base, Off):
        return space, PtxAddress(wave.bits64(address), offset)
    low = wave.result("b32", f"mov.b32 {{d}}, {wave.bits32(address)}")
    wide = wave.result("b64", f"cvt.u64.u32 {{d}}, {low}")
    total = wave.result("b64", f"add.s64 {{d}}, {wave.bits64(base)}, {wide}")
    return space, PtxAddress(total, offset)


def _scratch(wave: Wave, address: Rdna3Operand, base: Rdna3Operand) -> str:
    total = wave.result("b32", "mov.b32 {d}, %scratch")
    for part in (address, base):
        if not isinstance(part, Off):
            total = wave.result("b32", f"add.u32 {{d}}, {total}, {wave.bits32(part)}")
    return wave.result("b64", f"cvt.u64.u32 {{d}}, {total}")


def _load(wave: Wave, target: Rdna3Operand, kind: str, opcode: str, place: PtxAddress) -> None:
    """``kind`` is u8 … or bN; only active lanes read."""
    if kind in _NARROW:
        half, value = wave.temporary("b16"), wave.temporary()
        wave.line(f"mov.b16 {half}, 0")
        wave.line(f"@%act {opcode}.{_NARROW[kind]} {half}, {place.at()}")
        sign = _NARROW[kind][0]
        wave.line(f"cvt.{sign}32.{sign}16 {value}, {half}")
        wave.write32(target, value)
        return
    values = []
    for word in range(int(kind[1:]) // 32):
        value = wave.temporary()
        wave.line(f"@%act {opcode}.b32 {value}, {place.at(word)}")
        values.append(value)
    for word, value in enumerate(values):
        wave.write32(target, value, word)


def _store(wave: Wave, source: Rdna3Operand, kind: str, opcode: str, place: PtxAddress) -> None:
    if kind in ("b8", "b16"):
        value = wave.result("b32", f"mov.b32 {{d}}, {wave.bits32(source)}")
        half = wave.result("b16", f"cvt.u16.u32 {{d}}, {value}")
        wave.line(f"@%act {opcode}.{kind} {place.at()}, {half}")
        return
    for word in range(int(kind[1:]) // 32):
        value = wave.bits32(source, word)
        wave.line(f"@%act {opcode}.b32 {place.at(word)}, {value}")


@translates("{global,flat,scratch}_load_{u8,i8,u16,i16,b32,b64,b96,b128}")
def load(wave: Wave, i: Rdna3Instruction) -> None:
    """Read one to four words, or a byte or half that is extended."""
    i.allow(*_IGNORED)
    space, place = _address(wave, i, 1)
    _load(wave, i[0], i.mnemonic.rpartition("_")[2], f"ld{space}", place)


@translates("{global,flat,scratch}_store_{b8,b16,b32,b64,b96,b128}")
def store(wave: Wave, i: Rdna3Instruction) -> None:
    """Write one to four words, or the low byte or half of one."""
    i.allow(*_IGNORED)
    operands = i.operands
    moved = Rdna3Instruction(
        i.mnemonic, (operands[1], operands[0], *operands[2:]), i.modifiers, i.text
    )
    space, place = _address(wave, moved, 1)
    _store(wave, moved[0], i.mnemonic.rpartition("_")[2], f"st{space}", place)


@translates(*expand("{global,flat}_atomic_{" + ",".join(_ATOMICS) + "}"))
def atomic(wave: Wave, i: Rdna3Instruction) -> None:
    """Read, change and write; with glc the old value is the result."""
    i.allow(*_IGNORED)
    returns = "glc" in i.modifiers
    kind = i.mnemonic.split("_")[0]
    first = 1 if returns else 0
    operands = i.operands[first:]  # address, data, base
    shown = (operands[1], operands[0], *operands[2:])
    moved = Rdna3Instruction(f"{kind}_x", shown, i.modifiers, i.text)
    space, place = _address(wave, moved, 1)
    name = i.mnemonic.partition("_atomic_")[2]
    _atomic(wave, name, f"atom{space}", place, moved[0], i[0] if returns else None)


def _atomic(
    wave: Wave,
    name: str,
    opcode: str,
    place: PtxAddress,
    data: Rdna3Operand,
    target: Rdna3Operand | None,
) -> None:
    wide = name.endswith("64")
    kind = "b64" if wide else "b32"
    if not isinstance(data, Rdna3Register):
        raise UnknownInstruction(str(data), "atomic data that is no register")
    words = 2 if wide else 1
    parts = [
        Rdna3Register(data.names[start : start + words])
        for start in range(0, len(data.names), words)
    ]
    values = [wave.bits64(part) if wide else wave.bits32(part) for part in parts]
    if name.startswith("sub"):
        values[0] = wave.result("b32", f"neg.s32 {{d}}, {values[0]}")
    if name.startswith("cmpswap"):
        values = [values[1], values[0]]  # memory: {new, compare}
    old = wave.temporary(kind)
    wave.line(f"@%act {opcode}.{_ATOMICS[name]} {old}, {place.at()}, {', '.join(values)}")
    if target is not None:
        (wave.write64 if wide else wave.write32)(target, old)


def _lds(wave: Wave, address: Rdna3Operand) -> str:
    return wave.result("b32", f"add.u32 {{d}}, %lds, {wave.bits32(address)}")


@translates("ds_load_{u8,i8,u16,i16,b32,b64,b96,b128}")
def load_shared(wave: Wave, i: Rdna3Instruction) -> None:
    """Read LDS: one to four words, or a byte or half that is extended."""
    i.allow("offset")
    place = PtxAddress(_lds(wave, i[1]), i.number("offset"))
    wave.line("bar.warp.sync %wave")
    _load(wave, i[0], i.mnemonic.rpartition("_")[2], "ld.shared", place)


@translates("ds_store_{b8,b16,b32,b64,b96,b128}")
def store_shared(wave: Wave, i: Rdna3Instruction) -> None:
    """Write LDS; lanes of the wave see it in the order of instructions."""
    i.allow("offset")
    place = PtxAddress(_lds(wave, i[0]), i.number("offset"))
    wave.line("bar.warp.sync %wave")
    _store(wave, i[1], i.mnemonic.rpartition("_")[2], "st.shared", place)


@translates("ds_{load,store}_2addr{,_stride64}_{b32,b64}")
def pair_shared(wave: Wave, i: Rdna3Instruction) -> None:
    """Two accesses with offsets counted in elements, or in 64 of them."""
    i.allow("offset0", "offset1")
    kind = i.mnemonic.rpartition("_")[2]
    size = int(kind[1:]) // 8
    scale = size * (64 if "stride64" in i.mnemonic else 1)
    loads = "load" in i.mnemonic
    base = _lds(wave, i[1] if loads else i[0])
    wave.line("bar.warp.sync %wave")
    for number, name in enumerate(("offset0", "offset1")):
        place = PtxAddress(base, i.number(name) * scale)
        words = size // 4
        if loads:
            target = i[0]
            assert isinstance(target, Rdna3Register)
            part = Rdna3Register(target.names[number * words : (number + 1) * words])
            _load(wave, part, kind, "ld.shared", place)
        else:
            _store(wave, i[1 + number], kind, "st.shared", place)


_DS_ATOMICS = [
    name
    for name in _ATOMICS
    if not name.startswith(("swap", "cmpswap"))
]  # fmt: skip


@translates(*expand("ds_{" + ",".join(_DS_ATOMICS) + "}"))
@translates(*[f"ds_{n.replace('_', '_rtn_')}" for n in _DS_ATOMICS])
@translates("ds_storexchg_rtn_{b32,b64}", "ds_cmpstore_{b32,b64}", "ds_cmpstore_rtn_{b32,b64}")
def atomic_shared(wave: Wave, i: Rdna3Instruction) -> None:
    """Read, change and write a word or two of LDS; ``_rtn`` gives the old value."""
    i.allow("offset")
    returns = "_rtn" in i.mnemonic
    first = 1 if returns else 0
    name = i.mnemonic.removeprefix("ds_").replace("_rtn", "")
    name = name.replace("storexchg", "swap").replace("cmpstore", "cmpswap")
    data = i[first + 1]
    if name.startswith("cmpswap"):
        compare = i[first + 2]
        assert isinstance(data, Rdna3Register) and isinstance(compare, Rdna3Register)
        data = Rdna3Register(data.names + compare.names)
    wave.line("bar.warp.sync %wave")
    place = PtxAddress(_lds(wave, i[first]), i.number("offset"))
    _atomic(wave, name, "atom.shared", place, data, i[0] if returns else None)
