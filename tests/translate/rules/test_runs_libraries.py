"""CUB, Thrust, nvcuda::wmma and libcu++ run as hipCUB, rocThrust, rocWMMA and libhipcxx.

Expected values by hand.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.root import open_hip_root
from cass_ray.toolchain.locate import find_amd
from tests.translate.programs import output_of

pytestmark = pytest.mark.amd


def _needs(*libraries: str) -> None:
    try:
        root = open_hip_root(find_amd().rocm_path)
    except ToolMissing as error:
        pytest.skip(str(error))
    if missing := sorted(set(libraries) - set(root.libraries)):
        pytest.skip(f"no headers of {', '.join(missing)}")


WMMA = r"""
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// d = a * b + c: a[i][k] = i + k, b[k][j] = (k == j) + 2 (k == 0), c = 1.
__global__ void multiply(const half* a, const half* b, float* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}

int main() {
  half *a, *b;
  float* d;
  cudaMallocManaged(&a, 256 * sizeof(half));
  cudaMallocManaged(&b, 256 * sizeof(half));
  cudaMallocManaged(&d, 256 * sizeof(float));
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < 16; ++k) {
      a[16 * i + k] = __float2half((float)(i + k));
      b[16 * i + k] = __float2half((float)((i == k) + 2 * (k == 0)));  // column i, row k
    }
  multiply<<<1, 32>>>(a, b, d);
  if (cudaDeviceSynchronize()) return 1;
  printf("product:");
  for (int i : {0, 1, 7, 15})
    for (int j : {0, 3, 15}) printf(" %g", d[16 * i + j]);
  printf("\n");
}
"""


def test_matrix_fragments() -> None:
    """d[i][j] = a[i][j] + 2 a[i][0] + 1 = (i + j) + 2 i + 1. With or without rocWMMA."""
    values = [float(item) for item in output_of(WMMA)["product"].split()]
    assert values == [3 * i + j + 1 for i in (0, 1, 7, 15) for j in (0, 3, 15)]


TWO_WARPS = r"""
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// Warp w: d = a * b + w, a by columns for the second one: a[i][k] = i - k, b[k][j] = (k == j + w).
__global__ void multiply(const half* a, const half* b, float* d) {
  const int warp = threadIdx.x / 32;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> rows;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> columns;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, (float)warp);
  wmma::load_matrix_sync(right, b + 256 * warp, 16);
  if (warp == 0) {
    wmma::load_matrix_sync(rows, a, 16);
    wmma::mma_sync(sum, rows, right, sum);
  } else {
    wmma::load_matrix_sync(columns, a, 16);
    wmma::mma_sync(sum, columns, right, sum);
  }
  for (int k = 0; k < sum.num_elements; ++k) sum.x[k] *= 2;
  const auto layout = warp ? wmma::mem_col_major : wmma::mem_row_major;
  wmma::store_matrix_sync(d + 256 * warp, sum, 16, layout);
}

int main() {
  half *a, *b;
  float* d;
  cudaMallocManaged(&a, 256 * sizeof(half));
  cudaMallocManaged(&b, 512 * sizeof(half));
  cudaMallocManaged(&d, 512 * sizeof(float));
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < 16; ++k) {
      a[16 * i + k] = __float2half((float)(i - k));
      for (int w = 0; w < 2; ++w) b[256 * w + 16 * i + k] = __float2half((float)(k == i + w));
    }
  multiply<<<1, 64>>>(a, b, d);
  if (cudaDeviceSynchronize()) return 1;
  for (int w = 0; w < 2; ++w) {
    printf("warp %d:", w);
    for (int i : {0, 7, 15})
      for (int j : {0, 3, 15}) printf(" %g", d[256 * w + 16 * i + j]);
    printf("\n");
  }
}
"""


def test_two_warps_of_a_wavefront_have_a_tile_each() -> None:
    """First: d[i][j] = 2 (i - j). Second: a by columns is k - i, and k is j + 1 where it is there:
    2 (j + 1 - i + 1), else 2; stored by columns."""
    said = output_of(TWO_WARPS, architecture="gfx942")
    places = [(i, j) for i in (0, 7, 15) for j in (0, 3, 15)]
    assert [float(item) for item in said["warp 0"].split()] == [2 * (i - j) for i, j in places]
    # Column i of the stored matrix is column i of the product.
    second = [2 * (i + 1 - j + 1) if i < 15 else 2 for i, j in places]
    assert [float(item) for item in said["warp 1"].split()] == second


SHAPES = r"""
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// d = a * b + 1, b by columns and d by columns: a[i][k] = i - 2 k, b[k][j] = (k + j) % 3.
template <int M, int N, int K, class T, class V, class Sum>
__global__ void multiply(const V* a, const V* b, Sum* d) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  wmma::fill_fragment(sum, (Sum)1);
  wmma::load_matrix_sync(left, a, K);
  wmma::load_matrix_sync(right, b, K);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, M, wmma::mem_col_major);
}

template <int M, int N, int K, class T, class V, class Sum>
void run(const char* name, V extra) {
  V *a, *b;
  Sum* d;
  cudaMallocManaged(&a, M * K * sizeof(V));
  cudaMallocManaged(&b, K * N * sizeof(V));
  cudaMallocManaged(&d, M * N * sizeof(Sum));
  for (int k = 0; k < K; ++k) {
    for (int i = 0; i < M; ++i) a[i * K + k] = (V)(float)(i - 2 * k);
    for (int j = 0; j < N; ++j) b[j * K + k] = (V)(float)((k + j) % 3);
  }
  a[0] = extra;
  multiply<M, N, K, T, V, Sum><<<1, 32>>>(a, b, d);
  if (cudaDeviceSynchronize()) return;
  printf("%s:", name);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) printf(" %.9g", (double)d[j * M + i]);
  printf("\n");
}

__global__ void round(float* x) { *x = wmma::__float_to_tf32(*x); }

int main() {
  run<32, 8, 16, half, half, float>("32x8x16", (half)0.0f);
  run<8, 32, 16, signed char, signed char, int>("8x32x16", 0);
  run<8, 8, 4, double, double, double>("8x8x4", 0.0);
  // The bits below 2^-10 of a number between 1 and 2 are not there for tensor cores.
  run<16, 16, 8, wmma::precision::tf32, float, float>("16x16x8", 1.0009765625f + 1.0f / 2048);
  float* x;
  cudaMallocManaged(&x, 4);
  *x = 1.0f + 1.0f / 2048;  // halfway between 1 and 1 + 2^-10
  round<<<1, 1>>>(x);
  cudaDeviceSynchronize();
  printf("rounded: %.12g\n", *x);
}
"""


def test_all_shapes_of_tiles() -> None:
    said = output_of(SHAPES)
    for name, (m, n, k), first in [
        ("32x8x16", (32, 8, 16), 0.0),
        ("8x32x16", (8, 32, 16), 0.0),
        ("8x8x4", (8, 8, 4), 0.0),
        ("16x16x8", (16, 16, 8), 1.0009765625),
    ]:
        a = np.subtract.outer(np.arange(m), 2 * np.arange(k)).astype(float)
        a[0, 0] = first
        b = np.add.outer(np.arange(k), np.arange(n)) % 3
        values = np.array([float(item) for item in said[name].split()]).reshape(m, n)
        np.testing.assert_allclose(values, a @ b + 1, rtol=1e-7, err_msg=name)
    assert float(said["rounded"]) == 1.0009765625


CUB = r"""
#include <cstdio>
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

__global__ void blocks(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage storage;
  int sum = Reduce(storage).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, 1000 * sizeof(int));
  cudaMallocManaged(&out, 1000 * sizeof(int));
  for (int i = 0; i < 1000; ++i) in[i] = i * 37 % 1000;
  blocks<<<2, 128>>>(in, out);
  cudaDeviceSynchronize();
  printf("blocks: %d %d\n", out[0], out[1]);
  void* storage = nullptr;
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(storage, bytes, in, out, 1000);
  cudaMalloc(&storage, bytes);
  cub::DeviceScan::InclusiveSum(storage, bytes, in, out, 1000);
  cudaDeviceSynchronize();
  printf("scan: %d %d\n", out[1], out[999]);
  thrust::device_vector<int> values(in, in + 1000);
  thrust::sort(thrust::device, values.begin(), values.end());
  int sum = thrust::reduce(values.begin(), values.end());
  printf("thrust: %d %d %d\n", (int)values[10], (int)values[999], sum);
}
"""


@pytest.mark.slow
def test_primitives() -> None:
    """37 and 1000 have no common factor: the numbers are 0 to 999, in another order."""
    _needs("hipcub", "thrust", "rocprim")
    output = output_of(CUB)
    numbers = [i * 37 % 1000 for i in range(1000)]
    assert output["blocks"] == f"{sum(numbers[:128])} {sum(numbers[128:256])}"
    assert output["scan"] == "37 499500"
    assert output["thrust"] == "10 999 499500"


PLAIN_LIBRARY = r"""
#include <cstdio>
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

template <typename T>
__device__ cuda::std::optional<T> half_of(T value) {
  if (value % 2) return cuda::std::nullopt;
  return value / 2;
}

__global__ void use(int* counts, float* parts) {
  cuda::std::array<int, 3> a{{1, 2, 3}};
  counts[0] = a[0] + a.back() + static_cast<int>(a.size());
  cuda::std::tuple<int, float> pair = cuda::std::make_tuple(4, 2.5f);
  counts[1] = cuda::std::get<0>(pair);
  parts[0] = cuda::std::get<1>(pair);
  counts[2] = cuda::std::numeric_limits<short>::max();
  counts[3] = cuda::std::is_same_v<cuda::std::conditional_t<true, int, float>, int>;
  counts[4] = cuda::std::min(counts[0], 5) + cuda::std::multiplies<>{}(6, 7);
  counts[5] = half_of(10).has_value() ? *half_of(10) : -1;
  counts[6] = half_of(9).has_value();
  counts[7] = cuda::std::isnan(parts[0] - parts[0]);
  parts[1] = cuda::std::sqrt(cuda::std::abs(parts[0] * -3.6f));
  parts[2] = cuda::minimum<>{}(3, 1.5f);
}

int main() {
  int* counts;
  float* parts;
  cudaMallocManaged(&counts, 8 * sizeof(int));
  cudaMallocManaged(&parts, 3 * sizeof(float));
  use<<<1, 1>>>(counts, parts);
  if (cudaDeviceSynchronize()) return 1;
  printf("counts:");
  for (int i = 0; i < 8; ++i) printf(" %d", counts[i]);
  printf("\nparts: %g %g %g\n", parts[0], parts[1], parts[2]);
  thrust::device_vector<int> v(4);
  v[0] = 3, v[1] = -7, v[2] = 9, v[3] = 2;
  printf("most: %d\n", thrust::reduce(v.begin(), v.end(), -100, cuda::maximum<>{}));
  printf("least: %d\n", thrust::reduce(v.begin(), v.end(), 100, cuda::minimum<int>{}));
  printf("sum: %d\n", thrust::transform_reduce(v.begin(), v.end(), cuda::std::identity{}, 0,
                                             cuda::std::plus<int>{}));
}
"""


@pytest.mark.slow
def test_what_the_hosts_library_has_of_libcuxx() -> None:
    """1 + 3 + 3; min(7, 5) + 42; sqrt(9); min(3, 1.5)."""
    _needs("thrust", "rocprim")
    assert output_of(PLAIN_LIBRARY) == {
        "counts": "7 4 32767 1 47 5 0 0",
        "parts": "2.5 3 1.5",
        "most": "9",
        "least": "-7",
        "sum": "7",
    }


STANDARD_LIBRARY = r"""
#include <cstdio>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>
#include <cuda/std/limits>

__global__ void use(int* counts, float* parts) {
  cuda::atomic_ref<int, cuda::thread_scope_device> count(counts[0]);
  count.fetch_add(1, cuda::memory_order_relaxed);
  if (threadIdx.x == 0) {
    cuda::std::array<int, 3> a{{1, 2, 3}};
    counts[2] = a[0] + a.back() + static_cast<int>(a.size());
    cuda::std::tuple<int, float> pair = cuda::std::make_tuple(4, 2.5f);
    counts[3] = cuda::std::get<0>(pair);
    cuda::std::complex<float> z(1.0f, 2.0f);
    z = z * z;
    parts[0] = z.real();
    parts[1] = z.imag();
    parts[2] = cuda::std::get<1>(pair);
    counts[4] = cuda::std::numeric_limits<int>::max() == 0x7fffffff &&
                cuda::std::is_same<cuda::std::int32_t, int>::value;
    counts[5] = cuda::std::move(a)[1];
  }
}

int main() {
  int* counts;
  float* parts;
  cudaMallocManaged(&counts, 8 * sizeof(int));
  cudaMallocManaged(&parts, 4 * sizeof(float));
  use<<<3, 64>>>(counts, parts);
  if (cudaDeviceSynchronize()) return 1;
  printf("atomic: %d\narray: %d %d\n", counts[0], counts[2], counts[5]);
  printf("tuple: %d %g\ncomplex: %g %g\n", counts[3], parts[2], parts[0], parts[1]);
  printf("traits: %d\n", counts[4]);
}
"""


@pytest.mark.skipif(
    "CASS_LIBHIPCXX" not in os.environ,
    reason="CASS_LIBHIPCXX is not set: the folder `include` of https://github.com/ROCm/libhipcxx",
)
def test_standard_library() -> None:
    """192 threads count; 1 + 3 + 3; (1 + 2i)^2 = -3 + 4i."""
    output = output_of(STANDARD_LIBRARY, headers=Path(os.environ["CASS_LIBHIPCXX"]))
    assert output == {
        "atomic": "192",
        "array": "7 2",
        "tuple": "4 2.5",
        "complex": "-3 4",
        "traits": "1",
    }


PINNED = r"""
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/system/cuda/experimental/pinned_allocator.h>
#include <vector>
using Pinned = thrust::system::cuda::experimental::pinned_allocator<int>;
template <typename T>
using vector = thrust::host_vector<T, thrust::cuda::experimental::pinned_allocator<T>>;
int main() {
  vector<int> v(5, 7);
  v.push_back(1);
  thrust::device_vector<int> d = v;
  d[0] = 4;
  thrust::host_vector<int, Pinned> back = d;
  std::vector<double, Pinned::rebind<double>::other> w(3, 0.5);
  cudaPointerAttributes of;
  cudaPointerGetAttributes(&of, v.data());
  printf("values: %d %d %d\n", back[0], back[5], static_cast<int>(back.size()));
  printf("other: %g\n", w[2]);
  printf("pinned: %d\n", of.type == cudaMemoryTypeHost);
}
"""


@pytest.mark.slow
def test_pinned_allocators_of_thrust() -> None:
    _needs("thrust", "rocprim")
    assert output_of(PINNED) == {"values": "4 1 6", "other": "0.5", "pinned": "1"}
