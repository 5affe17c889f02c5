"""Half, bfloat16 and 8-bit floats, locations of CUDA 13 and functions of a program's own, run.

Expected values: PyTorch's and NumPy's conversions and arithmetic, and by hand.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.translate.programs import output_of

SOURCE = r"""
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>
#include <cuda_runtime.h>

#define FULL 0xffffffffu
#define __shfl_down(v, d) __shfl_down_sync(FULL, v, d)

template <typename T> __device__ T warp_sum(T v) {
  for (int o = 16; o; o >>= 1) v = v + __shfl_xor_sync(FULL, v, o);
  return v;
}

__device__ float atomicMax(float* address, float value) {
  int* bits = (int*)address;
  int old = *bits, seen;
  do {
    seen = old;
    old = atomicCAS(bits, seen, __float_as_int(fmaxf(value, __int_as_float(seen))));
  } while (seen != old);
  return __int_as_float(old);
}

__global__ void shuffles(float* out, __nv_bfloat162* pair, __nv_bfloat16* sum, half* lane) {
  out[threadIdx.x] = -100.0f + threadIdx.x;
  __nv_bfloat16 b = __float2bfloat16((float)threadIdx.x);
  b = warp_sum(b);
  __nv_bfloat162 p = __floats2bfloat162_rn(threadIdx.x, -1.0f * threadIdx.x);
  p = __shfl_sync(FULL, p, 5);
  half h = __shfl_down(__float2half(threadIdx.x * 0.5f), 3);
  if (threadIdx.x == 0) { *sum = b; *pair = p; *lane = h; }
  atomicMax(out + 32, (float)threadIdx.x);
}

__global__ void to_fp8(unsigned char* out, const float* in, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  out[2 * i] = __nv_fp8_e4m3(in[i]).__x;
  out[2 * i + 1] = __nv_cvt_float_to_fp8(in[i], __NV_NOSAT, __NV_E5M2);
}

__global__ void from_fp8(float* out) {
  __nv_fp8_e4m3 a;
  __nv_fp8_e5m2 b;
  a.__x = b.__x = threadIdx.x;
  out[2 * threadIdx.x] = float(a);
  out[2 * threadIdx.x + 1] = __half2float(__half(b));
}

__global__ void saturated(unsigned* out) {
  out[0] = __nv_cvt_float_to_fp8(1000.0f, __NV_SATFINITE, __NV_E4M3) |
           __nv_cvt_float_to_fp8(1e6f, __NV_SATFINITE, __NV_E5M2) << 8 |
           __nv_cvt_float_to_fp8(1000.0f, __NV_NOSAT, __NV_E4M3) << 16 |
           (unsigned)__nv_cvt_float_to_fp8(1e6f, __NV_NOSAT, __NV_E5M2) << 24;
  __nv_fp8x4_e4m3 four(make_float4(1, 2, -0.5f, 500));
  out[1] = four.__x;
  float4 back = float4(four);
  out[2] = back.x + 10 * back.y + 100 * back.z + back.w;
}

__global__ void ptx(unsigned* out, unsigned a, unsigned b, unsigned c) {
  asm("add.f16x2 %0, %1, %2;" : "=r"(out[0]) : "r"(a), "r"(b));
  asm("sub.f16x2 %0, %1, %2;" : "=r"(out[1]) : "r"(a), "r"(b));
  asm("mul.f16x2 %0, %1, %2;" : "=r"(out[2]) : "r"(a), "r"(b));
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(out[3]) : "r"(a), "r"(b), "r"(c));
  asm("max.f16x2 %0, %1, %2;" : "=r"(out[4]) : "r"(a), "r"(b));
  asm("neg.f16x2 %0, %1;" : "=r"(out[5]) : "r"(a));
  unsigned short low = a, r;
  asm("{ .reg .f16 t; add.f16 t, %1, %1; abs.f16 %0, t; }" : "=h"(r) : "h"(low));
  out[6] = r;
}

// An inclusive sum of eight lanes, as moderngpu makes it.
__global__ void scan(int* out) {
  int sum = 1, control = (32 - 8) << 8;
  for (int offset = 1; offset < 8; offset *= 2)
    asm("{.reg .s32 r0; .reg .pred p; shfl.up.sync.b32 r0|p, %1, %2, %3, 0xFFFFFFFF;"
        " @p add.s32 r0, r0, %4; mov.s32 %0, r0; }"
        : "=r"(sum) : "r"(sum), "r"(offset), "r"(control), "r"(sum));
  out[threadIdx.x] = sum;
  unsigned less, equal;
  asm("vset4.u32.u32.lt.add %0, %1, %2, %3;"
      : "=r"(less) : "r"(0x01ff0305), "r"(0x02000304), "r"(10));
  asm("vset4.u32.u32.eq %0, %1, %2, %3;"
      : "=r"(equal) : "r"(0x01ff0305), "r"(0x02000304), "r"(0));
  out[32] = less; out[33] = equal;
}

__global__ void copies(int* out, const int4* from) {
  __shared__ int4 buffer[3];
  unsigned at = __cvta_generic_to_shared(buffer);
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" :: "r"(at), "l"(from), "n"(16));
  __pipeline_memcpy_async(&buffer[1], from, 16);
  __pipeline_memcpy_async(&buffer[2], from, 16, 6);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[0] = buffer[0].w; out[1] = buffer[1].x; out[2] = buffer[2].z; out[3] = buffer[2].w;
}

__global__ void sums(half* h, half2* h2, __nv_bfloat16* b) {
  atomicAdd(&h[threadIdx.x & 1], __float2half(0.5f));
  atomicAdd(h2, __floats2half2_rn(1.0f, -2.0f));
  atomicAdd(b, __float2bfloat16(2.0f));
}

// Each warp waits for what the other one has written, three times.
__global__ void waits(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int values[2][64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int value = threadIdx.x;
  for (int i = 0; i < 3; ++i) {
    cuda::memcpy_async(&values[i & 1][threadIdx.x], &value, sizeof value, barrier);
    barrier.arrive_and_wait();
    value = values[i & 1][threadIdx.x ^ 63] + 1;
  }
  out[threadIdx.x] = value;
}

template <typename T> T* managed(int n) {
  T* data;
  cudaMallocManaged(&data, n * sizeof(T));
  memset(data, 0, n * sizeof(T));
  return data;
}

int main() {
  float* out = managed<float>(512);
  __nv_bfloat162* pair = managed<__nv_bfloat162>(1);
  __nv_bfloat16* sum = managed<__nv_bfloat16>(1);
  half* lane = managed<half>(1);
  shuffles<<<1, 32>>>(out, pair, sum, lane);
  cudaDeviceSynchronize();
  printf("shuffles: %g %g %g %g\n", (float)*sum, (float)pair->x, (float)pair->y, (float)*lane);
  printf("own atomicMax: %g\n", out[32]);

  float* in = managed<float>(64);
  const float special[] = {0, -0.0f, 1, 448, 464, 465, -1e9f, 61439, 61440, 57344, 0.0009765625f,
                           0.00097656256f, 0.0029296875f, 1.0625f, 1.1875f, -3.3f, 1.52587891e-05f};
  int n = sizeof special / sizeof *special;
  memcpy(in, special, sizeof special);
  unsigned char* bytes = managed<unsigned char>(128);
  to_fp8<<<1, 64>>>(bytes, in, n);
  cudaDeviceSynchronize();
  printf("to fp8:");
  for (int i = 0; i < 2 * n; ++i) printf(" %d", bytes[i]);
  from_fp8<<<1, 256>>>(out);
  cudaDeviceSynchronize();
  printf("\nfrom fp8:");
  for (int i = 0; i < 512; ++i) printf(" %.9g", out[i]);

  unsigned* words = managed<unsigned>(8);
  ptx<<<1, 1>>>(words, 0xc2423555u, 0x3e003c01u, 0x12345678u);
  cudaDeviceSynchronize();
  printf("\nptx:");
  for (int i = 0; i < 7; ++i) printf(" %x", words[i]);

  saturated<<<1, 1>>>(words);
  cudaDeviceSynchronize();
  printf("\nsaturated: %x %x %d", words[0], words[1], (int)words[2]);

  int4* four = managed<int4>(1);
  *four = make_int4(11, 12, 0x01020304, 14);
  copies<<<1, 1>>>((int*)words, four);
  cudaDeviceSynchronize();
  printf("\ncopies: %d %d %x %d\n", words[0], words[1], words[2], words[3]);

  half* h = managed<half>(2);
  half2* h2 = managed<half2>(1);
  __nv_bfloat16* b = managed<__nv_bfloat16>(1);
  sums<<<1, 64>>>(h, h2, b);
  cudaDeviceSynchronize();
  printf("sums: %g %g %g %g %g\n", (float)h[0], (float)h[1], (float)h2->x, (float)h2->y, (float)*b);

  int* scanned = managed<int>(34);
  scan<<<1, 32>>>(scanned);
  cudaDeviceSynchronize();
  printf("scan:");
  for (int i = 0; i < 34; ++i) printf(" %d", scanned[i]);
  printf("\n");

  int* waited = managed<int>(64);
  waits<<<1, 64>>>(waited);
  cudaDeviceSynchronize();
  printf("barrier: %d %d %d\n", waited[0], waited[40], waited[63]);

  __half x = __float2half(0.1f), y = __float2half(3.0f), z = x * y;
  z += x;
  half2 two = {};
  two.x = z;
  two = two + two;
  printf("host: %.9g %.9g %.9g %d\n", (float)z, (float)(x / y), (float)two.x, x < y && __hge(y, x));

  cudaMemLocation place;
  place.type = cudaMemLocationTypeDevice;
  place.id = 0;
  int first = cudaMemPrefetchAsync(h, 4, place, 0, 0);
  place.type = cudaMemLocationTypeHost;
  int second = cudaMemPrefetchAsync(h, 4, place, 0);
  int third = cudaMemAdvise(h, 4, cudaMemAdviseSetReadMostly, place);
  place.type = cudaMemLocationTypeInvalid;
  int fourth = cudaMemPrefetchAsync(h, 4, place, 0, 0);
  printf("locations: %d %d %d %d\n", first, second, third, fourth);
}
"""

SPECIAL = [0, -0.0, 1, 448, 464, 465, -1e9, 61439, 61440, 57344, 2**-10, 0.00097656256]
SPECIAL += [3 * 2**-10, 1.0625, 1.1875, -3.3, 2**-16]


@pytest.fixture(scope="module")
def lines() -> dict[str, str]:
    return output_of(SOURCE)


@pytest.mark.amd
def test_shuffles_of_16_bit_types(lines: dict[str, str]) -> None:
    """0 + … + 31 = 496; in bfloat16 every partial sum of the butterfly but the last fits 8 bits."""
    assert lines["shuffles"] == "496 5 -5 1.5"


@pytest.mark.amd
def test_a_function_that_hip_defines_itself(lines: dict[str, str]) -> None:
    assert lines["own atomicMax"] == "31"


@pytest.mark.amd
def test_to_8_bits(lines: dict[str, str]) -> None:
    """PyTorch rounds the same; beyond 464 CUDA's constructor takes 448."""
    torch = pytest.importorskip("torch")
    values = torch.tensor(SPECIAL, dtype=torch.float32)
    clamped = values.clamp(-448, 448)
    e4m3 = clamped.to(torch.float8_e4m3fn).view(torch.uint8).tolist()
    e5m2 = values.to(torch.float8_e5m2).view(torch.uint8).tolist()
    expected = [byte for pair in zip(e4m3, e5m2, strict=True) for byte in pair]
    assert [int(byte) for byte in lines["to fp8"].split()] == expected


@pytest.mark.amd
def test_to_the_ends_of_8_bits(lines: dict[str, str]) -> None:
    """448 is 7e and 57344 is 7b; without saturation a NaN, 7f, and infinity, 7c. Of four: 1 is 38,
    2 is 40, -0.5 is b0; back again 1 + 20 - 50 + 448."""
    assert lines["saturated"] == "7c7f7b7e 7eb04038 419"


@pytest.mark.amd
def test_from_8_bits(lines: dict[str, str]) -> None:
    torch = pytest.importorskip("torch")
    codes = torch.arange(256, dtype=torch.int32).to(torch.uint8)
    both = [codes.view(kind).float() for kind in (torch.float8_e4m3fn, torch.float8_e5m2)]
    expected = torch.stack(both, dim=1).flatten().numpy()
    found = np.array([np.float32(value) for value in lines["from fp8"].split()])
    assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.amd
def test_ptx_on_halves(lines: dict[str, str]) -> None:
    a, b, c = (
        np.frombuffer(np.uint32(word).tobytes(), np.float16)
        for word in (0xC2423555, 0x3E003C01, 0x12345678)
    )
    exact = a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
    pairs = [a + b, a - b, a * b, exact.astype(np.float16), np.maximum(a, b), -a]
    expected = [f"{int(np.frombuffer(pair.tobytes(), np.uint32)[0]):x}" for pair in pairs]
    expected.append(f"{int(np.frombuffer(abs(a[:1] + a[:1]).tobytes(), np.uint16)[0]):x}")
    assert lines["ptx"].split() == expected


@pytest.mark.amd
def test_copies_to_shared_memory(lines: dict[str, str]) -> None:
    """Of the last 16 bytes six are zeros: two bytes of the third word stay."""
    assert lines["copies"] == "14 11 304 0"


@pytest.mark.amd
def test_atomic_sums(lines: dict[str, str]) -> None:
    """32 halves of 0.5, 64 pairs, 64 of 2 in bfloat16: all partial sums are exact."""
    assert lines["sums"] == "16 16 64 -128 128"


@pytest.mark.amd
def test_shuffles_with_a_predicate(lines: dict[str, str]) -> None:
    """1 to 8 in each segment; of the bytes 01 < 02 alone (11), and 03 = 03 alone (0x100)."""
    assert lines["scan"].split() == [str(i) for i in range(1, 9)] * 4 + ["11", "256"]


@pytest.mark.amd
def test_a_barrier_of_a_block(lines: dict[str, str]) -> None:
    """Three times the value of thread 63 - i, and one more."""
    assert lines["barrier"] == "66 26 3"


@pytest.mark.amd
def test_operators_in_host_code(lines: dict[str, str]) -> None:
    x, y = np.float16(0.1), np.float16(3.0)
    z = x * y + x
    values = [np.float32(text) for text in lines["host"].split()]
    assert values == [np.float32(z), np.float32(x / y), np.float32(z + z), 1]


@pytest.mark.amd
def test_locations_of_cuda_13(lines: dict[str, str]) -> None:
    """1 is cudaErrorInvalidValue."""
    assert lines["locations"] == "0 0 0 1"


WITHOUT_CONVERSIONS = r"""
#define __HIP_NO_HALF_CONVERSIONS__ 1
#include <cstdio>
#include <cuda_fp16.h>
__host__ __device__ __half sum(__half a, __half b) { return __hadd(a, b); }
__global__ void tanh_of(float* out) { *out = __half2float(htanh(__float2half(0.5f))); }
int main() {
  __half a = __float2half(1.5f), b = __float2half(-2.0f);
  printf("host: %g %g %g %g %d %d\n", __half2float(sum(a, b)), __half2float(__hmul(a, b)),
         __half2float(__hneg(a)), __half2float(__habs(b)), __hlt(a, b), __hgt(a, b));
  float back, *out;
  cudaMalloc(&out, sizeof back);
  tanh_of<<<1, 1>>>(out);
  cudaMemcpy(&back, out, sizeof back, cudaMemcpyDeviceToHost);
  printf("tanh: %.3f\n", back);
}
"""


@pytest.mark.amd
def test_without_conversions_as_pytorch_builds_extensions() -> None:
    expected = {"host": "-0.5 -3 -1.5 2 0 1", "tanh": "0.462"}  # tanh(0.5) = 0.4621
    assert output_of(WITHOUT_CONVERSIONS) == expected
