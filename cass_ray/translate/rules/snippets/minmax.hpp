#ifndef CASS_MINMAX
#define CASS_MINMAX
// Functions of CUDA's math library that HIP spells as overloads.
namespace cass {
__host__ __device__ inline unsigned int umin(unsigned int a, unsigned int b) { return b < a ? b : a; }
__host__ __device__ inline unsigned int umax(unsigned int a, unsigned int b) { return a < b ? b : a; }
__host__ __device__ inline long long llmin(long long a, long long b) { return b < a ? b : a; }
__host__ __device__ inline long long llmax(long long a, long long b) { return a < b ? b : a; }
__host__ __device__ inline unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return b < a ? b : a;
}
__host__ __device__ inline unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return a < b ? b : a;
}
__host__ __device__ inline double fdivide(double a, double b) { return a / b; }
}  // namespace cass
#endif
