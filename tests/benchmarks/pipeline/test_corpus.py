"""Corpora for measuring: they pass the filters and count as different programs."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from benchmarks.pipeline import corpus
from benchmarks.pipeline.measurements import settings_for
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT

KERNEL = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n"


def programs(folder: Path, work: Path) -> list[str]:
    settings = settings_for(
        [f"local:{folder}"], work / "out", ["sm_80"], near_duplicates={"enabled": False}
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


def test_shipped_is_what_should_pair(tmp_path: Path) -> None:
    settings = settings_for(corpus.sources_of("shipped"), tmp_path / "out", ["sm_80"])
    found = {program.main for program in corpus.staged_programs(settings, tmp_path / "work")}
    manifest = yaml.safe_load((SHIPPED_ROOT / "manifest.yaml").read_text())
    expected = [program["path"] for program in manifest["programs"]]
    # The manifest counts from the corpus's root, a source from its own.
    assert sorted(found) == sorted(
        re.sub(r"^(programs|repositories/\w+)/", "", p) for p in expected
    )


def test_names_of_corpora(tmp_path: Path) -> None:
    url = "repository:https://example.com/a.git"
    assert corpus.sources_of(url) == [url]
    assert corpus.sources_of(str(tmp_path)) == [f"local:{tmp_path}"]
