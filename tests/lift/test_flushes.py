"""Programs of ``nvcc -ftz=true``: no denormal number stays, whatever LLVM leaves out."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from benchmarks.lift.cubins import Ways, compile_unit
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import Unit
from tests.lift.lifted_programs import ProgramOnAmd

UNIT = Unit(Path(__file__).parent / "programs", PurePosixPath("flushes.cu"))

EXPECTED = """\
products: 00000000 80000000 00000000 41400000
sums: 00000000 00000000 00000000 3fc00000
fused: 80000000 bf800000 c0000000 c1700000
least: 00000000 00000000 00000000 00000000
calls: 00000000 80000000 00000000 40100000
"""
"""By hand, of 2^-127, -2^-127 and 2^-128, which count as zeros of their signs, and 1.5.

Products with 1, 2, 4 and 8; sums from -0 on; ``x * -1 - 0``, ``x * -2 - 1``, ``x * -4 - 2`` and
``x * -8 - 3``; minima of magnitudes; ``x * 1``, ``x - 0``, ``x * 1 - 0`` and ``1.5 * 1.5``.
"""


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(("architecture", "target"), [("sm_80", "gfx1100"), ("sm_120", "gfx942")])
def test_no_denormal_number_stays(architecture: str, target: str, tmp_path: Path) -> None:
    way = Ways(nvcc=("-ftz=true",))
    cubins, message = compile_unit(find_nvidia(), UNIT, [architecture], way)
    assert not message
    assert ProgramOnAmd(UNIT, target, tmp_path).printed(cubins[architecture]) == EXPECTED
