// Vector types are plain structs: what aggregates, traits and constant expressions make of them.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <cuComplex.h>
#include <tuple>
#include <type_traits>

struct Body {
    float4 place = {1.f, 2.f};
    short3 cell{7};
    double2 pair[2] = {{1.5}, {2.5, 3.5}};
    cuDoubleComplex turn{0.25};
};

struct Packed {
    char tag;
    double4 wide;
    uchar3 colour;
    longlong2 range;
};

constexpr ushort4 limits = {1, 2, 3};
constexpr uint2 sizes[] = {{4u, 5u}, {6u}};
static_assert(limits.w == 0 && sizes[1].x + sizes[1].y == 6, "constants");
static_assert(std::is_trivial<float3>::value && std::is_standard_layout<ulonglong4>::value, "plain");
static_assert(std::is_aggregate<int4>::value && std::is_trivially_copyable<char2>::value, "plain");
static_assert(sizeof(float3) == 12 && alignof(float3) == 4 && alignof(double4) == 16, "layout");
static_assert(sizeof(Packed) == 80 && offsetof(Packed, range) == 64, "layout");
static_assert(!std::is_constructible<float2, int, int, int>::value, "two members");

template <typename T> struct Arity : std::integral_constant<int, sizeof(T) / sizeof(T::x)> {};
template <typename V> __host__ __device__ float total(V v) {
    float sum = 0;
    for (int i = 0; i < Arity<V>::value; ++i) sum += (&v.x)[i];
    return sum;
}
union Bits {
    float2 value;
    unsigned long long word;
};
__constant__ float3 shift = {10.f, 20.f};
__device__ int4 kept{1, 2};

__global__ void go(double* out, const Body* bodies) {
    Body mine;
    auto [x, y, z, w] = bodies[threadIdx.x].place;
    const auto& [re, im] = mine.turn;
    out[0] = x + 10 * y + 100 * z + w;
    out[1] = re * 4 + im;
    out[2] = mine.cell.x + mine.cell.y + mine.pair[0].y + mine.pair[1].y;
    out[3] = total(float4{1.f}) + total(make_int3(1, 2, 3)) + total(uchar2{250});
    float3 moved[2] = {{1.f}, shift};
    out[4] = moved[0].z + moved[1].x + moved[1].z;
    Bits bits;
    bits.word = 0x400000003f800000ull;
    out[5] = bits.value.x + bits.value.y * 10;
    out[6] = kept.x + kept.y + kept.w;
    float2 swapped;
    std::memcpy(&swapped, &bits.word, sizeof swapped);
    out[7] = float2{swapped.y, swapped.x}.x;
    auto make = [](auto... each) { return double3{static_cast<double>(each)...}; };
    out[8] = make(1, 2).y + make(3).z + make(4, 5, 6).z;
    out[9] = cuCreal(cuCmul(mine.turn, make_cuDoubleComplex(4, 8)));
}

int main() {
    double h[10], *d;
    Body body, *b;
    body.place = {3.f, 4.f, 5.f};
    cudaMalloc(&d, sizeof h);
    cudaMalloc(&b, sizeof body);
    cudaMemcpy(b, &body, sizeof body, cudaMemcpyHostToDevice);
    go<<<1, 1>>>(d, b);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (double v : h) printf("%g ", v);
    float3 bigger{};
    auto* fresh = new int3{5};
    auto&& [first, second] = std::make_pair(int2{1}, float1{2.f});
    printf("| %g %d %d %d %g\n", bigger.y, fresh->x, fresh->z, first.y, second.x);
    delete fresh;
}
