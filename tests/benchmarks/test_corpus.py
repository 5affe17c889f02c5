"""Corpora for measuring: they pass the filters and count as different programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import corpus
from benchmarks.measurements import settings_for

KERNEL = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n"


def programs(folder: Path, work: Path) -> list[str]:
    settings = settings_for(
        f"local:{folder}", work / "out", ["sm_80"], near_duplicates={"enabled": False}
    )
    staged = corpus.staged_programs(settings, work / "work")
    assert all((program.root / program.main).is_file() for program in staged)
    return [program.id for program in staged]


def test_variants_are_programs_of_their_own_and_keep_their_headers(tmp_path: Path) -> None:
    source = tmp_path / "corpus"
    (source / "include").mkdir(parents=True)
    (source / "include" / "size.h").write_text("#define SIZE 32\n")
    filler = "".join(f"int value_{line} = {line};\n" for line in range(12))
    (source / "a.cu").write_text(f'#include "include/size.h"\n{filler}{KERNEL}')
    assert corpus.write_variants(source, tmp_path / "many", 3) == 3
    assert len(set(programs(tmp_path / "many", tmp_path / "run"))) == 3


def test_tiny_programs_pass_the_filters_and_differ(tmp_path: Path) -> None:
    corpus.write_tiny_programs(tmp_path / "tiny", 20)
    assert len(set(programs(tmp_path / "tiny", tmp_path / "run"))) == 20


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("shipped", f"local:{corpus.SHIPPED}"),
        ("repository:https://example.com/a.git", "repository:https://example.com/a.git"),
    ],
)
def test_names_of_corpora(name: str, source: str) -> None:
    assert corpus.source_of(name) == source


def test_a_path_is_a_local_source(tmp_path: Path) -> None:
    assert corpus.source_of(str(tmp_path)) == f"local:{tmp_path}"
