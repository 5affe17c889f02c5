"""Lines, tokens and mnemonics, by hand and against the parsers of cass_ray.assembly."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.analysis.mnemonics import mnemonics
from cass_ray.analysis.text_counts import count
from cass_ray.assembly import rdna3, sass
from cass_ray.assembly.opcodes import InstructionSet
from tests.analysis.conftest import HOST, RDNA3, SASS
from tests.assembly import host_assembly
from tests.assembly.samples import read


@pytest.mark.parametrize(
    ("text", "lines", "tokens"),
    [
        ("", 0, 0),
        ("\n\n \t\n", 0, 0),
        ("int a;", 1, 3),
        ("int a;\n\n  b_1 += 22;\n", 2, 8),
        ("x\ny", 2, 2),
        ("é é", 1, 2),
    ],
)
def test_lines_and_tokens(text: str, lines: int, tokens: int) -> None:
    assert count(text) == (lines, tokens)


@given(st.text(alphabet=" \t\nab_1+;", max_size=60))
def test_lines_are_those_with_something_in_them(text: str) -> None:
    assert count(text).lines == sum(bool(line.strip()) for line in text.split("\n"))


def test_mnemonics_by_hand() -> None:
    assert mnemonics(InstructionSet.SASS, SASS) == Counter(
        ["MOV", "LDG.E", "BRA", "FADD", "STG.E", "EXIT"]
    )
    assert mnemonics(InstructionSet.RDNA3, RDNA3) == Counter(
        [
            "s_load_b64",
            "v_dual_mov_b32",
            "v_dual_add_f32",
            "global_load_b32",
            "s_waitcnt",
            "v_add_f32_e32",
            "global_store_b32",
            "s_endpgm",
        ]
    )
    assert mnemonics(InstructionSet.X86, HOST) == Counter(["pushq", "movq", "lock addl", "retq"])


@pytest.mark.parametrize("name", ["kernels.sm_90.cuobjdump.sass", "launch.sm_89.cuobjdump.sass"])
def test_sass_counts_what_its_parser_reads(name: str) -> None:
    text = sass.normalize(read(name))
    parsed = Counter(
        each.mnemonic for function in sass.parse(text).functions for each in function.instructions
    )
    assert parsed
    assert mnemonics(InstructionSet.SASS, text) == parsed


def test_rdna3_counts_what_its_parser_reads() -> None:
    text = read("kernels.gfx1100.s")
    parsed = Counter(
        name
        for line in rdna3.parse(text).lines
        if line.kind is rdna3.Rdna3LineKind.INSTRUCTION
        for name in line.mnemonics
    )
    assert parsed
    assert mnemonics(InstructionSet.RDNA3, text) == parsed


@pytest.mark.parametrize("name", ["launch.cuda.s", "launch.hip.s"])
def test_host_counts_what_splitting_lines_gives(name: str) -> None:
    expected = Counter(host_assembly.mnemonics(read(name)))
    assert expected
    assert mnemonics(InstructionSet.X86, read(name)) == expected
