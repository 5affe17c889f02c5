"""Eigen in kernels, beside CUDA's plain vectors and beside headers that keep HIP's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cass_ray.translate.engines.registry import make_translator
from tests.translate.programs import output_of

EIGEN = Path("/usr/include/eigen3")
BODY = r"""
#include <cuda_runtime.h>
#include <Eigen/Dense>
#include <cstdio>
__global__ void twice(Eigen::Vector3f* v, float3* out) {
  v[0] = Eigen::Matrix3f::Identity() * 2 * v[0];
  out[0] = make_float3(v[0].x(), v[0].y(), v[0].z());
}
int main() {
  Eigen::Vector3f host(1, 2, 3), *in;
  float3 back, *out;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof back);
  cudaMemcpy(in, &host, sizeof host, cudaMemcpyHostToDevice);
  twice<<<1, 1>>>(in, out);
  cudaMemcpy(&back, out, sizeof back, cudaMemcpyDeviceToHost);
  printf("out: %g %g %g\n", back.x, back.y, back.z);
}
"""

pytestmark = pytest.mark.amd


@pytest.mark.parametrize(
    "head",
    ["", "#include <cuda_bf16.h>\n", "#include <torch/extension.h>\n#include <cuda_bf16.h>\n"],
)
def test_matrices_in_a_kernel(tmp_path: Path, head: str) -> None:
    if not EIGEN.is_dir():
        pytest.skip("needs libeigen3-dev")
    shutil.copytree(EIGEN / "Eigen", tmp_path / "Eigen")
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "extension.h").write_text("")
    # Before Eigen, which looks for the function when it is read. Compilers' errors are mended else.
    made = make_translator("rules").translate(head + BODY, filename="a.cu").source
    assert 0 < made.index("hlog(const T& x)") < made.index("<Eigen/Dense>")
    assert output_of(head + BODY, tmp_path) == {"out": "2 4 6"}
