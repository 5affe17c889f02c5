"""Messages about a translation count the lines of the text that a person wrote."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.corpus.reading.original_lines import OriginalLines, with_original_lines
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import unit_on_disk
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translate_program

ORIGINAL = b"one\ntwo\nthree\nfour\n"


@pytest.mark.parametrize(
    ("translated", "numbers"),
    [
        (ORIGINAL, [1, 2, 3, 4]),
        (b"added\n" + ORIGINAL, [1, 1, 2, 3, 4]),
        (b"one\nTWO\nTWO more\nthree\nfour\n", [1, 2, 2, 3, 4]),
        (b"one\nthree\nfour\n", [1, 3, 4]),
        (b"one\ntwo\nthree\nfour\nadded\n", [1, 2, 3, 4, 4]),
        (b"ONE\ntwo\nadded\nthree\nFOUR\n", [1, 2, 2, 3, 4]),
    ],
)
def test_a_line_is_the_one_it_was_made_of(translated: bytes, numbers: list[int]) -> None:
    lines = OriginalLines(ORIGINAL, translated)
    assert [lines.number(line + 1) for line in range(len(numbers))] == numbers


def test_places_of_other_files_stay_and_shown_lines_follow() -> None:
    said = (
        "In file included from a.cu:2:\n"
        "h.h:7:1: note: here\n"
        "    7 | int x;\n"
        "a.cu:4:3: error: no\n"
        "    4 | three\n"
        "      | ^\n"
        "/usr/include/a.cu:4:3: note: not the program's\n"
        "    4 | other\n"
    )
    assert with_original_lines(said, {"a.cu": ORIGINAL}, {"a.cu": b"x\n" + ORIGINAL}) == (
        "In file included from a.cu:1:\n"
        "h.h:7:1: note: here\n"
        "    7 | int x;\n"
        "a.cu:3:3: error: no\n"
        "    3 | three\n"
        "      | ^\n"
        "/usr/include/a.cu:4:3: note: not the program's\n"
        "    4 | other\n"
    )


@pytest.mark.amd
def test_clang_names_the_line_of_the_cuda_file(tmp_path: Path) -> None:
    text = b"__global__ void k(int *p) { *p = 1; }\nint main() {\n  nowhere();\n}\n"
    made = translate_program(Sources(PurePosixPath("a.cu"), {"a.cu": text}), make_translator())
    assert made.sources.files["a.cu"].split(b"\n").index(b"  nowhere();") > 2  # an added include
    with pytest.raises(CompileFailure) as failed, unit_on_disk(made.sources) as unit:
        find_amd().compile(unit)
    assert "a.cu:3:3: error:" in failed.value.diagnostic
    assert "    3 |   nowhere();" in failed.value.diagnostic


def test_lines_that_repeat_take_no_longer_than_others() -> None:
    """``difflib`` compares each of 60,000 equal lines with each other: it would not end."""
    repeated = b"}\n" * 60_000
    lines = OriginalLines(
        b"int a;\n" + repeated + b"int z;\n", b"x\nint a;\n" + repeated + b"int z;\n"
    )
    assert [lines.number(line) for line in (1, 2, 3, 60_002, 60_003)] == [1, 1, 2, 60_001, 60_002]
