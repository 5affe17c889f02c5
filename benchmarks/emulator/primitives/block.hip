#include <rocprim/block/block_shuffle.hpp>
#include <rocprim/rocprim.hpp>

#include "cases.hpp"

constexpr unsigned items = 4;

// Inclusive and exclusive scan, reduction, sorting and rearranging of a tile.
template <class T, unsigned threads, rocprim::block_scan_algorithm scan,
          rocprim::block_reduce_algorithm reduce>
__global__ __launch_bounds__(threads) void sums(const T* in, T* inclusive, T* exclusive, T* total) {
  using Scan = rocprim::block_scan<T, threads, scan>;
  using Reduce = rocprim::block_reduce<T, threads, reduce>;
  __shared__ typename Scan::storage_type first, second;
  __shared__ typename Reduce::storage_type third;
  const unsigned start = (blockIdx.x * threads + threadIdx.x) * items;
  T values[items], made_of[items], sum;
  for (unsigned k = 0; k < items; ++k) values[k] = in[start + k];
  Scan().inclusive_scan(values, made_of, first, Plus{});
  for (unsigned k = 0; k < items; ++k) inclusive[start + k] = made_of[k];
  Scan().exclusive_scan(values, made_of, made<T>(1), second, Plus{});
  for (unsigned k = 0; k < items; ++k) exclusive[start + k] = made_of[k];
  Reduce().reduce(values, sum, third, Plus{});
  if (threadIdx.x == 0) total[blockIdx.x] = sum;
}

template <class T, unsigned threads>
__global__ __launch_bounds__(threads) void rearranged(const T* in, T* striped, T* rotated,
                                                      int* heads) {
  using Exchange = rocprim::block_exchange<T, threads, items>;
  using Shuffle = rocprim::block_shuffle<T, threads>;
  using Discontinuity = rocprim::block_discontinuity<T, threads>;
  __shared__ typename Exchange::storage_type first;
  __shared__ typename Shuffle::storage_type second;
  __shared__ typename Discontinuity::storage_type third;
  const unsigned tile = blockIdx.x * threads * items, start = tile + threadIdx.x * items;
  T values[items], moved[items];
  int flags[items];
  rocprim::block_load<T, threads, items, rocprim::block_load_method::block_load_transpose>().load(
      in + tile, values);
  Discontinuity().flag_heads(
      flags, values, [](const T& a, const T& b) { return !Equal{}(a, b); }, third);
  for (unsigned k = 0; k < items; ++k) heads[start + k] = flags[k];
  Exchange().blocked_to_striped(values, moved, first);
  for (unsigned k = 0; k < items; ++k) striped[start + k] = moved[k];
  T turned;
  Shuffle().rotate(threadIdx.x, values[0], turned, 1, second);
  rotated[blockIdx.x * threads + threadIdx.x] = turned;
}

template <class T, unsigned threads>
__global__ __launch_bounds__(threads) void merge_sorted(const T* in, T* out) {
  using Sort = rocprim::block_sort<T, threads, items, rocprim::empty_type,
                                   rocprim::block_sort_algorithm::stable_merge_sort>;
  __shared__ typename Sort::storage_type storage;
  const unsigned tile = blockIdx.x * threads * items, start = tile + threadIdx.x * items;
  T values[items];
  for (unsigned k = 0; k < items; ++k) values[k] = in[start + k];
  Sort().sort(values, storage, Less{});
  for (unsigned k = 0; k < items; ++k) out[start + k] = values[k];
}

template <class T, unsigned threads>
__global__ __launch_bounds__(threads) void radix_sorted(const T* in, T* out) {
  using Sort = rocprim::block_radix_sort<T, threads, items>;
  __shared__ typename Sort::storage_type storage;
  const unsigned tile = blockIdx.x * threads * items, start = tile + threadIdx.x * items;
  T values[items];
  for (unsigned k = 0; k < items; ++k) values[k] = in[start + k];
  Sort().sort_desc(values, storage);
  for (unsigned k = 0; k < items; ++k) out[start + k] = values[k];
}

constexpr unsigned blocks = 3;

template <class T, unsigned threads, rocprim::block_scan_algorithm scan,
          rocprim::block_reduce_algorithm reduce>
void check_sums(const char* scan_name, const char* reduce_name, const char* exclusive_name) {
  constexpr unsigned tile = threads * items;
  const auto host = summands<T>(tile * blocks);
  std::vector<T> inclusive(host.size()), exclusive(host.size()), totals;
  for (unsigned block = 0; block < blocks; ++block) {
    const auto from = host.begin() + block * tile;
    std::partial_sum(from, from + tile, inclusive.begin() + block * tile, Plus{});
    T sum = made<T>(1);
    for (unsigned k = 0; k < tile; ++k) {
      exclusive[block * tile + k] = sum;
      sum = Plus{}(sum, from[k]);
    }
    totals.push_back(inclusive[block * tile + tile - 1]);
  }
  OnDevice<T> in(host), first(host.size()), second(host.size()), third(blocks);
  sums<T, threads, scan, reduce>
      <<<blocks, threads>>>(in.data(), first.data(), second.data(), third.data());
  CHECK(hipDeviceSynchronize());
  expect(scan_name, name_of<T>, threads, first.read(), inclusive);
  expect(exclusive_name, name_of<T>, threads, second.read(), exclusive);
  expect(reduce_name, name_of<T>, threads, third.read(), totals);
}

template <class T, unsigned threads>
void check_places() {
  constexpr unsigned tile = threads * items;
  const auto host = small<T>(tile * blocks, 3);
  std::vector<T> striped(host.size()), rotated(threads * blocks), sorted = host;
  std::vector<int> heads(host.size());
  for (unsigned block = 0; block < blocks; ++block) {
    const unsigned from = block * tile;
    for (unsigned k = 0; k < tile; ++k) {
      striped[from + k] = host[from + k % items * threads + k / items];
      heads[from + k] = k == 0 || !Equal{}(host[from + k], host[from + k - 1]);
    }
    for (unsigned k = 0; k < threads; ++k)
      rotated[block * threads + k] = host[from + (k + 1) % threads * items];
    std::stable_sort(sorted.begin() + from, sorted.begin() + from + tile, Less{});
  }
  OnDevice<T> in(host), first(host.size()), second(rotated.size()), third(host.size());
  OnDevice<int> flags(host.size());
  rearranged<T, threads><<<blocks, threads>>>(in.data(), first.data(), second.data(), flags.data());
  merge_sorted<T, threads><<<blocks, threads>>>(in.data(), third.data());
  CHECK(hipDeviceSynchronize());
  expect("block_load_and_exchange", name_of<T>, threads, first.read(), striped);
  expect("block_rotate", name_of<T>, threads, second.read(), rotated);
  expect("block_flag_heads", name_of<T>, threads, flags.read(), heads);
  expect("block_merge_sort", name_of<T>, threads, third.read(), sorted);
}

template <class T, unsigned threads>
void check_radix() {
  constexpr unsigned tile = threads * items;
  const auto host = keys<T>(tile * blocks);
  auto sorted = host;
  for (unsigned block = 0; block < blocks; ++block) {
    std::stable_sort(sorted.begin() + block * tile, sorted.begin() + (block + 1) * tile, Greater{});
  }
  OnDevice<T> in(host), out(host.size());
  radix_sorted<T, threads><<<blocks, threads>>>(in.data(), out.data());
  CHECK(hipDeviceSynchronize());
  expect("block_radix_sort_descending", name_of<T>, threads, out.read(), sorted);
}

template <unsigned threads>
void check() {
  for_types([](auto type) {
    using T = decltype(type);
    check_sums<T, threads, rocprim::block_scan_algorithm::using_warp_scan,
               rocprim::block_reduce_algorithm::using_warp_reduce>(
        "block_warp_scan", "block_warp_reduce", "block_exclusive_warp_scan");
    check_sums<T, threads, rocprim::block_scan_algorithm::reduce_then_scan,
               rocprim::block_reduce_algorithm::raking_reduce>(
        "block_reduce_then_scan", "block_raking_reduce", "block_exclusive_reduce_then_scan");
    check_places<T, threads>();
  });
  for_numbers([](auto type) { check_radix<decltype(type), threads>(); });
}

int main() {
  check<64>();
  check<128>();
  check<256>();
}
