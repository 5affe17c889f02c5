"""The decoder against LLVM's disassembler: mnemonic, operands and size."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from cass_ray.emulator.engine_interface import Engine
from cass_ray.emulator.isa.probe import Probed, disassemble, find_disassembler, probe

pytestmark = pytest.mark.amd

_COMMENT = re.compile(r"/\*.*?\*/")
_TOKEN = re.compile(
    r"-?\|?-?\b(?:[vsa](?:\[\d+:\d+\]|\d+)|ttmp(?:\[\d+:\d+\]|\d+)|vcc(?:_lo|_hi)?|exec(?:_lo|_hi)?"
    r"|m0|null|src_\w+)\b|(?<![\w:])-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?)(?![\w:])"
)
_MODIFIER = re.compile(r"\b\w+:(?:\[[^\]]*\]|\S+)|(?:sendmsg|hwreg)\([^)]*\)")
# Formats whose constants are printed as something else than a number, or in another order.
_REGISTERS_ONLY = {"SOPK", "SOPP", "DS", "FLAT", "GLOBAL", "SCRATCH", "SMEM", "MUBUF", "MTBUF"}
# DPP and SDWA have forms of their own; TFE, global wave sync registers and probes are graphics.
# LLVM 19 has loads of buffers to LDS for gfx11, newer ones know that there are none; those of
# gfx9's encodings are refused.
_NOT_COMPARED = (
    "Invalid register",
    "_dpp",
    "_sdwa",
    "dpp8",
    " tfe",
    "gs_reg_rtn",
    "s_atc_probe",
    "buffer_load_lds",
    "gpr_idx",
    " lds",
)
# LLVM shows a null register on gfx9, which has none, and scalars where registers are meant.
_NOT_COMPARED_GFX9 = (*_NOT_COMPARED, "null", "s_cbranch_join", "v_accvgpr_mov")
# LLVM 19 has instructions of other processors for gfx12 and takes halves for whole registers there;
# moves from a register that is chosen by M0 have no constants.
_NOT_COMPARED_GFX12 = (
    *_NOT_COMPARED,
    "prefetch",
    "flat_scratch_base",
    "s_singleuse_vdst",
    "s_wakeup_barrier",
    "v_cvt_pk_f32_fp8_e32",
    "v_cvt_pk_f32_bf8_e32",
    "v_movrels_b32_e32",
)
_IMPLIED = {"vcc", "vcc_lo", "vcc_hi", "exec", "exec_lo"}
# Every bit but those that choose format and opcode may be random.
_OPCODE_BITS = {
    "SOP2": 0xFF800000, "SOPK": 0xFF800000, "SOP1": 0xFF80FF00, "SOPC": 0xFFFF0000,
    "SOPP": 0xFFFF0000, "SMEM": 0xFFFC0000, "VOP2": 0xFE000000, "VOP1": 0xFE01FE00,
    "VOPC": 0xFFFE0000, "VOP3": 0xFFFF0000, "VOP3SD": 0xFFFF0000, "VOP3P": 0xFFFF0000,
    "VOPDX": 0xFFFE0000, "VOPDY": 0xFFFE0000, "DS": 0xFFFE0000, "FLAT": 0xFFFF0000,
    "GLOBAL": 0xFFFF0000, "SCRATCH": 0xFFFF0000, "MUBUF": 0xFFFC0000,
}  # fmt: skip
_GFX9_OPCODE_BITS = {
    **_OPCODE_BITS, "FLAT": 0xFDFCC000, "GLOBAL": 0xFDFCC000, "SCRATCH": 0xFDFCC000,
    "MUBUF": 0xFDFC0000,
}  # fmt: skip

_GFX12_OPCODE_BITS = {
    **_OPCODE_BITS, "SMEM": 0xFFFFE000, "FLAT": 0xFFFFC080, "GLOBAL": 0xFFFFC080,
    "SCRATCH": 0xFFFFC080, "MUBUF": 0xFFFFC080,
}  # fmt: skip
_CHOICES = {
    "gfx11": (_OPCODE_BITS, _NOT_COMPARED),
    "gfx90a": (_GFX9_OPCODE_BITS, _NOT_COMPARED_GFX9),
    "gfx942": (_GFX9_OPCODE_BITS, _NOT_COMPARED_GFX9),
    "gfx12": (_GFX12_OPCODE_BITS, _NOT_COMPARED_GFX12),
}
"""Of each instruction set: the bits that are kept, and the texts that are not compared."""


def _normal(text: str, encoding: str) -> tuple[str, list[str]]:
    """Mnemonic and operands in a form that both spellings share."""
    text = _COMMENT.sub("", text).replace("v_dual_", "v_")
    parts = []
    for part in text.split(" :: "):
        name, _, rest = part.partition(" ")
        parts.append(re.sub(r"_(?:e32|e64)$", "", name))
        rest = _MODIFIER.sub("", rest)
        # Modifiers of constants have several spellings; registers show whether they are decoded.
        rest = re.sub(r"(?:-\||\||neg\(|abs\()(?=-?\d)", "", rest)
        tokens = [token.replace("|", "") for token in _TOKEN.findall(rest)]
        if encoding in _REGISTERS_ONLY:
            tokens = sorted(t for t in tokens if re.match(r"-?[vstme]", t) and t != "null")
        # Of a literal for 16 bits the rest may be printed or not.
        mask = 0xFFFF if re.search(r"_[biuf]16", name) else 0xFFFFFFFF
        parts += [_number(token, mask) for token in tokens if token not in _IMPLIED]
    return parts[0], parts[1:]


def _number(token: str, mask: int) -> str:
    if re.fullmatch(r"-?0x[0-9a-f]+", token):
        return str(int(token, 16) & mask)
    if re.fullmatch(r"-?\d+", token):
        return str(int(token) & mask)
    return token[:11]


def _variants(item: Probed, mask: int, count: int, rng: random.Random) -> Iterator[tuple[int, ...]]:
    yield item.words
    for _ in range(count):
        first = item.words[0] & mask | rng.getrandbits(32) & ~mask
        yield (first, *(rng.getrandbits(32) for _ in item.words[1:]))
        # Often only the operands of one dword differ from a form that is known to be legal.
        flipped = 1 << rng.randrange(32) & ~mask
        yield (item.words[0] ^ flipped, *item.words[1:])
        if len(item.words) > 1:
            yield (item.words[0], item.words[1] ^ 1 << rng.randrange(32), *item.words[2:])


@pytest.mark.skipif(find_disassembler() is None, reason="llvm-mc (package llvm-19) is missing")
@pytest.mark.parametrize("instruction_set", sorted(_CHOICES))
def test_generated_encodings_agree_with_llvm(engine: Engine, instruction_set: str) -> None:
    rng = random.Random(11)
    masks, skipped = _CHOICES[instruction_set]
    wanted = []
    for item in probe(instruction_set):
        if mask := masks.get(item.encoding):
            wanted += [(item.encoding, words) for words in _variants(item, mask, 6, rng)]
    # A literal or DPP dword may follow.
    padded = [(encoding, (*words, 0x12345678)) for encoding, words in wanted]
    texts = disassemble([words for _, words in wanted + padded], instruction_set)
    compared = 0
    for (encoding, words), text in zip(wanted + padded, texts, strict=True):
        if text is None or any(part in text for part in skipped):
            continue
        decoded = engine.decode(words, instruction_set)
        assert decoded is not None, (text, [hex(word) for word in words])
        assert decoded[1] == 4 * len(words), (text, decoded)
        assert _normal(decoded[0], encoding) == _normal(text, encoding), (text, decoded[0])
        compared += 1
    assert compared > 5000


@pytest.mark.parametrize(
    ("text", "instruction_set"),
    [
        ("v_swap_b32 v0, s1", "gfx11"),
        ("v_swap_b32 v0, 1.0", "gfx942"),
        ("v_wmma_f32_16x16x16_f16 v[0:7], s[8:15], v[16:23], v[0:7]", "gfx11"),
        ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], 0, v[0:7]", "gfx12"),
        ("v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[12:19], s3", "gfx12"),
    ],
)
def test_operands_that_must_be_registers(engine: Engine, text: str, instruction_set: str) -> None:
    """Handlers use them as places: anything else is no instruction."""
    words = {
        "v_swap_b32 v0, s1": (0x7E00CA01,),
        "v_swap_b32 v0, 1.0": (0x7E00A2F2,),
        "v_wmma_f32_16x16x16_f16 v[0:7], s[8:15], v[16:23], v[0:7]": (0xCC404000, 0x1C022008),
        "v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], 0, v[0:7]": (0xCC404000, 0x1C010108),
        "v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[12:19], s3": (0xCC504000, 0x180E1908),
    }[text]
    assert engine.decode(words, instruction_set) is None


@pytest.mark.parametrize("words", [(0xFFFFFFFF,), (0xD5000000,), (0xBE804500,), ()])
def test_what_is_no_instruction_is_refused(engine: Engine, words: tuple[int, ...]) -> None:
    assert engine.decode(words) is None
