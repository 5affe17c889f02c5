#include <rocprim/rocprim.hpp>

#include "cases.hpp"

constexpr unsigned threads = 192, groups = 2;

// What one lane of each width finds: inclusive and exclusive sum, the sum of all, the sorted keys,
// what the lane before holds, and a vote.
template <class T, unsigned width>
__global__ void warps(const T* in, const T* unsorted, T* inclusive, T* exclusive, T* total,
                      T* sorted, T* before, T* broadcast) {
  using Scan = rocprim::warp_scan<T, width>;
  using Reduce = rocprim::warp_reduce<T, width, true>;
  using Sort = rocprim::warp_sort<T, width>;
  constexpr unsigned warps = threads / width;
  __shared__ typename Scan::storage_type first[warps], second[warps], fifth[warps];
  __shared__ typename Reduce::storage_type third[warps];
  __shared__ typename Sort::storage_type fourth[warps];
  const unsigned place = blockIdx.x * threads + threadIdx.x, warp = threadIdx.x / width;
  const T value = in[place];
  T made_of;
  Scan().inclusive_scan(value, made_of, first[warp], Plus{});
  inclusive[place] = made_of;
  Scan().exclusive_scan(value, made_of, made<T>(1), second[warp], Plus{});
  exclusive[place] = made_of;
  Reduce().reduce(value, made_of, third[warp], Plus{});
  total[place] = made_of;
  made_of = unsorted[place];
  Sort().sort(made_of, fourth[warp], Less{});
  sorted[place] = made_of;
  before[place] = rocprim::warp_shuffle_up(unsorted[place], 1, width);
  broadcast[place] = Scan().broadcast(unsorted[place], width / 2, fifth[warp]);
}

template <class T, unsigned width>
void check() {
  constexpr unsigned n = threads * groups;
  const auto host = summands<T>(n), unsorted = keys<T>(n);
  std::vector<T> inclusive(n), exclusive(n), total(n), sorted = unsorted, before(n), broadcast(n);
  for (unsigned from = 0; from < n; from += width) {
    T sum = made<T>(0), shifted = made<T>(1);
    for (unsigned k = from; k < from + width; ++k) {
      sum = k == from ? host[k] : Plus{}(sum, host[k]);
      inclusive[k] = sum;
      exclusive[k] = shifted;
      shifted = Plus{}(shifted, host[k]);
      before[k] = unsorted[k == from ? k : k - 1];
      broadcast[k] = unsorted[from + width / 2];
    }
    std::fill_n(total.begin() + from, width, sum);
    std::stable_sort(sorted.begin() + from, sorted.begin() + from + width, Less{});
  }
  OnDevice<T> in(host), other(unsorted), a(n), b(n), c(n), d(n), e(n), f(n);
  warps<T, width><<<groups, threads>>>(in.data(), other.data(), a.data(), b.data(), c.data(),
                                       d.data(), e.data(), f.data());
  CHECK(hipDeviceSynchronize());
  expect("warp_inclusive_scan", name_of<T>, width, a.read(), inclusive);
  expect("warp_exclusive_scan", name_of<T>, width, b.read(), exclusive);
  expect("warp_all_reduce", name_of<T>, width, c.read(), total);
  std::vector<decltype(comparable(T{}))> got, wanted;
  for (const T& value : d.read()) got.push_back(comparable(value));
  for (const T& value : sorted) wanted.push_back(comparable(value));
  expect("warp_sort", name_of<T>, width, got, wanted);
  expect("warp_shuffle_up", name_of<T>, width, e.read(), before);
  expect("warp_broadcast", name_of<T>, width, f.read(), broadcast);
}

int main() {
  for_types([](auto type) {
    using T = decltype(type);
    check<T, 2>();
    check<T, 8>();
    check<T, 16>();
    check<T, 32>();
#if defined(WAVE) && WAVE == 64
    check<T, 64>();
#endif
  });
}
