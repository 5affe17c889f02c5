#ifndef CASS_SURFACE
#define CASS_SURFACE
#if defined(__HIPCC__)
// Reads of surfaces that return their value.
namespace cass {
template <typename T> __device__ inline T surf1Dread(hipSurfaceObject_t surface, int x, int = 0) {
    T value;
    ::surf1Dread(&value, surface, x);
    return value;
}
template <typename T>
__device__ inline T surf2Dread(hipSurfaceObject_t surface, int x, int y, int = 0) {
    T value;
    ::surf2Dread(&value, surface, x, y);
    return value;
}
template <typename T>
__device__ inline T surf3Dread(hipSurfaceObject_t surface, int x, int y, int z, int = 0) {
    T value;
    ::surf3Dread(&value, surface, x, y, z);
    return value;
}
}  // namespace cass
#endif
#endif
