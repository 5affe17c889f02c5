#include <hipcub/hipcub.hpp>

#include "cases.hpp"

template <class T>
void extremes(std::size_t n) {
  const auto host = keys<T>(n);
  OnDevice<T> in(host), out(1);
  OnDevice<hipcub::KeyValuePair<int, T>> where(1);
  WITH_STORAGE(
      hipcub::DeviceReduce::Max(temporary, bytes, in.data(), out.data(), static_cast<int>(n)));
  expect("max", name_of<T>, n, out.read(), {*std::max_element(host.begin(), host.end())});
  WITH_STORAGE(
      hipcub::DeviceReduce::ArgMin(temporary, bytes, in.data(), where.data(), static_cast<int>(n)));
  const int place = std::min_element(host.begin(), host.end()) - host.begin();
  expect("arg_min", name_of<T>, n, std::vector<int>{where.read()[0].key}, {place});
}

int main() {
  for (const std::size_t n : sizes) {
    extremes<std::int8_t>(n);
    extremes<std::int32_t>(n);
    extremes<std::uint64_t>(n);
    extremes<double>(n);
  }
}
