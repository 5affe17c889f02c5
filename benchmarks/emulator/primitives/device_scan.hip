#include <hipcub/hipcub.hpp>

#include "cases.hpp"

template <class T>
void scan(std::size_t n) {
  const auto host = summands<T>(n);
  std::vector<T> sums(n), before(n);
  std::partial_sum(host.begin(), host.end(), sums.begin(), Plus{});
  for (std::size_t k = 0; k < n; ++k)
    before[k] = k ? Plus{}(before[k - 1], host[k - 1]) : made<T>(1);
  OnDevice<T> in(host), out(n);
  WITH_STORAGE(
      hipcub::DeviceScan::InclusiveScan(temporary, bytes, in.data(), out.data(), Plus{}, n));
  expect("inclusive_scan", name_of<T>, n, out.read(), sums);
  OnDevice<T> other(n);
  WITH_STORAGE(hipcub::DeviceScan::ExclusiveScan(temporary, bytes, in.data(), other.data(), Plus{},
                                                 made<T>(1), n));
  expect("exclusive_scan", name_of<T>, n, other.read(), before);
  // In place.
  WITH_STORAGE(
      hipcub::DeviceScan::InclusiveScan(temporary, bytes, in.data(), in.data(), Larger{}, n));
  std::vector<T> most(n);
  std::partial_sum(host.begin(), host.end(), most.begin(), Larger{});
  expect("inclusive_max_in_place", name_of<T>, n, in.read(), most);
}

template <class T>
void by_key(std::size_t n) {
  const auto host = summands<T>(n);
  const auto keys = small<std::int32_t>(n, 4);
  std::vector<T> expected(n);
  for (std::size_t k = 0; k < n; ++k) {
    expected[k] = k && keys[k] == keys[k - 1] ? Plus{}(expected[k - 1], host[k]) : host[k];
  }
  OnDevice<T> in(host), out(n);
  OnDevice<std::int32_t> of(keys);
  WITH_STORAGE(hipcub::DeviceScan::InclusiveScanByKey(temporary, bytes, of.data(), in.data(),
                                                      out.data(), Plus{}, static_cast<int>(n)));
  expect("inclusive_scan_by_key", name_of<T>, n, out.read(), expected);
}

int main() {
  for (const std::size_t n : sizes) {
    for_types([n](auto type) {
      scan<decltype(type)>(n);
      by_key<decltype(type)>(n);
    });
  }
}
