// Vector types by the names that C gives them, and coordinates as a whole.
#include <cstdio>
#include <vector_types.h>
struct float4;
struct int2;
typedef struct float3 vec3;
struct Ray { struct float3 origin; const struct float4* plane; };
static inline __host__ __device__ float dot(struct float3 a, const struct float3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ vec3 up = {0, 1};
__global__ void go(float* out, struct uint3 grid) {
  vec3 a = {.x = 1, .z = 3};
  float4 q{.y = 5.f};
  float2 pairs[] = {{1}, {2, 3}};
  volatile float2 v; v.x = 4; v.y = 5;
  out[0] = dot(a, make_float3(1, 1, 1)) + up.y; out[1] = q.x + q.y; out[2] = pairs[0].y + pairs[1].y; out[3] = v.x + v.y; out[4] = grid.x;
  uint3 t = threadIdx; out[5] = t.x + blockIdx.x; dim3 d = blockDim; out[6] = d.x; uint3 b = blockIdx; out[7] = b.y + gridDim.x;
}
int main() { float h[8], *d; cudaMalloc(&d, sizeof h); go<<<1, 1>>>(d, uint3{7}); cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost); for (float f : h) printf("%g ", f); uint3 u = {2, 3, 1}; dim3 g(u); dim3 k = u; printf("| %u %u %u\n", u.y, g.x, k.z); }
