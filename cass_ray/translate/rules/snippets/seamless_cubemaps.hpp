#ifndef CASS_SEAMLESS_CUBEMAPS
#define CASS_SEAMLESS_CUBEMAPS
#include <cstdio>
#include <cstdlib>
namespace cass {
inline void refuse_seamless_cubemaps(int asked) {
    if (asked == 0) return;
    std::fputs("HIP has no filter across the faces of a cube: cudaTextureDesc::seamlessCubemap\n", stderr);
    std::abort();
}
}  // namespace cass
#endif
