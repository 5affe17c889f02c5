#include <hipcub/hipcub.hpp>

#include "cases.hpp"

template <class T>
void by_key(std::size_t n) {
  const auto host = summands<T>(n);
  auto keys = small<std::int32_t>(n, 3);
  OnDevice<T> in(host), sums(n);
  OnDevice<std::int32_t> of(keys), unique(n), runs(1);
  WITH_STORAGE(hipcub::DeviceReduce::ReduceByKey(temporary, bytes, of.data(), unique.data(),
                                                 in.data(), sums.data(), runs.data(), Plus{}, n));
  std::vector<T> expected;
  std::vector<std::int32_t> heads;
  for (std::size_t k = 0; k < n; ++k) {
    if (k && keys[k] == keys[k - 1]) {
      expected.back() = Plus{}(expected.back(), host[k]);
    } else {
      expected.push_back(host[k]);
      heads.push_back(keys[k]);
    }
  }
  const std::size_t found = static_cast<std::size_t>(runs.read()[0]);
  expect("reduce_by_key", name_of<T>, n, sums.read(std::min(found, n)), expected);
  expect("reduce_by_key_keys", name_of<T>, n, unique.read(std::min(found, n)), heads);
}

int main() {
  for (const std::size_t n : sizes) {
    for_types([n](auto type) { by_key<decltype(type)>(n); });
  }
}
