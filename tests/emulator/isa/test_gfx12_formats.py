"""The words that LLVM is asked about for gfx12; its answers make the engine's table."""

from __future__ import annotations

import pytest

from cass_ray.emulator.isa.gfx12.formats import forms
from cass_ray.emulator.isa.probe import disassemble, find_disassembler

pytestmark = pytest.mark.amd

# Opcodes of AMD's "RDNA4 Instruction Set Architecture", 15; VSAMPLE's with 256 added.
_IMAGES = {
    0x0: "image_load",
    0x6: "image_store",
    0x17: "image_get_resinfo",
    0x11B: "image_sample",
    0x11C: "image_sample_d",
    0x11F: "image_sample_lz",
    0x12F: "image_gather4",
}


@pytest.mark.skipif(find_disassembler() is None, reason="llvm-mc (package llvm-19) is missing")
def test_images_with_few_addresses_are_asked_about() -> None:
    """Unused addresses are zero; with anything else there LLVM knows no such instruction."""
    asked = [item for item in forms() if item[0] == "MIMG" and item[1] in _IMAGES]
    texts = disassemble([words for _, _, words in asked], "gfx12")
    found: dict[int, set[str]] = {}
    for (_, opcode, _), text in zip(asked, texts, strict=True):
        if text is not None:
            found.setdefault(opcode, set()).add(text.split()[0])
    assert found == {opcode: {name} for opcode, name in _IMAGES.items()}
