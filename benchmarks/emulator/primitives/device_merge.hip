#include <hipcub/hipcub.hpp>
#include <rocprim/rocprim.hpp>

#include "cases.hpp"

template <class T>
void merge_sort(std::size_t n) {
  const auto host = keys<T>(n);
  auto sorted = host;
  std::stable_sort(sorted.begin(), sorted.end(), Less{});
  OnDevice<T> data(host);
  WITH_STORAGE(hipcub::DeviceMergeSort::StableSortKeys(temporary, bytes, data.data(),
                                                       static_cast<int>(n), Less{}));
  expect("merge_sort", name_of<T>, n, data.read(), sorted);

  // Half of it and another array, both sorted.
  auto other = keys<T>(n / 2 + 1);
  std::stable_sort(other.begin(), other.end(), Less{});
  std::vector<T> merged(n + other.size());
  std::merge(sorted.begin(), sorted.end(), other.begin(), other.end(), merged.begin(), Less{});
  OnDevice<T> second(other), out(merged.size());
  WITH_STORAGE(rocprim::merge(temporary, bytes, data.data(), second.data(), out.data(), n,
                              other.size(), Less{}));
  expect("merge", name_of<T>, n, out.read(), merged);

  std::vector<unsigned> places;
  for (const T& value : other) {
    places.push_back(std::lower_bound(sorted.begin(), sorted.end(), value, Less{}) -
                     sorted.begin());
  }
  OnDevice<unsigned> found(other.size());
  WITH_STORAGE(rocprim::lower_bound(temporary, bytes, data.data(), second.data(), found.data(), n,
                                    other.size(), Less{}));
  expect("lower_bound", name_of<T>, n, found.read(), places);
}

template <class T>
void elementwise(std::size_t n) {
  const auto host = small<T>(n);
  std::vector<T> doubled(n), differences(n);
  for (std::size_t k = 0; k < n; ++k) {
    doubled[k] = Plus{}(host[k], host[k]);
    differences[k] = k ? Plus{}(host[k], host[k - 1]) : host[k];
  }
  OnDevice<T> in(host), out(n), other(n);
  CHECK(rocprim::transform(in.data(), out.data(), n, [] __host__ __device__(const T& value) {
    return Plus{}(value, value);
  }));
  CHECK(hipDeviceSynchronize());
  expect("transform", name_of<T>, n, out.read(), doubled);
  WITH_STORAGE(rocprim::adjacent_difference(temporary, bytes, in.data(), other.data(), n, Plus{}));
  expect("adjacent_difference", name_of<T>, n, other.read(), differences);
}

template <class T>
void histogram(std::size_t n) {
  const auto host = small<T>(n, 100);
  std::vector<int> expected(10);
  for (const T& value : host) ++expected[static_cast<int>(value) / 10];
  OnDevice<T> in(host);
  OnDevice<int> bins(10);
  WITH_STORAGE(hipcub::DeviceHistogram::HistogramEven(temporary, bytes, in.data(), bins.data(), 11,
                                                      T{0}, T{100}, static_cast<int>(n)));
  expect("histogram_even", name_of<T>, n, bins.read(), expected);
}

int main() {
  for (const std::size_t n : sizes) {
    for_types([n](auto type) {
      merge_sort<decltype(type)>(n);
      elementwise<decltype(type)>(n);
    });
    histogram<std::int8_t>(n);
    histogram<std::uint16_t>(n);
    histogram<std::int32_t>(n);
    histogram<float>(n);
  }
}
