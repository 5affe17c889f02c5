#include <hipcub/hipcub.hpp>

#include "cases.hpp"

template <class T>
void reduce(std::size_t n) {
  const auto host = summands<T>(n);
  OnDevice<T> in(host), out(1);
  const T start = made<T>(2);
  WITH_STORAGE(
      hipcub::DeviceReduce::Reduce(temporary, bytes, in.data(), out.data(), n, Plus{}, start));
  expect("reduce", name_of<T>, n, out.read(),
         {std::accumulate(host.begin(), host.end(), start, Plus{})});
  const auto values = keys<T>(n);
  OnDevice<T> other(values);
  WITH_STORAGE(hipcub::DeviceReduce::Reduce(temporary, bytes, other.data(), out.data(), n,
                                            Smaller{}, values[0]));
  const auto least = *std::min_element(values.begin(), values.end(), Less{});
  expect("reduce_min", name_of<T>, n, out.read(), {least});
}

int main() {
  for (const std::size_t n : sizes) {
    for_types([n](auto type) { reduce<decltype(type)>(n); });
  }
}
