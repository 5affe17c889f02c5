// What the programs of calls share: arrays filled by a rule that Python knows, and their output.
#pragma once
#include <cuComplex.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

inline double pattern(int index, int seed) {
  return ((index * 37 + index / 5 * 11 + seed * 101) % 23 - 11) / 4.0;
}

template <class T>
T make(double real, double imaginary = 0) {
  return static_cast<T>(real);
}
template <>
inline cuComplex make<cuComplex>(double real, double imaginary) {
  return make_cuComplex(static_cast<float>(real), static_cast<float>(imaginary));
}
template <>
inline cuDoubleComplex make<cuDoubleComplex>(double real, double imaginary) {
  return make_cuDoubleComplex(real, imaginary);
}

inline void put(float value) { printf(" %.9g", value); }
inline void put(double value) { printf(" %.17g", value); }
inline void put(int value) { printf(" %d", value); }
inline void put(cuComplex value) { put(value.x), put(value.y); }
inline void put(cuDoubleComplex value) { put(value.x), put(value.y); }

inline void ok(cudaError_t error) {
  if (error == cudaSuccess) return;
  printf("runtime error %d\n", static_cast<int>(error));
  exit(1);
}

// Device memory of a call, at most until the program ends.
template <class T>
struct Array {
  T* at = nullptr;
  int size;

  explicit Array(std::vector<T> values) : size(static_cast<int>(values.size())) { take(values); }
  Array(int size, int seed) : size(size) {
    std::vector<T> values;
    for (int i = 0; i < size; ++i)
      values.push_back(make<T>(pattern(i, seed), pattern(i + 5, seed + 1)));
    take(values);
  }

  // Adds to the diagonal of a matrix of n columns, so that it can be divided by.
  Array& heavy(int n, int leading) {
    std::vector<T> values = host();
    for (int i = 0; i < n; ++i) values[i * leading + i] = make<T>(16 + i);
    ok(cudaMemcpy(at, values.data(), size * sizeof(T), cudaMemcpyHostToDevice));
    return *this;
  }

  std::vector<T> host() const {
    std::vector<T> values(size);
    ok(cudaDeviceSynchronize());
    ok(cudaMemcpy(values.data(), at, size * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

  void show(const char* label) const {
    printf("%s", label);
    for (const T& value : host()) put(value);
    puts("");
  }

 private:
  void take(const std::vector<T>& values) {
    ok(cudaMalloc(reinterpret_cast<void**>(&at), size * sizeof(T) + 1));
    ok(cudaMemcpy(at, values.data(), size * sizeof(T), cudaMemcpyHostToDevice));
  }
};

inline void* room(size_t bytes) {
  void* memory = nullptr;
  ok(cudaMalloc(&memory, bytes + 1));
  return memory;
}

template <class T>
void show(const char* label, T value) {
  printf("%s", label);
  put(value);
  puts("");
}
