"""Structured bindings of vector types beside PyTorch's headers, which keep HIP's own types."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.translate.engines.registry import make_translator
from tests.translate.programs import output_of

HEAD = "#include <torch/extension.h>\n#include <cstdio>\n#include <cuda_runtime.h>\n"
SOURCE = (
    HEAD
    + r"""
__device__ float2 pair(float a) { return make_float2(a, a + 1); }
__global__ void bind(const float4* in, float* out, int3 n) {
  const auto [r, x, y, z] = in[threadIdx.x];
  auto [a, b] = pair(x);
  float4 w = in[0];
  auto& [p, q, s, t] = w;
  p = 9;
  const auto& [i, j, l] = n;
  out[threadIdx.x] = r + x * y - z + a * b + w.x + i + 10 * j + 100 * l;
}
int main() {
  float4 host[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, *in;
  float back[2], *out;
  auto [i, j, l] = make_int3(1, 2, 3);
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof back);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  bind<<<1, 2>>>(in, out, make_int3(i, j, l));
  cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
  printf("out: %g %g\n", back[0], back[1]);
}
"""
)


@pytest.mark.amd
def test_structured_bindings(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "extension.h").write_text("")
    # 1 + 6 - 4 + 2 * 3 + 9 + 321, 5 + 42 - 8 + 6 * 7 + 9 + 321
    assert output_of(SOURCE, tmp_path) == {"out": "339 411"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("auto [x, y] = v;", True),
        ("const auto& [x, y] = v;", True),
        ("for (auto [x, y, z] : v) f(x);", True),
        ("auto [x]{v};", True),
        ("auto f = [x, y](int a) { return a; };", False),
        ("auto [a, b, c, d, e] = v;", False),
    ],
)
def test_what_asks_for_them(line: str, expected: bool) -> None:
    source = f"{HEAD}void f(float2 v) {{ {line} }}\n"
    made = make_translator("rules").translate(source, filename="a.cu").source
    assert ("CASS_VECTOR_BINDINGS" in made) is expected
