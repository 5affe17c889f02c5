#include <hipcub/hipcub.hpp>

#include "cases.hpp"

template <class T>
void select(std::size_t n) {
  const auto host = small<T>(n);
  std::vector<T> odd, even;
  for (const T& value : host) (IsOdd{}(value) ? odd : even).push_back(value);
  OnDevice<T> in(host), out(n);
  OnDevice<int> count(1);
  WITH_STORAGE(
      hipcub::DeviceSelect::If(temporary, bytes, in.data(), out.data(), count.data(), n, IsOdd{}));
  expect("select_if", name_of<T>, n, out.read(std::min<std::size_t>(n, count.read()[0])), odd);

  std::vector<std::uint8_t> flags(n);
  std::vector<T> flagged, rest;
  for (std::size_t k = 0; k < n; ++k) {
    flags[k] = random_bits() % 3 == 0;
    (flags[k] ? flagged : rest).push_back(host[k]);
  }
  OnDevice<std::uint8_t> marks(flags);
  OnDevice<T> chosen(n), parts(n);
  WITH_STORAGE(hipcub::DeviceSelect::Flagged(temporary, bytes, in.data(), marks.data(),
                                             chosen.data(), count.data(), n));
  expect("select_flagged", name_of<T>, n, chosen.read(std::min<std::size_t>(n, count.read()[0])),
         flagged);

  // What is not selected stands at the end, in reverse.
  auto partitioned = flagged;
  partitioned.insert(partitioned.end(), rest.rbegin(), rest.rend());
  WITH_STORAGE(hipcub::DevicePartition::Flagged(temporary, bytes, in.data(), marks.data(),
                                                parts.data(), count.data(), n));
  expect("partition_flagged", name_of<T>, n, parts.read(), partitioned);
  partitioned = odd;
  partitioned.insert(partitioned.end(), even.rbegin(), even.rend());
  WITH_STORAGE(hipcub::DevicePartition::If(temporary, bytes, in.data(), parts.data(), count.data(),
                                           n, IsOdd{}));
  expect("partition_if", name_of<T>, n, parts.read(), partitioned);
}

template <class T>
void runs(std::size_t n) {
  const auto host = small<T>(n, 3);
  std::vector<T> heads;
  std::vector<int> lengths;
  for (std::size_t k = 0; k < n; ++k) {
    if (k && Equal{}(host[k], host[k - 1])) {
      ++lengths.back();
    } else {
      heads.push_back(host[k]);
      lengths.push_back(1);
    }
  }
  OnDevice<T> in(host), unique(n);
  OnDevice<int> counts(n), found(1);
  WITH_STORAGE(hipcub::DeviceRunLengthEncode::Encode(temporary, bytes, in.data(), unique.data(),
                                                     counts.data(), found.data(), n));
  const std::size_t all = std::min<std::size_t>(n, found.read()[0]);
  expect("run_lengths", name_of<T>, n, counts.read(all), lengths);
  expect("run_heads", name_of<T>, n, unique.read(all), heads);
  OnDevice<T> firsts(n);
  WITH_STORAGE(
      hipcub::DeviceSelect::Unique(temporary, bytes, in.data(), firsts.data(), found.data(), n));
  expect("unique", name_of<T>, n, firsts.read(std::min<std::size_t>(n, found.read()[0])), heads);
}

int main() {
  for (const std::size_t n : sizes) {
    for_types([n](auto type) { select<decltype(type)>(n); });
    runs<std::int8_t>(n);
    runs<std::uint16_t>(n);
    runs<std::int32_t>(n);
    runs<std::uint64_t>(n);
    runs<float>(n);
    runs<double>(n);
  }
}
