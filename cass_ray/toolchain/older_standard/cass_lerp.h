// A function `lerp` of the program's own: C++20's <math.h> declares std::lerp globally as well.
#pragma once
#include <math.h>
#include <cmath>
namespace std {
template <typename A, typename B, typename C>
constexpr auto cass_lerp(A a, B b, C t) {
  return lerp(a, b, t);
}
}  // namespace std
#define lerp cass_lerp
