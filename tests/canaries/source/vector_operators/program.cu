// A program's own operators of vector types, which CUDA has none of: what they do is what they say.
#include <cstdio>
#include <cuComplex.h>

#define Colour uchar4
typedef float3 Vector;
using Wide = double4;
typedef cuFloatComplex Complex;

__host__ __device__ inline Vector operator*(const Vector& a, const Vector& b) {  // the cross product
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__host__ __device__ inline Vector& operator+=(Vector& a, float s) { a.x += s; return a; }
__host__ __device__ inline float operator|(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__host__ __device__ inline Vector operator-(Vector v) { return {-v.z, -v.y, -v.x}; }
__device__ inline Complex operator*(Complex a, Complex b) { return cuCmulf(a, b); }
__device__ inline Complex operator/(Complex a, Complex b) { return cuCdivf(a, b); }
__device__ inline bool operator==(Complex a, Complex b) { return a.x == b.x; }
__host__ __device__ inline Colour operator+(Colour a, Colour b) {  // saturating
    auto top = [](int v) { return static_cast<unsigned char>(v > 255 ? 255 : v); };
    return make_uchar4(top(a.x + b.x), top(a.y + b.y), top(a.z + b.z), top(a.w + b.w));
}
namespace lib {
struct Matrix { double4 rows[2]; };
inline __host__ __device__ double4 operator*(const Matrix& m, double4 v) {
    return {m.rows[0].x * v.x + m.rows[0].y * v.y, m.rows[1].x * v.x + m.rows[1].y * v.y};
}
template <typename T> __host__ __device__ T operator%(const T& a, const T& b) { return T{a.y, b.x}; }
__host__ __device__ inline int2 remainder(int2 a, int2 b) { return a % b; }
}
template <typename V, typename = decltype(V{}.z)> __host__ __device__ bool operator<(V a, V b) { return a.z < b.z; }
struct Wrapped {
    int4 value;
    __host__ __device__ Wrapped& operator<<=(const int4& by) { value.w = by.x; return *this; }
    __host__ __device__ operator int4() const { return value; }
};

__global__ void go(float* out) {
    Vector a{1, 2, 3}, b{4, 5, 6};
    Vector c = a * b;
    c += 0.5f;
    out[0] = c.x * 100 + c.y * 10 + c.z;
    out[1] = a | b;
    out[2] = (-a).x;
    Complex p = make_cuFloatComplex(1, 2), q = p * p;
    out[3] = q.x * 10 + q.y;
    out[4] = (q / p).y;
    out[5] = q == make_cuFloatComplex(-3, 77);
    Colour sum = make_uchar4(200, 1, 2, 3) + make_uchar4(100, 1, 1, 255);
    out[6] = sum.x + sum.w + sum.y;
    Wide turned = lib::Matrix{{{0, 1}, {2, 0}}} * Wide{3, 4};
    out[7] = turned.x * 10 + turned.y;
    int2 r = lib::remainder({1, 2}, {3, 4});
    out[8] = r.x * 10 + r.y;
    out[9] = (a < b) + (make_int3(1, 1, 9) < make_int3(2, 2, 8)) * 2;
    Wrapped w{{1, 2, 3, 4}};
    w <<= make_int4(9, 0, 0, 0);
    out[10] = int4(w).w;
}

int main() {
    float h[11], *d;
    cudaMalloc(&d, sizeof h);
    go<<<1, 1>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (float v : h) printf("%g ", v);
    Vector up = Vector{1, 0, 0} * Vector{0, 1, 0};
    printf("| %g %g\n", up.z, -Vector{1, 2, 3} | Vector{1, 1, 0});
}
