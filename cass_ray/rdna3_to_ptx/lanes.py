"""Instructions across lanes: reads of one lane, permutations, counts of lanes below."""

from __future__ import annotations

from cass_ray.rdna3_to_ptx.errors import UnknownInstruction
from cass_ray.rdna3_to_ptx.table import Rdna3Instruction, translates
from cass_ray.rdna3_to_ptx.wave import Wave


def _shuffle(wave: Wave, value: str, lane: str) -> str:
    held = wave.result("b32", f"mov.b32 {{d}}, {value}")
    return wave.result("b32", f"shfl.sync.idx.b32 {{d}}, {held}, {lane}, 31, %wave")


@translates("v_readfirstlane_b32")
def read_first(wave: Wave, i: Rdna3Instruction) -> None:
    """Read the lowest active lane; lane 0 if none is."""
    reversed_mask = wave.result("b32", "brev.b32 {d}, %exec")
    lane = wave.result("b32", f"clz.b32 {{d}}, {reversed_mask}")
    lane = wave.result("b32", f"and.b32 {{d}}, {lane}, 31")
    wave.write32(i[0], _shuffle(wave, wave.bits32(i[1]), lane))


@translates("v_readlane_b32")
def read_lane(wave: Wave, i: Rdna3Instruction) -> None:
    """A scalar from one lane, which may be inactive."""
    lane = wave.result("b32", f"and.b32 {{d}}, {wave.bits32(i[2])}, 31")
    wave.write32(i[0], _shuffle(wave, wave.bits32(i[1]), lane))


@translates("v_writelane_b32")
def write_lane(wave: Wave, i: Rdna3Instruction) -> None:
    """A scalar into one lane, which may be inactive."""
    lane = wave.result("b32", f"and.b32 {{d}}, {wave.bits32(i[2])}, 31")
    value = wave.result("b32", f"mov.b32 {{d}}, {wave.bits32(i[1])}")
    is_it = wave.result("pred", f"setp.eq.u32 {{d}}, {lane}, %lane")
    wave.guard, before = is_it, wave.guard
    wave.write32(i[0], value)
    wave.guard = before


@translates("v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32")
def count_below(wave: Wave, i: Rdna3Instruction) -> None:
    """Bits of a mask below the lane, added to the second operand; there are no high lanes."""
    added = wave.result("b32", f"mov.b32 {{d}}, {wave.bits32(i[2])}")
    if "_lo_" in i.mnemonic:
        below = wave.result("b32", f"and.b32 {{d}}, {wave.bits32(i[1])}, %below")
        bits = wave.result("b32", f"popc.b32 {{d}}, {below}")
        added = wave.result("b32", f"add.u32 {{d}}, {added}, {bits}")
    wave.write32(i[0], added)


@translates("ds_bpermute_b32")
def permute(wave: Wave, i: Rdna3Instruction) -> None:
    """From the lane whose number, times 4, is in the address; 0 from inactive lanes."""
    i.allow("offset")
    place = wave.result("b32", f"add.u32 {{d}}, {wave.bits32(i[1])}, {i.number('offset')}")
    lane = wave.result("b32", f"bfe.u32 {{d}}, {place}, 2, 5")
    value = _shuffle(wave, wave.bits32(i[2]), lane)
    wave.write32(i[0], _of_active(wave, value, lane))


def _of_active(wave: Wave, value: str, lane: str) -> str:
    held = _is_active(wave, lane)
    return wave.result("b32", f"selp.b32 {{d}}, {value}, 0, {held}")


def _is_active(wave: Wave, lane: str) -> str:
    shifted = wave.result("b32", f"shr.u32 {{d}}, %exec, {lane}")
    bit = wave.result("b32", f"and.b32 {{d}}, {shifted}, 1")
    return wave.result("pred", f"setp.ne.u32 {{d}}, {bit}, 0")


@translates("ds_swizzle_b32")
def swizzle(wave: Wave, i: Rdna3Instruction) -> None:
    """In groups of 32: lane' = ((lane & and) | or) ^ xor (ISA 12.13.1)."""
    i.allow("offset")
    written = i.modifiers["offset"]
    if written.startswith("swizzle"):
        raise UnknownInstruction(i.text, "a swizzle by name")
    offset = int(written, 0)
    if offset & 0x8000:
        raise UnknownInstruction(i.text, "a swizzle of groups of four")
    kept, added, flipped = offset & 31, offset >> 5 & 31, offset >> 10 & 31
    lane = wave.result("b32", f"and.b32 {{d}}, %lane, {kept}")
    lane = wave.result("b32", f"or.b32 {{d}}, {lane}, {added}")
    lane = wave.result("b32", f"xor.b32 {{d}}, {lane}, {flipped}")
    wave.write32(i[0], _of_active(wave, _shuffle(wave, wave.bits32(i[1]), lane), lane))


@translates("v_permlanex16_b32", "v_permlane16_b32")
def permute_rows(wave: Wave, i: Rdna3Instruction) -> None:
    """From a lane of the other row of 16, or of the own; four bits a lane say which."""
    i.allow("op_sel")
    low, high = wave.bits32(i[2]), wave.bits32(i[3])
    in_row = wave.result("b32", "and.b32 {d}, %lane, 15")
    place = wave.result("b32", f"shl.b32 {{d}}, {in_row}, 2")
    table = wave.result("b64", f"mov.b64 {{d}}, {{{{{low}, {high}}}}}")
    shifted = wave.result("b64", f"shr.u64 {{d}}, {table}, {place}")
    chosen = wave.result("b32", f"cvt.u32.u64 {{d}}, {shifted}")
    chosen = wave.result("b32", f"and.b32 {{d}}, {chosen}, 15")
    row = wave.result("b32", "and.b32 {d}, %lane, 16")
    if "x16" in i.mnemonic:
        row = wave.result("b32", f"xor.b32 {{d}}, {row}, 16")
    lane = wave.result("b32", f"or.b32 {{d}}, {row}, {chosen}")
    fetches, bound = _selected(i)
    value = _shuffle(wave, wave.bits32(i[1]), lane)
    if fetches:
        wave.write32(i[0], value)
        return
    held = _is_active(wave, lane)
    other = "0" if bound else wave.bits32(i[0])
    wave.write32(i[0], wave.result("b32", f"selp.b32 {{d}}, {value}, {other}, {held}"))


def _selected(i: Rdna3Instruction) -> tuple[bool, bool]:
    """``op_sel:[fetch_inactive,bound_control]``."""
    bits = i.modifiers.get("op_sel", "[0,0]").strip("[]").split(",")
    return bits[0] == "1", len(bits) > 1 and bits[1] == "1"


def data_parallel(wave: Wave, i: Rdna3Instruction, value: str) -> tuple[str, str]:
    """DPP: the first source from another lane, and the predicate of lanes that are written."""
    lane, in_range = _source_lane(wave, i)
    result = _shuffle(wave, value, lane)
    valid = in_range
    if i.modifiers.get("fi") != "1":
        valid = wave.result("pred", f"and.pred {{d}}, {in_range}, {_is_active(wave, lane)}")
    result = wave.result("b32", f"selp.b32 {{d}}, {result}, 0, {valid}")
    written = "%act"
    if i.modifiers.get("bound_ctrl") != "1":
        written = wave.result("pred", f"and.pred {{d}}, %act, {valid}")
    row = wave.result("b32", "shr.u32 {d}, %lane, 4")
    bank = wave.result("b32", "bfe.u32 {d}, %lane, 2, 2")
    for name, place in (("row_mask", row), ("bank_mask", bank)):
        mask = int(i.modifiers.get(name, "0xf"), 0)
        if mask != 0xF:
            shifted = wave.result("b32", f"shr.u32 {{d}}, {mask}, {place}")
            bit = wave.result("b32", f"and.b32 {{d}}, {shifted}, 1")
            chosen = wave.result("pred", f"setp.ne.u32 {{d}}, {bit}, 0")
            written = wave.result("pred", f"and.pred {{d}}, {written}, {chosen}")
    return result, written


DPP_MODIFIERS = frozenset(
    {"row_mask", "bank_mask", "bound_ctrl", "fi", "quad_perm", "row_shl", "row_shr", "row_ror",
     "row_mirror", "row_half_mirror", "row_share", "row_xmask"}
)  # fmt: skip


def _source_lane(wave: Wave, i: Rdna3Instruction) -> tuple[str, str]:
    given = i.modifiers
    always = wave.result("pred", "setp.eq.u32 {d}, %lane, %lane")
    in_row = wave.result("b32", "and.b32 {d}, %lane, 15")
    row = wave.result("b32", "and.b32 {d}, %lane, 16")
    if "quad_perm" in given:
        chosen = [int(x) for x in given["quad_perm"].strip("[]").split(",")]
        table = sum(x << 2 * n for n, x in enumerate(chosen))
        place = wave.result("b32", "and.b32 {d}, %lane, 3")
        place = wave.result("b32", f"shl.b32 {{d}}, {place}, 1")
        shifted = wave.result("b32", f"shr.u32 {{d}}, {table}, {place}")
        shifted = wave.result("b32", f"and.b32 {{d}}, {shifted}, 3")
        quad = wave.result("b32", "and.b32 {d}, %lane, 28")
        return wave.result("b32", f"or.b32 {{d}}, {quad}, {shifted}"), always
    if "row_shl" in given:
        moved = wave.result("b32", f"add.u32 {{d}}, {in_row}, {given['row_shl']}")
        valid = wave.result("pred", f"setp.lt.u32 {{d}}, {moved}, 16")
    elif "row_shr" in given:
        moved = wave.result("b32", f"sub.u32 {{d}}, {in_row}, {given['row_shr']}")
        valid = wave.result("pred", f"setp.lt.u32 {{d}}, {moved}, 16")
    elif "row_ror" in given:
        moved, valid = wave.result("b32", f"sub.u32 {{d}}, {in_row}, {given['row_ror']}"), always
    elif "row_share" in given:
        moved, valid = wave.result("b32", f"mov.b32 {{d}}, {given['row_share']}"), always
    else:
        flips = {"row_mirror": 15, "row_half_mirror": 7}
        amounts = [amount for name, amount in flips.items() if name in given]
        amounts += [int(given["row_xmask"], 0)] if "row_xmask" in given else []
        if not amounts:
            raise UnknownInstruction(i.text, "a DPP control that is not in the table")
        moved, valid = wave.result("b32", f"xor.b32 {{d}}, {in_row}, {amounts[0]}"), always
    moved = wave.result("b32", f"and.b32 {{d}}, {moved}, 15")
    return wave.result("b32", f"or.b32 {{d}}, {row}, {moved}"), valid
