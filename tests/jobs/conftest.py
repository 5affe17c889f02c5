"""A small corpus and builds of it, shared by the tests of the main job."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.conftest import make_task as make_task
from tests.folders import REPOSITORY

SHIPPED = REPOSITORY / "cass_ray/corpus/shipped"
JOB = REPOSITORY / "jobs/build_dataset.py"
GOOD = 7
"""Programs of the small corpus that pair."""


def program(number: int) -> str:
    """A small kernel that differs by ``number`` in its code."""
    return f"""#include <cuda_runtime.h>
#include <cstdio>

__global__ void scale{number}(float *data, int count) {{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) data[index] = data[index] * {number}.5f + {number};
}}

int main() {{
    float *data = nullptr;
    cudaMalloc(&data, 256 * sizeof(float));
    cudaMemset(data, 0, 256 * sizeof(float));
    scale{number}<<<1, 256>>>(data, 256);
    cudaFree(data);
    printf("scale {number}\\n");
    return 0;
}}
"""


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs that pair, and one that the compiler refuses."""
    folder = tmp_path_factory.mktemp("corpus")
    for number in range(GOOD):
        (folder / f"scale{number}.cu").write_text(program(number))
    (folder / "broken.cu").write_text(program(99).replace("int index", "int index index"))
    return folder


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A content cache of this test run alone, so that compilers do run; probes are kept."""
    return {**os.environ, "CASS_RESULTS": str(tmp_path_factory.mktemp("results"))}


def start(arguments: list[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    """Start the job in its own process group."""
    with log.open("wb") as out:
        return subprocess.Popen(
            [sys.executable, str(JOB), *arguments],
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=REPOSITORY,
            start_new_session=True,
        )


def build(arguments: list[str], environment: dict[str, str], log: Path) -> str:
    """Run the job to its end; its output. Fails the test when the job fails."""
    process = start(arguments, environment, log)
    status = process.wait(timeout=600)
    assert status == 0, log.read_text()
    return log.read_text()


def parquet_bytes(folder: Path) -> dict[str, bytes]:
    """Every Parquet file of a data set."""
    parts = [*folder.glob("pairs/*.parquet"), *folder.glob("rejects/*.parquet")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in parts}


@pytest.fixture(scope="session")
def reference(
    corpus: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The data set of an undisturbed run."""
    out = tmp_path_factory.mktemp("reference")
    build(
        ["--source", f"local:{corpus}", "--out", str(out), "--set", "rows_per_block=2"],
        {**environment, "CASS_RESULTS": str(out / "results")},
        out / "log",
    )
    shutil.rmtree(out / "results")
    return out
