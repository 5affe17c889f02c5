"""``cass verify --arch``: a port that is right on 32 lanes only is found on 64."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cass_ray.commands.verify import app
from tests.translate.rules.wavefront_defects import KERNELS, cuda, naive_hip

BOTH = ["--arch", "gfx1100", "--arch", "gfx942"]
PRINTS = "with no arguments: line 1:"
DIFFERENCES = {"array": "cass-rdna3: read of uninitialised memory: read of LDS"}
"""Where the output is the same by luck: fresh LDS of the emulator is zero."""

pytestmark = pytest.mark.amd


@pytest.fixture
def original(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / f"{request.param}.cu"
    path.write_text(cuda(request.param))
    (tmp_path / "port.hip").write_text(naive_hip(request.param))
    return path


@pytest.mark.parametrize("original", KERNELS, indirect=True)
def test_a_port_that_counts_on_32_lanes_is_found_on_64(original: Path) -> None:
    port = original.with_name("port.hip")
    done = CliRunner().invoke(app, [str(original), str(port), *BOTH])
    assert done.exit_code == 1, done.output
    narrow, wide = done.output.split("gfx942\n", 1)
    assert "\nverified\n" in narrow
    assert f"\nfirst difference: gfx942: {DIFFERENCES.get(original.stem, PRINTS)}" in wide
    assert f"\n{port}:" in wide  # the lines that count on 32 lanes


@pytest.mark.parametrize("original", KERNELS, indirect=True)
def test_the_rules_translation_is_right_on_both(original: Path) -> None:
    done = CliRunner().invoke(app, [str(original), *BOTH, "--json"])
    assert done.exit_code == 0, done.output
    evidence = json.loads(done.output)
    assert evidence["passed"]
    assert [each["exact"] for each in evidence["architectures"].values()] == [True, True]


def test_a_processor_that_is_not_emulated(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(cuda("ballot"))
    done = CliRunner().invoke(app, [str(tmp_path / "a.cu"), "--arch", "gfx1030"])
    assert done.exit_code == 2
    assert "gfx1030" in done.output
