#ifndef CASS_TEXTURES
#define CASS_TEXTURES
#include <type_traits>
namespace cass {
#if CASS_SOFTWARE_IMAGES
template <typename T> __device__ inline T tex1Dfetch(hipTextureObject_t texture, int x) {
    const constant_image i = image_at(texture);
    if (x < 0 || x >= i->size[0]) return texel_as<T>::of(texel{0, 0, 0, 0});
    return texel_as<T>::of(load_texel(i, x, 0, 0));
}
template <typename T> __device__ inline T tex1D(hipTextureObject_t texture, float x) {
    return texel_as<T>::of(sample_image<1>(image_at(texture), {x}));
}
template <typename T> __device__ inline T tex2D(hipTextureObject_t texture, float x, float y) {
    return texel_as<T>::of(sample_image<2>(image_at(texture), {x, y}));
}
template <typename T> __device__ inline T tex3D(hipTextureObject_t texture, float x, float y, float z) {
    return texel_as<T>::of(sample_image<3>(image_at(texture), {x, y, z}));
}
template <typename T> __device__ inline T tex1DLayered(hipTextureObject_t texture, float x, int layer) {
    return texel_as<T>::of(sample_image<1>(image_at(texture), {x}, layer));
}
template <typename T> __device__ inline T tex2DLayered(hipTextureObject_t texture, float x, float y, int layer) {
    return texel_as<T>::of(sample_image<2>(image_at(texture), {x, y}, layer));
}
// There are no mipmaps: all levels are the first one.
template <typename T> __device__ inline T tex1DLod(hipTextureObject_t texture, float x, float) {
    return cass::tex1D<T>(texture, x);
}
template <typename T> __device__ inline T tex2DLod(hipTextureObject_t texture, float x, float y, float) {
    return cass::tex2D<T>(texture, x, y);
}
template <typename T> __device__ inline T tex3DLod(hipTextureObject_t texture, float x, float y, float z, float) {
    return cass::tex3D<T>(texture, x, y, z);
}
template <typename T> __device__ inline T tex1DLayeredLod(hipTextureObject_t texture, float x, int layer, float) {
    return cass::tex1DLayered<T>(texture, x, layer);
}
template <typename T> __device__ inline T tex2DLayeredLod(hipTextureObject_t texture, float x, float y, int layer, float) {
    return cass::tex2DLayered<T>(texture, x, y, layer);
}
// The forms that store to a pointer.
#define CASS_STORING(name) \
    template <typename T, typename... Arguments> \
    __device__ inline void name(T* value, hipTextureObject_t texture, Arguments... arguments) { \
        *value = cass::name<T>(texture, arguments...); \
    }
CASS_STORING(tex1Dfetch)
CASS_STORING(tex1D)
CASS_STORING(tex2D)
CASS_STORING(tex3D)
CASS_STORING(tex1DLayered)
CASS_STORING(tex2DLayered)
CASS_STORING(tex1DLod)
CASS_STORING(tex2DLod)
CASS_STORING(tex3DLod)
CASS_STORING(tex1DLayeredLod)
CASS_STORING(tex2DLayeredLod)
#undef CASS_STORING
#elif defined(__HIPCC__)
using ::tex1D;
using ::tex1Dfetch;
using ::tex1DLayered;
using ::tex1DLayeredLod;
using ::tex1DLod;
using ::tex2D;
using ::tex2DLayered;
using ::tex2DLayeredLod;
using ::tex2DLod;
using ::tex3D;
using ::tex3DLod;
#endif
#if defined(__HIPCC__) && !defined(__HIP_PLATFORM_NVIDIA__)
// CUDA's texture objects are integers of 64 bits, which programs keep as such.
#define CASS_OF_INTEGERS(name) \
    template <typename T, typename Object, typename... At, \
              typename std::enable_if<std::is_integral<Object>::value && sizeof(Object) == 8>::type* = nullptr> \
    __device__ inline T name(Object texture, At... at) { \
        return cass::name<T>(reinterpret_cast<hipTextureObject_t>(texture), at...); \
    }
CASS_OF_INTEGERS(tex1Dfetch)
CASS_OF_INTEGERS(tex1D)
CASS_OF_INTEGERS(tex2D)
CASS_OF_INTEGERS(tex3D)
CASS_OF_INTEGERS(tex1DLayered)
CASS_OF_INTEGERS(tex2DLayered)
CASS_OF_INTEGERS(tex1DLod)
CASS_OF_INTEGERS(tex2DLod)
CASS_OF_INTEGERS(tex3DLod)
#undef CASS_OF_INTEGERS
#endif
}  // namespace cass
#endif
