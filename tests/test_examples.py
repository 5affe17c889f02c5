"""Every script of ``examples/`` runs as a newcomer would run it, and prints what it promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cass_ray.execute.backends.registry import candidate_backend
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox import isolation
from tests.folders import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
TESTED = {
    "translate_text",
    "compile_both_sides",
    "lift_cubin",
    "verify_port",
    "ray_data_pairs",
    "train_tiny_model",
}


def run(name: str, *arguments: str | Path, seconds: int = 300) -> str:
    """What the example prints. Fails the test when the example fails."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def compilers() -> None:
    try:
        find_nvidia(), find_amd()
        isolation.isolates()
    except (ToolMissing, isolation.IsolationUnavailableError) as error:
        pytest.skip(str(error))


def test_every_example_is_tested_and_listed() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == TESTED
    listed = (EXAMPLES / "README.md").read_text()
    assert [name for name in sorted(names) if f"`{name}.py`" not in listed] == []


def test_translate_text() -> None:
    printed = run("translate_text")
    assert "hipDeviceSynchronize();" in printed
    assert "example.cu:7:5: error: cudaGraphConditionalHandleCreate" in printed
    assert "2 unsupported" in printed


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.usefixtures("compilers")
def test_compile_both_sides() -> None:
    printed = run("compile_both_sides")
    sass, _, rdna = printed.partition("RDNA3 (gfx1100)")
    assert "FFMA" in sass  # y += a * x is one fused multiply-add on either side
    assert "v_fmac_f32" in rdna


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.usefixtures("compilers")
def test_lift_cubin() -> None:
    printed = run("lift_cubin")
    assert "reverse: " in printed
    assert ".amdhsa_kernel reverse" in printed
    assert "s_barrier" in printed


@pytest.mark.amd
def test_verify_port() -> None:
    if problem := candidate_backend().problem():
        pytest.skip(problem)
    printed = run("verify_port")
    assert "right.hip: verified" in printed
    # 0 + … + 99 is 4950; two whole blocks add 0 + … + 127 = 8128.
    assert "wrong.hip: with 100: line 1: '8128' instead of '4950'" in printed


@pytest.mark.slow
@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.usefixtures("compilers")
def test_ray_data_pairs(tmp_path: Path) -> None:
    printed = run("ray_data_pairs", tmp_path / "pairs", seconds=600)
    assert "10 pairs in" in printed
    assert "cuda_source, hip_source, cuda_device, hip_device" in printed


@pytest.mark.slow
@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.usefixtures("compilers")
def test_train_tiny_model(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs the extra `train`")
    printed = run("train_tiny_model", tmp_path, seconds=900)
    assert "4 steps, loss " in printed
    assert (tmp_path / "tiny" / "model" / "config.json").exists()
