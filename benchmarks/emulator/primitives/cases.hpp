// What the programs of this folder share: types, values, operators, device memory, comparison.
//
// Sums are exact in every type and in every order: of all values at most 150 are not zero, and
// those are 1 or -1.
#pragma once

#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    if (const hipError_t status_ = (call); status_ != hipSuccess) {                       \
      std::printf("WRONG %s line %d: %s\n", #call, __LINE__, hipGetErrorString(status_)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (false)

// Calls an algorithm of a device twice, as both libraries want it: for the size of its storage,
// `bytes`, and with the storage, `temporary`.
#define WITH_STORAGE(...)                            \
  do {                                               \
    std::size_t bytes = 0;                           \
    void* temporary = nullptr;                       \
    CHECK(__VA_ARGS__);                              \
    CHECK(hipMalloc(&temporary, bytes ? bytes : 1)); \
    CHECK(__VA_ARGS__);                              \
    CHECK(hipDeviceSynchronize());                   \
    CHECK(hipFree(temporary));                       \
  } while (false)

struct Pair {
  std::int32_t first;
  float second;
};

template <class T>
__host__ __device__ T made(long value) {
  return static_cast<T>(value);
}
template <>
__host__ __device__ inline __half made<__half>(long value) {
  return __float2half(static_cast<float>(value));
}
template <>
__host__ __device__ inline hip_bfloat16 made<hip_bfloat16>(long value) {
  return hip_bfloat16(static_cast<float>(value));
}
template <>
__host__ __device__ inline Pair made<Pair>(long value) {
  return {static_cast<std::int32_t>(value), static_cast<float>(value) / 2};
}

template <class T>
__host__ __device__ T comparable(T value) {
  return value;
}
__host__ __device__ inline float comparable(__half value) { return __half2float(value); }
__host__ __device__ inline float comparable(hip_bfloat16 value) {
  return static_cast<float>(value);
}
__host__ __device__ inline std::int32_t comparable(Pair value) { return value.first; }

struct Plus {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
  __host__ __device__ __half operator()(const __half& a, const __half& b) const {
    return __float2half(__half2float(a) + __half2float(b));
  }
  __host__ __device__ hip_bfloat16 operator()(const hip_bfloat16& a, const hip_bfloat16& b) const {
    return hip_bfloat16(static_cast<float>(a) + static_cast<float>(b));
  }
  __host__ __device__ Pair operator()(const Pair& a, const Pair& b) const {
    return {a.first + b.first, a.second + b.second};
  }
};
struct Less {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return comparable(a) < comparable(b);
  }
};
struct Greater {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return comparable(b) < comparable(a);
  }
};
struct Equal {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return comparable(a) == comparable(b);
  }
};
struct Smaller {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return Less{}(b, a) ? b : a;
  }
};
struct Larger {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return Less{}(a, b) ? b : a;
  }
};
struct IsOdd {
  template <class T>
  __host__ __device__ bool operator()(const T& a) const {
    return static_cast<long>(comparable(a)) & 1;
  }
};

template <class T>
constexpr const char* name_of = "?";
template <>
inline constexpr const char* name_of<std::int8_t> = "int8";
template <>
inline constexpr const char* name_of<std::uint16_t> = "uint16";
template <>
inline constexpr const char* name_of<std::int32_t> = "int32";
template <>
inline constexpr const char* name_of<std::uint64_t> = "uint64";
template <>
inline constexpr const char* name_of<float> = "float";
template <>
inline constexpr const char* name_of<double> = "double";
template <>
inline constexpr const char* name_of<__half> = "half";
template <>
inline constexpr const char* name_of<hip_bfloat16> = "bfloat16";
template <>
inline constexpr const char* name_of<Pair> = "struct";

// Calls `function` with a value of each type; what has an order by radix, and a struct as well.
template <class Function>
void for_numbers(Function function) {
  function(std::int8_t{});
  function(std::uint16_t{});
  function(std::int32_t{});
  function(std::uint64_t{});
  function(float{});
  function(double{});
  function(__half{});
  function(hip_bfloat16{});
}
template <class Function>
void for_types(Function function) {
  for_numbers(function);
  function(Pair{});
}

inline std::uint32_t random_bits() {
  static std::uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<std::uint32_t>(state >> 16);
}

// Few values that are not zero: for sums.
template <class T>
std::vector<T> summands(std::size_t count) {
  std::vector<T> values(count, made<T>(0));
  for (int k = 0; k < 150 && count; ++k) {
    values[random_bits() % count] = made<T>(random_bits() % 2 ? 1 : -1);
  }
  return values;
}

// Small whole numbers, which every type holds; many are alike.
template <class T>
std::vector<T> small(std::size_t count, unsigned different = 200) {
  std::vector<T> values(count);
  for (T& value : values) value = made<T>(static_cast<long>(random_bits() % different) % 100);
  return values;
}

// All bits of whole numbers, fractions, both signs.
template <class T>
std::vector<T> keys(std::size_t count) {
  std::vector<T> values = small<T>(count);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random_bits() | static_cast<std::uint64_t>(random_bits()) << 32);
    } else if constexpr (!std::is_same_v<T, Pair>) {
      const long number = static_cast<long>(random_bits() % 241) - 120;
      value = made<T>(number);
      if constexpr (std::is_floating_point_v<T>) value = static_cast<T>(number * 1.37e5 + 0.25);
    } else {
      value = made<T>(static_cast<long>(random_bits() % 1001) - 500);
    }
  }
  return values;
}

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : size_(values.size()) {
    CHECK(hipMalloc(&data_, std::max<std::size_t>(1, size_) * sizeof(T)));
    if (size_) CHECK(hipMemcpy(data_, values.data(), size_ * sizeof(T), hipMemcpyHostToDevice));
  }
  // Filled with a pattern that no result has.
  explicit OnDevice(std::size_t size) : OnDevice(std::vector<T>(size)) {
    if (size) CHECK(hipMemset(data_, 0x5a, size * sizeof(T)));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { static_cast<void>(hipFree(data_)); }

  T* data() { return data_; }
  T* end() { return data_ + size_; }
  std::vector<T> read(std::size_t count) const {
    std::vector<T> values(count);
    if (count) CHECK(hipMemcpy(values.data(), data_, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
  }
  std::vector<T> read() const { return read(size_); }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

// A line for a case; bits are compared.
template <class T>
void expect(const char* algorithm, const char* type, std::size_t size, const std::vector<T>& got,
            const std::vector<T>& expected) {
  std::size_t k = 0;
  while (k < got.size() && k < expected.size() && !std::memcmp(&got[k], &expected[k], sizeof(T)))
    ++k;
  const bool right = got.size() == expected.size() && k == got.size();
  std::printf("%s %s %s %zu", right ? "ok" : "WRONG", algorithm, type, size);
  if (!right) std::printf(": %zu for %zu values, first at %zu", got.size(), expected.size(), k);
  std::printf("\n");
}

// Around a wave, a block, a tile and the grid's share of one block.
inline constexpr std::size_t sizes[] = {1,  2,   31,  32,  33,  63,   64,
                                        65, 127, 255, 256, 257, 1025, 5000};
