"""A small task on disk, and compilers with a cache of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from cass_ray.bench.evaluate import Examiner
from cass_ray.bench.judge import Judge
from cass_ray.bench.programs import Compilers
from cass_ray.bench.task import CANARY, BenchTask, load_task
from cass_ray.cache import ContentCache
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.toolchain.locate import find_nvidia

CUDA = f"""// {CANARY}
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
__global__ void squares(const int* in, long long* out, int n) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd((unsigned long long*)out, (unsigned long long)in[i] * in[i]);
}}
int main(int argc, char** argv) {{
  const int n = argc > 1 ? atoi(argv[1]) : 1000;
  unsigned seed = argc > 2 ? atoi(argv[2]) : 7;
  int* host = new int[n];
  for (int i = 0; i < n; ++i) host[i] = (seed = seed * 1664525u + 1013904223u) >> 24;
  int* in;
  long long *out, sum = 0;
  if (cudaMalloc(&in, n * sizeof(int)) || cudaMalloc(&out, sizeof sum)) return 2;
  cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(out, &sum, sizeof sum, cudaMemcpyHostToDevice);
  squares<<<(n + 127) / 128, 128>>>(in, out, n);
  cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
  printf("numbers %d\\nsum of squares %lld\\n", n, sum);
  return cudaFree(in) || cudaFree(out);
}}
"""
"""Sum of squares of ``argv[1]`` numbers from seed ``argv[2]``."""

HIP = CUDA.replace("cuda_runtime.h", "hip/hip_runtime.h").replace("cuda", "hip")

SPEC = {
    "name": "sum_of_squares",
    "category": "Basic Operations",
    "difficulty": "easy",
    "features": ["atomics_64", "reduction"],
    "description": "Adds the squares of pseudo-random numbers with 64-bit atomics.",
    "arguments": [[], ["33", "3"]],
    "hidden_arguments": [["777", "12"], ["4099", "5"]],
    "comparison": {"kind": "exact"},
}

MakeTask = Callable[..., Path]


@pytest.fixture
def make_task(tmp_path: Path) -> MakeTask:
    """Writes the task's folder, with changed files and settings; its path."""

    def make(files: dict[str, str] | None = None, **changed: object) -> Path:
        spec = {**SPEC, **changed}
        folder = tmp_path / "tasks" / "basic_operations" / str(spec["name"])
        for name, text in {"main.cu": CUDA, "main.hip": HIP, **(files or {})}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (folder / "task.yaml").write_text(yaml.safe_dump(spec))
        return folder

    return make


@pytest.fixture
def task(make_task: MakeTask) -> BenchTask:
    return load_task(make_task())


@pytest.fixture(scope="session")
def compilers(tmp_path_factory: pytest.TempPathFactory) -> Compilers:
    backend = Rdna3Backend(threads=1)
    if problem := backend.problem():
        pytest.skip(problem)
    cache = ContentCache(tmp_path_factory.mktemp("results"))
    return Compilers(backend, find_nvidia, cache)


@pytest.fixture(scope="session")
def examiner(compilers: Compilers) -> Examiner:
    return Examiner(compilers, Judge(compilers, compilers.cache))
