"""Files that others include: pairs where they compile alone, else parts of the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.dataset.row import Reason
from cass_ray.pipeline.funnel import Funnel
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import Row
from cass_ray.pipeline.stages.nvidia import NvidiaStage
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.locate import find_nvidia
from tests.pipeline.stages.test_unit_options import programs_of

pytestmark = pytest.mark.amd

ALONE = "__global__ void k(int* p) { p[threadIdx.x] = 1; }\n"
NEEDS = "__global__ void k(Given* p) { p[threadIdx.x] = 1; }\n"
NO_KERNEL = "int k();\n"
ABSENT = '#include "absent.h"\n' + ALONE


def row_of(folder: Path, source: str, part_of: str) -> Row:
    ((program,), store) = programs_of(folder, "", source)
    row = {**program.to_row(), "part_of": part_of, "repository": "a/b"}
    settings = BuildSettings(sources=["shipped"], out=Path("unused"))
    (done,) = NvidiaStage(find_nvidia(), Workspace(store.get), settings).run([row])
    return done


@pytest.mark.parametrize(
    ("source", "part_of", "reason"),
    [
        (ALONE, "main.cu", ""),
        (NEEDS, "main.cu", Reason.FRAGMENT.value),
        (NEEDS, "", Reason.COMPILE_ERROR.value),
        (NO_KERNEL, "main.cu", Reason.NO_DEVICE_CODE.value),
        (ABSENT, "main.cu", Reason.MISSING_HEADER.value),
    ],
)
def test_parts(tmp_path: Path, source: str, part_of: str, reason: str) -> None:
    row = row_of(tmp_path, source, part_of)

    assert row["reason"] == reason, row["diagnostic"]
    if reason == Reason.FRAGMENT.value:
        assert "a part of main.cu, which includes it" in row["diagnostic"]
        assert '"Given" is undefined' in row["diagnostic"]


def test_parts_are_no_units_of_the_funnel(tmp_path: Path) -> None:
    funnel = Funnel()
    for part_of in ("main.cu", ""):
        funnel.add(row_of(tmp_path / (part_of or "none"), NEEDS, part_of))
    assert funnel.steps["a/b"]["units"] == 1
    assert sum(funnel.unlocks.values()) == 1
