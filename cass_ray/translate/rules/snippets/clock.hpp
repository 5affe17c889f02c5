#ifndef CASS_CLOCK
#define CASS_CLOCK
#if defined(__HIPCC__)
#include <ctime>
namespace cass {
// Cycles of the shader. RDNA3's counter has 20 bits, so that differences are wrong across 2^20 cycles
// and a loop that waits for more does not end: there it is the constant clock of 100 MHz, as 2.4 GHz.
__device__ inline long long clock64() {
#if defined(__GFX11__)
    return 24 * static_cast<long long>(::wall_clock64());
#else
    return ::clock64();
#endif
}
#ifdef __HIP_PLATFORM_NVIDIA__
__host__ __device__ inline clock_t clock() { return ::clock(); }
#else
__device__ inline clock_t clock() { return static_cast<clock_t>(clock64()); }
__host__ inline clock_t clock() { return ::clock(); }
#endif
}  // namespace cass
#endif
#endif
