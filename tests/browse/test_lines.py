"""From a line to its instructions: which those are is known from what they compute."""

from __future__ import annotations

from typing import Any

import pytest

from cass_ray.assembly.source_lines import instructions_by_line, rdna3_lines, sass_lines
from cass_ray.browse.lines import LinesUnknown, same_line, sides_of
from cass_ray.browse.listings import amd_listing, sass_listing
from tests.browse.program import ADD, CUDA, HIP, MULTIPLY

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

NVDISASM = """\
\t.section\t.text.f,"ax",@progbits
f:
\t//## File "/x/cuda/include/sm_30.hpp", line 90 inlined at "/x/a.cu", line 7
\t//## File "/x/a.cu", line 7 inlined at "/x/a.cu", line 12
\t//## File "/x/a.cu", line 12
        /*0000*/                   SHFL.IDX PT, R1, R2, R3, 0x1f ;
        /*0010*/                   MOV R1, R2 ;
\t//## File "/x/other.cuh", line 3
        /*0020*/                   EXIT ;
"""
CLANG = """\
\t.text
\t.type\tf,@function
f:
\t.file\t0 "/x" "a.hip"
\t.file\t1 "/y/include" "shuffle.h"
\t.loc\t0 4 1 prologue_end ; a.hip:4:1
\tv_mov_b32_e32 v0, 0
\t.loc\t1 90 2 ; /y/include/shuffle.h:90:2 @[ /y/include/shuffle.h:99:1 @[ a.hip:7:3 ] ]
\tds_bpermute_b32 v0, v0, v0
\t.loc\t1 3 3 ; /y/include/shuffle.h:3:3
\ts_endpgm
.Lfunc_end0:
\t.size\tf, .Lfunc_end0-f
"""


def test_inlined_code_counts_for_the_line_that_calls_it() -> None:
    assert sass_lines(NVDISASM, "a.cu") == {"f": [7, 7, 0]}
    assert rdna3_lines(CLANG, "a.hip") == {"f": [4, 7, 0]}


def test_instructions_by_line() -> None:
    assert instructions_by_line({"f": [4, 0, 4], "g": [4]}) == {4: [("f", 0), ("f", 2), ("g", 0)]}


def test_lines_of_two_texts() -> None:
    same = same_line(CUDA, HIP)
    assert (same[2], same[ADD], same[MULTIPLY]) == (3, ADD + 1, MULTIPLY + 1)
    assert 1 not in same  # two lines in the place of one
    assert same_line("a\nb\n", "a\nc\n") == {1: 1, 2: 2}


def test_a_line_on_both_sides(pair: dict[str, Any]) -> None:
    nvidia, amd = sides_of(pair, sass_listing(pair["cuda_device"]), amd_listing(pair["hip_device"]))
    for line, sass_word, amd_word in ((ADD, "FADD", "v_add_f32"), (MULTIPLY, "FMUL", "v_mul_f32")):
        cuda = _texts(pair["cuda_device"], nvidia.listing.lines_of(nvidia.places(line)))
        hip = _texts(pair["hip_device"], amd.listing.lines_of(amd.places(line + 1)))
        assert sum(sass_word in text for text in cuda) == 1
        assert sum(amd_word in text for text in hip) == 1
    store = next(n for n, text in enumerate(pair["cuda_device"].splitlines()) if "STG" in text)
    assert nvidia.source_line(store) in (MULTIPLY, 11)  # the first in the text, of either kernel
    assert nvidia.source_line(0) == 0


def test_a_program_of_several_files_says_that_it_needs_them(pair: dict[str, Any]) -> None:
    row = {**pair, "cuda_source": '#include "mine.h"\n' + CUDA}
    with pytest.raises(LinesUnknown, match=r"mine\.h"):
        sides_of(row, sass_listing(pair["cuda_device"]), amd_listing(pair["hip_device"]))


def _texts(listing: str, lines: list[int]) -> list[str]:
    written = listing.splitlines()
    return [written[line] for line in lines]
