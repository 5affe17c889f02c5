// What follows a product: a bias, ReLU, GELU and their gradients, on matrices in the host's memory.
#pragma once

#include <hip/hip_runtime_api.h>
#include <hip/library_types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cass {

size_t bytes_of(int32_t type);

// Gradients of a bias of A or B are not.
bool known_epilogue(uint32_t kind);

// A batch of matrices of m rows by columns; `swapped`: the caller's rows are columns here.
struct Epilogue {
  uint32_t kind;
  int m, n, batch;
  bool swapped;

  // Device to host, each value in double precision, packed. False: a copy failed.
  bool read(const void* from, int32_t type, int64_t ld, int64_t stride, std::vector<double>& to,
            hipStream_t stream) const;
  // Host to device, rounded to nearest even.
  bool write(void* to, int32_t type, int64_t ld, int64_t stride,
             const std::vector<double>& from) const;
  bool apply(std::vector<double>& values, void* bias, int32_t biasType, void* aux, int32_t auxType,
             int64_t auxLd, int64_t auxStride) const;
};

}  // namespace cass
