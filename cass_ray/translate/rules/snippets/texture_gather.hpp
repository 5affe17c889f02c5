#ifndef CASS_TEXTURE_GATHER
#define CASS_TEXTURE_GATHER
#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
// HIP's function for objects (up to ROCm 7.1 at least) counts components from 1, CUDA's and HIP's own
// for texture references from 0: so the functions below it are called.
namespace cass {
template <typename T> __device__ inline T tex2Dgather(hipTextureObject_t texture, float x, float y, int component = 0) {
#if CASS_SOFTWARE_IMAGES
    const constant_image i = image_at(texture);
    double weight;
    const int left = first_texel(texel_place(i, 0, x), &weight), top = first_texel(texel_place(i, 1, y), &weight);
    texel found;
    for (int corner = 0; corner < 4; ++corner) {  // counter-clockwise from the lower left
        const int at[] = {left + (corner == 1 || corner == 2), top + (corner < 2)};
        found.word[corner] = addressed_texel<2>(i, at, 0).word[component & 3];
    }
    return texel_as<T>::of(found);
#elif defined(__HIP_PLATFORM_NVIDIA__)
    return ::tex2Dgather<T>(texture, x, y, component);
#else
    typedef float __attribute__((ext_vector_type(2))) pair;
    unsigned int ADDRESS_SPACE_CONSTANT* const image = (unsigned int ADDRESS_SPACE_CONSTANT*)texture;
    unsigned int ADDRESS_SPACE_CONSTANT* const sampler = image + HIP_SAMPLER_OBJECT_OFFSET_DWORD;
    const pair place = {x, y};
    if (component == 1) return __hipMapFrom<T>(__ockl_image_gather4g_2D(image, sampler, place));
    if (component == 2) return __hipMapFrom<T>(__ockl_image_gather4b_2D(image, sampler, place));
    if (component == 3) return __hipMapFrom<T>(__ockl_image_gather4a_2D(image, sampler, place));
    return __hipMapFrom<T>(__ockl_image_gather4r_2D(image, sampler, place));
#endif
}
template <typename T>
__device__ inline void tex2Dgather(T* value, hipTextureObject_t texture, float x, float y, int component = 0) {
    *value = cass::tex2Dgather<T>(texture, x, y, component);
}
}  // namespace cass
#endif
#endif
