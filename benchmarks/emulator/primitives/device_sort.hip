#include <hipcub/hipcub.hpp>

#include "cases.hpp"

std::vector<int> numbers(std::size_t n) {
  std::vector<int> made(n);
  std::iota(made.begin(), made.end(), 0);
  return made;
}

template <class T>
void radix(std::size_t n) {
  const auto host = keys<T>(n);
  auto sorted = host;
  std::stable_sort(sorted.begin(), sorted.end(), Less{});
  auto order = numbers(n);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return Greater{}(host[a], host[b]); });
  OnDevice<T> in(host), out(n);
  OnDevice<int> values(numbers(n)), moved(n);
  WITH_STORAGE(hipcub::DeviceRadixSort::SortKeys(temporary, bytes, in.data(), out.data(),
                                                 static_cast<int>(n)));
  expect("radix_sort", name_of<T>, n, out.read(), sorted);
  WITH_STORAGE(hipcub::DeviceRadixSort::SortPairsDescending(
      temporary, bytes, in.data(), out.data(), values.data(), moved.data(), static_cast<int>(n)));
  expect("radix_sort_pairs_descending", name_of<T>, n, moved.read(), order);
}

int main() {
  for (const std::size_t n : sizes) {
    for_numbers([n](auto type) { radix<decltype(type)>(n); });
  }
}
