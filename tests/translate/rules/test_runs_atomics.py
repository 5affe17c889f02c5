"""``cuda::atomic`` and ``cuda::atomic_ref`` run without libhipcxx; values are counted by hand."""

from __future__ import annotations

import pytest

from tests.translate.programs import output_of

SOURCE = r"""
#include <cuda/atomic>
#include <cuda/std/atomic>
#include <cstdio>
struct Pair { int a; float b; };
enum class Color : short { red, green };
using Counter = cuda::atomic<int, cuda::thread_scope_device>;
__global__ void k(int* sum, float* halves, unsigned long long* largest, Pair* pair, Counter* own,
                  unsigned* bits, cuda::std::atomic<int>* least, Color* color, int* exchanged) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> inside;
  if (threadIdx.x == 0) inside.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  inside.fetch_add(1, cuda::std::memory_order_relaxed);
  inside++;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_device> whole(*sum);
  if (threadIdx.x == 0) whole += inside.load();
  cuda::atomic_ref<float>(*halves).fetch_add(0.5f, cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned long long> most(*largest);
  most.fetch_max(1ull << (threadIdx.x + 20));
  cuda::atomic_ref<Pair, cuda::thread_scope_device> both(*pair);
  Pair was = both.load(cuda::memory_order_acquire), now;
  do {
    now = {was.a + 1, was.b + 2.0f};
  } while (!both.compare_exchange_weak(was, now, cuda::memory_order_acq_rel));
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
  (*own)--;
  cuda::atomic_ref<unsigned>(*bits) |= 1u << threadIdx.x;
  least->fetch_min(100 - static_cast<int>(threadIdx.x));
  cuda::atomic_ref<Color>(*color).store(Color::green);
  int expected = 5;  // it is 7: nothing is exchanged, and 7 comes back
  cuda::atomic_ref<int> other(exchanged[0]);
  const bool done = other.compare_exchange_strong(expected, 1);
  if (threadIdx.x == 0) exchanged[1] = expected + 10 * done;
}
template <typename T> T* shared() { T* p; cudaMallocManaged(&p, 4 * sizeof(T)); return p; }
int main() {
  int *sum = shared<int>(), *exchanged = shared<int>();
  float* halves = shared<float>();
  unsigned long long* largest = shared<unsigned long long>();
  Pair* pair = shared<Pair>();
  Counter* own = shared<Counter>();
  unsigned* bits = shared<unsigned>();
  auto* least = shared<cuda::std::atomic<int>>();
  Color* color = shared<Color>();
  *sum = 0; *halves = 0; *largest = 0; *pair = {0, 0}; *own = 1000; *bits = 0; *least = 1000;
  *color = Color::red; exchanged[0] = 7;
  k<<<4, 32>>>(sum, halves, largest, pair, own, bits, least, color, exchanged);
  cudaDeviceSynchronize();
  printf("sum: %d\n", *sum);
  printf("halves: %.1f\n", *halves);
  printf("largest: %llu\n", *largest);
  printf("pair: %d %.1f\n", pair->a, pair->b);
  printf("own: %d\n", own->load());
  printf("bits: %x\n", *bits);
  printf("least: %d\n", static_cast<int>(*least));
  printf("color: %d\n", *color == Color::green);
  printf("exchanged: %d %d\n", exchanged[0], exchanged[1]);
  printf("sizes: %d\n", sizeof(Counter) == 4 && sizeof(cuda::atomic<char>) == 1);
}
"""

EXPECTED = {
    "sum": "256",
    "halves": "64.0",
    "largest": str(1 << 51),
    "pair": "128 256.0",
    "own": "872",
    "bits": "ffffffff",
    "least": "69",
    "color": "1",
    "exchanged": "7 7",
    "sizes": "1",
}


@pytest.mark.amd
def test_atomic_objects_have_the_values_that_were_counted() -> None:
    assert output_of(SOURCE) == EXPECTED
