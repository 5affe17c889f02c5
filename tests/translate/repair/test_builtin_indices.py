"""Whole indices have CUDA's types where HIP's own classes fit no operator or template."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.pipeline.stages.repaired import compile_repaired
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import Unit

SOURCE = """\
#include <hip/hip_runtime.h>
template <class T> struct is_index {{ static constexpr bool value = false; }};
template <> struct is_index<uint3> {{ static constexpr bool value = true; }};
template <> struct is_index<dim3> {{ static constexpr bool value = true; }};
struct I {{ unsigned x, y, z; }};
template <class T, bool Is = is_index<T>::value>
struct sum_of;
template <class T>
struct sum_of<T, true> {{
  static __device__ unsigned get(T a) {{ return a.x + a.y + a.z; }}
}};
template <class T>
__device__ decltype(sum_of<T>::get(T())) sum(T a) {{
  return sum_of<T>::get(a);
}}
__device__ inline I operator*(uint3 a, dim3 b) {{ return {{a.x * b.x, a.y * b.y, a.z * b.z}}; }}
__device__ inline I operator+(I a, uint3 b) {{ return {{a.x + b.x, a.y + b.y, a.z + b.z}}; }}
__global__ void k(unsigned* p) {{
  {}
}}
"""


MEANT = {
    "BLOCKS": "dim3(blockDim.x, blockDim.y, blockDim.z)",
    "BLOCK": "make_uint3(blockIdx.x, blockIdx.y, blockIdx.z)",
    "THREAD": "make_uint3(threadIdx.x, threadIdx.y, threadIdx.z)",
    "GRID": "dim3(gridDim.x, gridDim.y, gridDim.z)",
}


@pytest.mark.amd
@pytest.mark.parametrize(
    ("statement", "mended"),
    [
        ("I i = blockIdx * blockDim + threadIdx; p[i.x] = i.y;",
         "I i = BLOCK * BLOCKS + "
         "THREAD; p[i.x] = i.y;"),
        ("*p = (blockIdx * blockDim).x + threadIdx.x;",
         "*p = (BLOCK * BLOCKS).x + threadIdx.x;"),
        ("*p = sum(threadIdx);", "*p = sum(THREAD);"),
        ("*p = sum(gridDim) + sum(blockIdx);",
         "*p = sum(GRID) + sum(BLOCK);"),
        ("*p = threadIdx.x + blockIdx.y * gridDim.x;",
         "*p = threadIdx.x + blockIdx.y * gridDim.x;"),
    ],
)  # fmt: skip
def test_whole_indices(statement: str, mended: str, tmp_path: Path) -> None:
    for name, meaning in MEANT.items():
        mended = mended.replace(name, meaning)
    text = SOURCE.format(statement)
    (tmp_path / "a.hip").write_text(text)
    unit = Unit(tmp_path, PurePosixPath("a.hip"))
    _, source = compile_repaired(unit, find_amd().compile_device)
    assert (source or text) == SOURCE.format(mended)
