#ifndef CASS_DOT
#define CASS_DOT
// Dot products of packed integers.
namespace cass {
__device__ inline int dp4a(int a, int b, int c) {
    for (int shift = 0; shift < 32; shift += 8)
        c += static_cast<signed char>(a >> shift) * static_cast<signed char>(b >> shift);
    return c;
}
__device__ inline unsigned int dp4a(unsigned int a, unsigned int b, unsigned int c) {
    for (int shift = 0; shift < 32; shift += 8) c += ((a >> shift) & 255u) * ((b >> shift) & 255u);
    return c;
}
__device__ inline int dp4a(char4 a, char4 b, int c) {
    return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
__device__ inline unsigned int dp4a(uchar4 a, uchar4 b, unsigned int c) {
    return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
__device__ inline int dp2a_lo(int a, int b, int c) {
    return c + static_cast<short>(a) * static_cast<signed char>(b) +
           static_cast<short>(a >> 16) * static_cast<signed char>(b >> 8);
}
__device__ inline int dp2a_hi(int a, int b, int c) { return dp2a_lo(a, b >> 16, c); }
__device__ inline unsigned int dp2a_lo(unsigned int a, unsigned int b, unsigned int c) {
    return c + (a & 0xffffu) * (b & 255u) + (a >> 16) * ((b >> 8) & 255u);
}
__device__ inline unsigned int dp2a_hi(unsigned int a, unsigned int b, unsigned int c) {
    return dp2a_lo(a, b >> 16, c);
}
__device__ inline int dp2a_lo(short2 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y; }
__device__ inline int dp2a_hi(short2 a, char4 b, int c) { return c + a.x * b.z + a.y * b.w; }
__device__ inline unsigned int dp2a_lo(ushort2 a, uchar4 b, unsigned int c) {
    return c + a.x * b.x + a.y * b.y;
}
__device__ inline unsigned int dp2a_hi(ushort2 a, uchar4 b, unsigned int c) {
    return c + a.x * b.z + a.y * b.w;
}
}  // namespace cass
#endif
