#include <hipcub/hipcub.hpp>

#include "cases.hpp"

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
  WITH_STORAGE(hipcub::DeviceSegmentedReduce::Reduce(temporary, bytes, in.data(), out.data(),
                                                     segments, places.data(), places.data() + 1,
                                                     Plus{}, made<T>(1)));
  expect("segmented_reduce", name_of<T>, n, out.read(), expected);
}

int main() {
  for (const std::size_t n : sizes) {
    for_types([n](auto type) { segmented<decltype(type)>(n); });
  }
}
