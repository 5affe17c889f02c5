#include <hipcub/hipcub.hpp>

#include "cases.hpp"

template <class T>
void reduce(std::size_t n) {
  const auto host = summands<T>(n);
  OnDevice<T> in(host), out(1);
  const T start = made<T>(2);
  WITH_STORAGE(hipcub::DeviceReduce::Reduce(temporary, bytes, in.data(), out.data(), n, Plus{}, start));
  expect("reduce", name_of<T>, n, out.read(), {std::accumulate(host.begin(), host.end(), start, Plus{})});
  const auto values = keys<T>(n);
  OnDevice<T> other(values);
  WITH_STORAGE(hipcub::DeviceReduce::Reduce(temporary, bytes, other.data(), out.data(), n, Smaller{}, values[0]));
  const auto least = *std::min_element(values.begin(), values.end(), Less{});
  expect("reduce_min", name_of<T>, n, out.read(), {least});
}

template <class T>
void by_key(std::size_t n) {
  const auto host = summands<T>(n);
  auto keys = small<std::int32_t>(n, 3);
  OnDevice<T> in(host), sums(n);
  OnDevice<std::int32_t> of(keys), unique(n), runs(1);
  WITH_STORAGE(hipcub::DeviceReduce::ReduceByKey(temporary, bytes, of.data(), unique.data(), in.data(),
                                                 sums.data(), runs.data(), Plus{}, n));
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

template <class T>
void segmented(std::size_t n) {
  const auto host = summands<T>(n);
  std::vector<int> offsets{0};
  while (offsets.back() < static_cast<int>(n)) {
    offsets.push_back(std::min<int>(n, offsets.back() + random_bits() % 90));
  }
  const int segments = static_cast<int>(offsets.size()) - 1;
  std::vector<T> expected;
  for (int k = 0; k < segments; ++k) {
    expected.push_back(std::accumulate(host.begin() + offsets[k], host.begin() + offsets[k + 1],
                                       made<T>(1), Plus{}));
  }
  OnDevice<T> in(host), out(segments);
  OnDevice<int> places(offsets);
  WITH_STORAGE(hipcub::DeviceSegmentedReduce::Reduce(temporary, bytes, in.data(), out.data(), segments,
                                                     places.data(), places.data() + 1, Plus{}, made<T>(1)));
  expect("segmented_reduce", name_of<T>, n, out.read(), expected);
}

template <class T>
void extremes(std::size_t n) {
  const auto host = keys<T>(n);
  OnDevice<T> in(host), out(1);
  OnDevice<hipcub::KeyValuePair<int, T>> where(1);
  WITH_STORAGE(hipcub::DeviceReduce::Max(temporary, bytes, in.data(), out.data(), static_cast<int>(n)));
  expect("max", name_of<T>, n, out.read(), {*std::max_element(host.begin(), host.end())});
  WITH_STORAGE(hipcub::DeviceReduce::ArgMin(temporary, bytes, in.data(), where.data(), static_cast<int>(n)));
  const int place = std::min_element(host.begin(), host.end()) - host.begin();
  expect("arg_min", name_of<T>, n, std::vector<int>{where.read()[0].key}, {place});
}

int main() {
  for (const std::size_t n : sizes) {
    for_types([n](auto type) {
      using T = decltype(type);
      reduce<T>(n);
      by_key<T>(n);
      segmented<T>(n);
    });
    extremes<std::int8_t>(n);
    extremes<std::int32_t>(n);
    extremes<std::uint64_t>(n);
    extremes<double>(n);
  }
}
