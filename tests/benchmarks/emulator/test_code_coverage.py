"""How machine code is counted that LLVM disassembles as that of an older processor."""

from __future__ import annotations

import shutil

import pytest

from benchmarks.emulator.code_coverage import Disassembly
from cass_ray.emulator.engine_interface import load_engine

pytestmark = pytest.mark.skipif(
    shutil.which("llvm-objdump-19") is None, reason="needs llvm-objdump-19"
)

# As llvm-objdump 19 writes a gfx950 kernel of ours with --mcpu=gfx942: it does not know
# v_bitop3_b32, and takes its second word for an instruction of its own.
LINES = """\
\tv_and_b32_e32 v41, v32, v33                // 000000007434: 26524320
\t.long 0xd2340528                           // 000000007438: D2340528
\ts_nor_b64 s[10:11], s[40:41], s[82:83]     // 00000000743C: 8C8A5328 ; Warning: not aligned
\tv_add_u32_e32 v41, v36, v66                // 000000007440: 68528524
"""


def test_an_instruction_that_llvm_does_not_know_is_read_by_the_engine() -> None:
    found = Disassembly("gfx950", load_engine()).of_lines(LINES.splitlines())

    assert found == {"v_and_b32": 1, "v_bitop3_b32": 1, "v_add_u32": 1}
