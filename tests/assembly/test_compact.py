"""The compact form of RDNA3 assembly: what it says; nothing is lost that a program sees."""

from __future__ import annotations

import re

import pytest

from cass_ray.assembly import rdna3
from cass_ray.assembly.compact import CompactError, compact, expand
from cass_ray.toolchain.elf import read_sections
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from tests.assembly import samples

KERNELS = samples.read("kernels.gfx1100.s")

SHORT = """\
.target gfx1100

Kernel : _Z5firstPii
.args 8* 4 hidden
.uses lds 64 vgprs 3 sgprs 16 system_sgpr_workgroup_id_y 1
s_load_b64 s[0:1], s[0:1], 0x0
v_mov_b32_e32 v0, 0
s_cbranch_execz .LBB0_1
.LBB0_1:
s_endpgm

Data :
.type total,@object
.section .bss,"aw",@nobits
.globl total
total:
.long 0
.size total, 4
"""


def test_what_is_left_of_a_kernel() -> None:
    """By hand from the text of ``scale<float>(float *, float, int)``: a pointer and two words."""
    kernel = compact(KERNELS).split("\n\n")[2].splitlines()
    assert kernel[:4] == [
        "Kernel : _Z5scaleIfEvPT_S0_i",
        ".args 8* 4 4 hidden",
        ".uses vgprs 3 sgprs 16 ieee_mode 1",
        "s_load_b32 s4, s[0:1], 0x1c",
    ]
    assert kernel[-1] == "s_endpgm"
    assert not [line for line in kernel if line.startswith(("s_delay_alu", "s_clause", ";"))]


def test_descriptors_and_arguments_come_back() -> None:
    before, after = rdna3.parse(KERNELS), rdna3.parse(expand(compact(KERNELS)))
    assert list(after.kernels) == list(before.kernels)
    for name, kernel in before.kernels.items():
        assert after.kernels[name].descriptor == kernel.descriptor
        slots = [slot.model_copy(update={"name": ""}) for slot in kernel.arguments]
        assert after.kernels[name].arguments == slots


def test_the_form_is_its_own_compact_form() -> None:
    assert compact(expand(SHORT)) == SHORT
    assert compact(expand(compact(KERNELS))) == compact(KERNELS)


@pytest.mark.amd
def test_the_code_is_the_same_but_for_hints() -> None:
    """The assembler's bytes; templates' sections are one with the others when linked."""
    try:
        amd = find_amd()
    except ToolMissing as error:
        pytest.skip(str(error))
    plain = "\n".join(
        "\t.text" if line.startswith("\t.section\t.text.") else line
        for line in KERNELS.splitlines()
        if not re.match(r"\s*(s_delay_alu|s_clause|\.p2align\s+6$|\.ident)", line)
    )
    wanted, found = (
        {section.name: section.data for section in read_sections(amd.assemble(text))}
        for text in (plain + "\n", expand(compact(KERNELS)))
    )
    assert found[".text"] == wanted[".text"]
    assert found[".rodata"] == wanted[".rodata"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((".target gfx1100", ""), r"no \.target line"),
        (("Kernel : _Z5firstPii", ""), r"line 4: `\.args 8\* 4 hidden` stands before any kernel"),
        (("8* 4 hidden", "8* 4 hidden printf"), r"\.args has no `printf`"),
        (("8* 4 hidden", "8* 4 more"), r"\.args has no `more`"),
        (("lds 64", "lds many"), r"\.uses lds many"),
        (("lds 64", "local 64"), r"\.uses has no `local`"),
    ],
)
def test_what_is_no_compact_form_is_refused(change: tuple[str, str], message: str) -> None:
    with pytest.raises(CompactError, match=message):
        expand(SHORT.replace(*change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("hidden_heap_v1", "hidden_unheard_of"), "hidden argument unheard_of"),
        (("by_value", "pipe"), "an argument of kind pipe"),
        (("\t\t.amdhsa_wavefront_size32 1\n", ""), r"no \.amdhsa_wavefront_size32"),
        (("\t\t.amdhsa_dx10_clamp 1", "\t\t.amdhsa_new_field 1"), "dx10_clamp"),
    ],
)
def test_what_has_no_compact_form_is_refused(change: tuple[str, str], message: str) -> None:
    text = expand(SHORT.replace("8* 4 hidden", "8* 4 hidden heap_v1"))
    with pytest.raises(CompactError, match=message):
        compact(text.replace(*change))


def test_arguments_that_are_not_aligned_by_themselves_say_where_they_are() -> None:
    """A structure of 12 bytes that begins at 16, behind a word."""
    text = SHORT.replace("8* 4 hidden", "4 12@16 8*")
    slots = rdna3.parse(expand(text)).kernels["_Z5firstPii"].arguments
    assert [(slot.offset, slot.size) for slot in slots] == [(0, 4), (16, 12), (32, 8)]
    assert compact(expand(text)) == text
