"""Translated PTX, arithmetic and memory give what CUDA defines; expected values by hand."""

from __future__ import annotations

import pytest

from tests.translate.programs import output_of

SOURCE = r"""
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

__device__ int counter;
__constant__ int table[4];

__global__ void ptx(unsigned* out, unsigned a, unsigned b, unsigned* memory) {
  unsigned r, low, high, lane;
  unsigned long long wide;
  asm("bfe.u32 %0, %1, 8, 12;" : "=r"(r) : "r"(a)); out[0] = r;
  asm("bfi.b32 %0, %1, %2, 4, 8;" : "=r"(r) : "r"(b), "r"(a)); out[1] = r;
  asm("prmt.b32 %0, %1, %2, 0x0416;" : "=r"(r) : "r"(a), "r"(b)); out[2] = r;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(0xffu)); out[3] = r;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(a), "r"(16), "l"(1ull));
  out[4] = (unsigned)(wide >> 32); out[5] = (unsigned)wide;
  asm("add.cc.u32 %0, %2, %3; addc.u32 %1, 5, 0;"
      : "=r"(low), "=r"(high) : "r"(0xfffffff0u), "r"(0x20u));
  out[6] = low; out[7] = high;
  asm("brev.b32 %0, %1;" : "=r"(r) : "r"(1u)); out[8] = r;
  asm("popc.b32 %0, %1;" : "=r"(r) : "r"(a)); out[9] = r;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane)); out[10] = lane;
  asm volatile("red.global.add.u32 [%0], %1;" :: "l"(memory), "r"(7u) : "memory");
  asm volatile("atom.global.max.u32 %0, [%1], %2;" : "=r"(r) : "l"(memory), "r"(9u) : "memory");
  out[11] = r;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(r) : "l"(memory)); out[12] = r;
  float f = 2.5f; int rounded;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(rounded) : "f"(f)); out[13] = rounded;
  asm("{\n\t.reg .pred p;\n\tsetp.lt.u32 p, %1, 10;\n\tselp.u32 %0, 1, 2, p;\n}"
      : "=r"(r) : "r"(b)); out[14] = r;
}

__global__ void shared_copy(unsigned* out, const float4* from) {
  __shared__ float4 buffer[2];
  unsigned at = (unsigned)__cvta_generic_to_shared(buffer);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at + 16), "l"(from));
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  out[0] = (unsigned)buffer[1].w;
}

__global__ void numbers(float* out) {
  __half h = __float2half(1.0f);
  __half2 pair = __floats2half2_rn(1.5f, -2.0f);
  pair = __hfma2(pair, pair, __float2half2_rn(0.25f));
  out[0] = __half2float(__hadd(h, __float2half(0.5f)));
  out[1] = __low2float(pair); out[2] = __high2float(pair);
  out[3] = __half2float(__float2half(2049.0f));
  __nv_bfloat16 b = __float2bfloat16(257.0f);
  out[4] = __bfloat162float(b);
  out[5] = __bfloat162float(__hmul(__float2bfloat16(3.0f), __float2bfloat16(0.5f)));
  out[6] = __fadd_rd(16777216.0f, 1.0f); out[7] = __fadd_ru(16777216.0f, 1.0f);
  out[8] = __fdividef(9.0f, 2.0f); out[9] = __saturatef(1.5f);
  out[10] = __int_as_float(0x40490000); out[11] = rsqrtf(16.0f);
}

__global__ void packed(unsigned* out) {
  out[0] = __dp4a(0x01020304, 0x01010101, 5);
  out[1] = __vadd4(0xff010203u, 0x01010101u);
  out[2] = __vmaxu2(0x00010009u, 0x00070003u);
  out[3] = __byte_perm(0x33221100u, 0x77665544u, 0x7531);
  out[4] = __funnelshift_l(0x80000000u, 1u, 1);
  out[5] = __brev(2u); out[6] = __clz(255); out[7] = __ffs(8); out[8] = __umulhi(1u << 31, 6u);
  out[9] = __vsadu4(0x05000010u, 0x01020008u);
  out[10] = __uhadd(0xffffffffu, 1u); out[11] = __urhadd(0xffffffffu, 0xfffffffeu);
  out[12] = (unsigned)__rhadd(-7, -2);
}

__global__ void __launch_bounds__(64, 2) atomics(int* out, double* total, float* sum) {
  atomicAdd(&out[0], 1); atomicMax(&out[1], (int)threadIdx.x); atomicAdd(&counter, 2);
  atomicAdd(total, 0.5); atomicAdd(sum, 0.25f); atomicInc((unsigned*)&out[2], 9);
  atomicCAS(&out[3], 0, 42); atomicXor(&out[4], 1 << (threadIdx.x % 4));
  atomicAdd_block(&out[5], table[threadIdx.x % 4]);
}

__global__ void clocks(int* out) {  // longer than RDNA3's counter of 20 bits
  const long long first = clock64();
  while (clock64() - first < 3 << 20) {}
  const clock_t then = clock();
  unsigned long long now;
  do asm volatile("mov.u64 %0, %%clock64;" : "=l"(now));
  while ((long long)now - first < 6 << 20);
  out[0] = clock() - then >= (3 << 20) - ((long long)then - first - (3 << 20));
}

template <typename T> void show(const char* name, T* values, int count) {
  cudaDeviceSynchronize();
  printf("%s:", name);
  for (int i = 0; i < count; ++i) printf(" %.17g", (double)values[i]);
  printf("\n");
  memset(values, 0, 32 * sizeof(T));
}

int main() {
  unsigned *u, *memory; float *f, *sum; int* i; double* total; float4* four;
  cudaMallocManaged(&u, 128); cudaMallocManaged(&memory, 128); cudaMallocManaged(&f, 128);
  cudaMallocManaged(&i, 128); cudaMallocManaged(&total, 256); cudaMallocManaged(&sum, 128);
  cudaMallocManaged(&four, sizeof(float4));
  *memory = 1; *total = 0; *sum = 0; *four = make_float4(1, 2, 3, 44);
  memset(i, 0, 128);
  ptx<<<1, 1>>>(u, 0x12345678u, 0x9u, memory); show("ptx", u, 15);
  printf("memory: %u\n", *memory);
  shared_copy<<<1, 1>>>(u, four); show("shared_copy", u, 1);
  numbers<<<1, 1>>>(f); show("numbers", f, 12);
  packed<<<1, 1>>>(u); show("packed", u, 13);
  const int values[4] = {1, 2, 3, 4}; int count = 0;
  cudaMemcpyToSymbol(table, values, sizeof(values));
  atomics<<<2, 64>>>(i, total, sum); show("atomics", i, 6);
  cudaMemcpyFromSymbol(&count, counter, sizeof(count));
  printf("sums: %d %g %g\n", count, *total, *sum);
  const clock_t host = clock();
  clocks<<<1, 32>>>(i); show("clocks", i, 1);
  printf("host_clock: %d\n", clock() >= host);
  printf("status: %s\n", cudaGetErrorString(cudaGetLastError()));
}
"""


@pytest.fixture(scope="module")
def output() -> dict[str, str]:
    return output_of(SOURCE)


@pytest.mark.amd
@pytest.mark.parametrize(
    ("name", "values"),
    [
        # a = 0x12345678, b = 9: bits 8-19 of a; b in bits 4-11 of a; bytes 6 (0 of b), 1 (0x56),
        # 4 (9) and 0 (0x78), lowest first; a ^ b ^ 0xff; a * 16 + 1, high and low word; carry into
        # 5; bit 0 to bit 31; 13 bits set; lane 0; memory 1 + 7 = 8 before max; 9 after; 2.5 to
        # even; 9 < 10.
        (
            "ptx",
            [
                *(0x456, 0x12345098, 0x78095600, 0x12345678 ^ 9 ^ 0xFF, 1, 0x23456781),
                *(0x10, 6, 0x80000000, 13, 0, 8, 9, 2, 1),
            ],
        ),
        ("memory", [9]),
        ("shared_copy", [44]),
        # 1 + .5; 1.5² + .25; (-2)² + .25; 2049 and 257 need one bit too many: to even; 1.5; one
        # ulp is 2 at 2^24: down, up; 4.5; clamped; 0x40490000 is 3.140625; 1/4.
        ("numbers", [1.5, 2.5, 4.25, 2048, 256, 1.5, 16777216, 16777218, 4.5, 1, 3.140625, 0.25]),
        # 1 + 2 + 3 + 4 + 5; per byte without carry; per half; bytes 1, 3, 5, 7; 1 << 1 | 1; bit 30;
        # 24 zeros above; bit 3 is the fourth; 6 * 2^31 >> 32; 4 + 2 + 0 + 8;
        # 2^32 / 2; (2^33 - 2) / 2; -8 / 2.
        (
            "packed",
            [
                *(15, 0x00020304, 0x00070009, 0x77553311, 3, 1 << 30, 24, 4, 3, 14),
                *(1 << 31, 0xFFFFFFFF, 0xFFFFFFFC),
            ],
        ),
        # 128 threads; 63; 128 modulo 10; once; each bit flipped 32 times; 32 * (1 + 2 + 3 + 4).
        ("atomics", [128, 63, 8, 42, 0, 320]),
        ("sums", [256, 64, 32]),
        ("clocks", [1]),
        ("host_clock", [1]),
    ],
)
def test_device_code(output: dict[str, str], name: str, values: list[float]) -> None:
    assert [float(item) for item in output[name].split()] == values


@pytest.mark.amd
def test_no_call_failed(output: dict[str, str]) -> None:
    assert output["status"] == "no error"


BYTES = r"""
#include <cstdio>
__global__ void reversed(unsigned long long* out, unsigned long long v) {
  out[0] = __nv_bswap64(v); out[1] = __nv_bswap32((unsigned)v);
  out[2] = __nv_bswap16((unsigned short)v);
}
int main() {
  unsigned long long* out;
  cudaMallocManaged(&out, 24);
  reversed<<<1, 1>>>(out, 0x0102030405060708ull);
  cudaDeviceSynchronize();
  printf("bytes: %llx %llx %llx\n", out[0], out[1], out[2]);
}
"""


@pytest.mark.amd
def test_bytes_change_their_order() -> None:
    assert output_of(BYTES) == {"bytes": "807060504030201 8070605 807"}
