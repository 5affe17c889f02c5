"""The AMD side of rows: further architectures are a column, and no reason to reject a row."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.pipeline.pieces.blocks import finished_columns
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.amd import AmdStage
from cass_ray.pipeline.stages.base import Row
from cass_ray.pipeline.stages.translate import TranslateStage
from cass_ray.pipeline.workspace import Workspace
from cass_ray.storage.store import Store
from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.engines.registry import make_translator

pytestmark = pytest.mark.amd

PROGRAM = """
#include <cstdio>
__global__ void swap(int* p) {
  p[threadIdx.x] = __shfl_xor_sync(0xffffffffu, p[threadIdx.x], 1);
}
#ifdef __gfx90a__
#error not for this one
#endif
int main() { swap<<<1, 32>>>(nullptr); }
"""


def compiled(folder: Path, architectures: list[str]) -> Row:
    store = StoredTrees(Store(folder / "trees"))
    (folder / "source").mkdir()
    (folder / "source" / "swap.cu").write_text(PROGRAM)
    trees, rules = Workspace(store.get), make_translator("rules")
    settings = BuildSettings(
        sources=["shipped"], out=Path("unused"), amd_architectures=architectures
    )
    (program,) = parse_source(f"local:{folder / 'source'}").iterate(folder / "work", store)
    rows = TranslateStage(rules, trees).run([program.to_row()])
    (row,) = AmdStage(find_amd(), trees, rules, settings).run(rows)
    return row


def test_a_column_set_for_each(tmp_path: Path) -> None:
    row = compiled(tmp_path, ["gfx1100", "gfx942", "gfx90a"])
    assert not row["reason"], row["diagnostic"]
    assert row["hip_arch"] == "gfx1100"
    assert '"amdgcn-amd-amdhsa--gfx1100"' in row["hip_device"]
    mi300, mi200 = row["devices"]
    assert '"amdgcn-amd-amdhsa--gfx942"' in mi300["device"]
    assert (mi300["arch"], mi300["verified"], mi300["evidence"]) == ("gfx942", "compiled", None)
    assert "--offload-arch=gfx942" in mi300["toolchain"]["flags"]
    assert (mi200["device"], mi200["verified"]) == ("", "none")
    assert "not for this one" in mi200["diagnostic"]
    kept = pa.Table.from_pylist([finished_columns(row)]).column("devices")
    assert kept.cast(PAIR_SCHEMA.field("devices").type).to_pylist()[0][0]["arch"] == "gfx942"


def test_one_architecture_has_no_devices(tmp_path: Path) -> None:
    assert compiled(tmp_path, ["gfx942"])["devices"] is None
