"""Headers of a tree that have no translation: units that call them are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.dataset.row import Reason
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.amd import AmdStage
from cass_ray.pipeline.stages.base import Row
from cass_ray.pipeline.stages.translate import TranslateStage
from cass_ray.pipeline.workspace import Workspace
from cass_ray.storage.store import Store
from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.engines.registry import make_translator

pytestmark = pytest.mark.amd

HEADER = """
#ifdef WITH_BARRIER
__device__ inline void start(unsigned a) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(a));
}
#endif
"""
"""PTX's mbarrier has no counterpart below gfx1250: nothing that the rules could put there."""
KERNEL = "__global__ void fill(int* p) { p[threadIdx.x] = 1; }\n"
CALLS = "__global__ void fill(int* p) { start(1); p[threadIdx.x] = 1; }\n"
PROGRAMS = {
    "without.cu": '#include "start.cuh"\n',
    "with.cu": '#define WITH_BARRIER\n#include "start.cuh"\n',
    "by_macro.cu": '#define WITH_BARRIER 1\n#define START "start.cuh"\n#include START\n',
    "twice.cu": '#include "start.cuh"\n#define WITH_BARRIER\n#include "start.cuh"\n',
    "through.cu": '#include "through.cuh"\n',
    "off_again.cu": '#define WITH_BARRIER\n#undef WITH_BARRIER\n#include "start.cuh"\n',
    "uncalled.cu": '#define WITH_BARRIER\n#include "start.cuh"\n',
    "alone.cu": "",
}
REFUSED = {"with.cu", "by_macro.cu", "twice.cu", "through.cu"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    folder = tmp_path_factory.mktemp("headers")
    source = folder / "source"
    source.mkdir()
    (source / "start.cuh").write_text(HEADER)
    (source / "through.cuh").write_text('#define WITH_BARRIER\n#include "start.cuh"\n')
    for name, text in PROGRAMS.items():
        (source / name).write_text(text + (CALLS if name in REFUSED else KERNEL))
    store = StoredTrees(Store(folder / "trees"))
    trees, rules = Workspace(store.get), make_translator("rules")
    programs = list(parse_source(f"local:{source}").iterate(folder / "work", store))
    settings = BuildSettings(sources=["shipped"], out=Path("unused"))
    done = TranslateStage(rules, trees).run([each.to_row() for each in programs])
    return {row["path"]: row for row in AmdStage(find_amd(), trees, rules, settings).run(done)}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_unit_whose_machine_code_has_it_is_refused_with_the_finding(
    name: str, rows: dict[str, Row]
) -> None:
    row = rows[name]
    if name not in REFUSED:
        assert not row["reason"], row["diagnostic"]
        return
    assert row["reason"] == Reason.UNTRANSLATABLE.value, row["diagnostic"]
    assert "start.cuh:4:" in row["diagnostic"]
    assert "mbarrier.init.shared.b64 has no translation" in row["diagnostic"]
