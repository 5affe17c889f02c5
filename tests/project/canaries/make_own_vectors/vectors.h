#pragma once
#include <cuda_runtime.h>
#ifdef SINGLE
using Real = float;
using Real3 = float3;
#else
using Real = double;
using Real3 = double3;
#endif
__host__ __device__ inline Real3 make_real3(Real x, Real y, Real z) { return Real3{x, y, z}; }
__host__ __device__ inline Real3 operator+(const Real3& a, const Real3& b) {
  return make_real3(a.x + b.x, a.y + b.y, a.z + b.z);
}
__host__ __device__ inline Real3 operator-(const Real3& a, const Real3& b) {
  return make_real3(a.x - b.x, a.y - b.y, a.z - b.z);
}
__host__ __device__ inline Real3 operator*(Real factor, const Real3& a) {
  return make_real3(factor * a.x, factor * a.y, factor * a.z);
}
__host__ __device__ inline void operator+=(Real3& a, const Real3& b) { a = a + b; }
__host__ __device__ inline Real dot(const Real3& a, const Real3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__host__ __device__ inline bool operator==(const int3& a, const int3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}
