"""CUDA's libraries, call by call: AMD's own libraries against NumPy and SciPy.

Programs are translated and run on the CPU backend with the libraries of ``cass setup libraries``. A
result is right if no number of it is further from the expected one than the type's tolerance times
the largest.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from cass_ray.cache import default_directory
from cass_ray.cli import app
from cass_ray.toolchain.archive.library_root import find_library_root
from tests.emulator.libraries.calls import blas, fft, solver, sparse
from tests.emulator.libraries.calls.suite import HERE, KINDS, Call, Kind, outputs, program, wrong

ROOT = find_library_root(default_directory())
PARTS: dict[str, ModuleType] = {
    "blas": blas,
    "fft": fft,
    "sparse": sparse,
    "solver": solver,
}

pytestmark = [pytest.mark.amd, pytest.mark.slow]


def failures(
    folder: Path, module: ModuleType, calls: Sequence[Call], architecture: str
) -> list[str]:
    """Run the calls as one program in ``folder``; which are not right, and why."""
    shutil.copy(HERE / "prelude.cuh", folder)
    source = folder / "calls.cu"
    source.write_text(program(module.HEADERS, calls, module.START))
    done = CliRunner().invoke(app, ["run", "--arch", architecture, str(source)])
    said = outputs(done.stdout)
    found = [f"{call.name}: {why}" for call in calls if (why := wrong(call, said))]
    if done.exit_code != 0:
        found.append(f"exit code {done.exit_code}: {done.stderr[-2000:]}")
    return found


@pytest.mark.parametrize("architecture", ["gfx1100", "gfx90a"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.letter)
@pytest.mark.parametrize("part", PARTS)
def test_calls(part: str, kind: Kind, architecture: str, tmp_path: Path) -> None:
    if ROOT is None or part not in ROOT.parts:
        pytest.skip(f"needs cass setup libraries {part}")
    module = PARTS[part]
    calls = module.calls(kind)
    if not calls:
        pytest.skip("its transforms are named by their complex type")
    assert len({call.name for call in calls}) == len(calls)
    found = failures(tmp_path, module, calls, architecture)
    assert not found, "\n".join(found)
