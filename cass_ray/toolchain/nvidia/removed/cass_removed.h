// Texture references, which CUDA 12 took away: the interface of CUDA 11's headers (CUDA C
// Programming Guide 11.8, "Texture Reference API"). The compilers of CUDA 13 still make their
// machine code: a fetch becomes what CUDA 11 makes of it. The runtime has no cudaBindTexture any
// more, so a program compiles and does not link.
#pragma once

struct textureReference {
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned int maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int __cudaReserved[14];
};

template <class T, int dim = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct __device_builtin_texture_type__ texture : public textureReference {
#if !defined(__CUDACC_RTC__)
  __host__ texture(int norm = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
                   cudaTextureAddressMode address = cudaAddressModeClamp)
      : texture(norm, filter, address, cudaCreateChannelDesc<T>()) {}
  __host__ texture(int norm, cudaTextureFilterMode filter, cudaTextureAddressMode address,
                   cudaChannelFormatDesc format) {
    normalized = norm;
    filterMode = filter;
    addressMode[0] = addressMode[1] = addressMode[2] = address;
    channelDesc = format;
    sRGB = 0;
  }
#endif
};

template <class T>
struct cass_normalized;
#define CASS_RESULT(T, R)     \
  template <>                 \
  struct cass_normalized<T> { \
    using type = R;           \
  };

#if defined(__clang__) || !defined(__CUDACC__)
// The host's side alone.
#define CASS_ELEMENTS(T, S)
#define CASS_CALL(name, result, ...) \
  return result {}
#else
// The compiler calls NAME_TYPE with the handle of the texture that a reference stands for.
#define CASS_PLAIN(...) __VA_ARGS__
#define CASS_FUNCTION(T, S, R, name, fetch, parameters, arguments)                      \
  extern "C" __device__ void name##_##S(R* result, unsigned long long handle,           \
                                        CASS_PLAIN parameters) {                        \
    *result = fetch<R>(static_cast<cudaTextureObject_t>(handle), CASS_PLAIN arguments); \
  }
#define CASS_ELEMENTS(T, S)                                                                   \
  CASS_FUNCTION(T, S, T, __cass_tex1Dfetch, tex1Dfetch, (int x), (x))                         \
  CASS_FUNCTION(T, S, T, __cass_tex1D, tex1D, (float x), (x))                                 \
  CASS_FUNCTION(T, S, T, __cass_tex2D, tex2D, (float x, float y), (x, y))                     \
  CASS_FUNCTION(T, S, T, __cass_tex3D, tex3D, (float x, float y, float z), (x, y, z))         \
  CASS_FUNCTION(T, S, T, __cass_tex1DLayered, tex1DLayered, (float x, int layer), (x, layer)) \
  CASS_FUNCTION(T, S, T, __cass_tex2DLayered, tex2DLayered, (float x, float y, int layer),    \
                (x, y, layer))                                                                \
  CASS_FUNCTION(T, S, T, __cass_tex1DLod, tex1DLod, (float x, float level), (x, level))       \
  CASS_FUNCTION(T, S, T, __cass_tex2DLod, tex2DLod, (float x, float y, float level), (x, y, level))
#define CASS_CALL(name, result, ...)                  \
  result fetched;                                     \
  __nv_tex_surf_handler(name, &fetched, __VA_ARGS__); \
  return fetched
#endif

CASS_ELEMENTS(char, char)
CASS_ELEMENTS(char1, char1)
CASS_ELEMENTS(char2, char2)
CASS_ELEMENTS(char4, char4)
CASS_ELEMENTS(signed char, schar)
CASS_ELEMENTS(unsigned char, uchar)
CASS_ELEMENTS(uchar1, uchar1)
CASS_ELEMENTS(uchar2, uchar2)
CASS_ELEMENTS(uchar4, uchar4)
CASS_ELEMENTS(short, short)
CASS_ELEMENTS(short1, short1)
CASS_ELEMENTS(short2, short2)
CASS_ELEMENTS(short4, short4)
CASS_ELEMENTS(unsigned short, ushort)
CASS_ELEMENTS(ushort1, ushort1)
CASS_ELEMENTS(ushort2, ushort2)
CASS_ELEMENTS(ushort4, ushort4)
CASS_ELEMENTS(int, int)
CASS_ELEMENTS(int1, int1)
CASS_ELEMENTS(int2, int2)
CASS_ELEMENTS(int4, int4)
CASS_ELEMENTS(unsigned int, uint)
CASS_ELEMENTS(uint1, uint1)
CASS_ELEMENTS(uint2, uint2)
CASS_ELEMENTS(uint4, uint4)
CASS_ELEMENTS(float, float)
CASS_ELEMENTS(float1, float1)
CASS_ELEMENTS(float2, float2)
CASS_ELEMENTS(float4, float4)
CASS_RESULT(char, float)
CASS_RESULT(char1, float1)
CASS_RESULT(char2, float2)
CASS_RESULT(char4, float4)
CASS_RESULT(signed char, float)
CASS_RESULT(unsigned char, float)
CASS_RESULT(uchar1, float1)
CASS_RESULT(uchar2, float2)
CASS_RESULT(uchar4, float4)
CASS_RESULT(short, float)
CASS_RESULT(short1, float1)
CASS_RESULT(short2, float2)
CASS_RESULT(short4, float4)
CASS_RESULT(unsigned short, float)
CASS_RESULT(ushort1, float1)
CASS_RESULT(ushort2, float2)
CASS_RESULT(ushort4, float4)

template <class T>
static __device__ __forceinline__ T
tex1Dfetch(texture<T, cudaTextureType1D, cudaReadModeElementType> reference, int x) {
  CASS_CALL("__cass_tex1Dfetch", T, reference, x);
}
template <class T>
static __device__ __forceinline__ typename cass_normalized<T>::type tex1Dfetch(
    texture<T, cudaTextureType1D, cudaReadModeNormalizedFloat> reference, int x) {
  CASS_CALL("__cass_tex1Dfetch", typename cass_normalized<T>::type, reference, x);
}
template <class T>
static __device__ __forceinline__ T
tex1D(texture<T, cudaTextureType1D, cudaReadModeElementType> reference, float x) {
  CASS_CALL("__cass_tex1D", T, reference, x);
}
template <class T>
static __device__ __forceinline__ typename cass_normalized<T>::type tex1D(
    texture<T, cudaTextureType1D, cudaReadModeNormalizedFloat> reference, float x) {
  CASS_CALL("__cass_tex1D", typename cass_normalized<T>::type, reference, x);
}
template <class T>
static __device__ __forceinline__ T
tex2D(texture<T, cudaTextureType2D, cudaReadModeElementType> reference, float x, float y) {
  CASS_CALL("__cass_tex2D", T, reference, x, y);
}
template <class T>
static __device__ __forceinline__ typename cass_normalized<T>::type tex2D(
    texture<T, cudaTextureType2D, cudaReadModeNormalizedFloat> reference, float x, float y) {
  CASS_CALL("__cass_tex2D", typename cass_normalized<T>::type, reference, x, y);
}
template <class T>
static __device__ __forceinline__ T
tex3D(texture<T, cudaTextureType3D, cudaReadModeElementType> reference, float x, float y, float z) {
  CASS_CALL("__cass_tex3D", T, reference, x, y, z);
}
template <class T>
static __device__ __forceinline__ typename cass_normalized<T>::type tex3D(
    texture<T, cudaTextureType3D, cudaReadModeNormalizedFloat> reference, float x, float y,
    float z) {
  CASS_CALL("__cass_tex3D", typename cass_normalized<T>::type, reference, x, y, z);
}
template <class T>
static __device__ __forceinline__ T tex1DLayered(
    texture<T, cudaTextureType1DLayered, cudaReadModeElementType> reference, float x, int layer) {
  CASS_CALL("__cass_tex1DLayered", T, reference, x, layer);
}
template <class T>
static __device__ __forceinline__ typename cass_normalized<T>::type tex1DLayered(
    texture<T, cudaTextureType1DLayered, cudaReadModeNormalizedFloat> reference, float x,
    int layer) {
  CASS_CALL("__cass_tex1DLayered", typename cass_normalized<T>::type, reference, x, layer);
}
template <class T>
static __device__ __forceinline__ T
tex2DLayered(texture<T, cudaTextureType2DLayered, cudaReadModeElementType> reference, float x,
             float y, int layer) {
  CASS_CALL("__cass_tex2DLayered", T, reference, x, y, layer);
}
template <class T>
static __device__ __forceinline__ typename cass_normalized<T>::type tex2DLayered(
    texture<T, cudaTextureType2DLayered, cudaReadModeNormalizedFloat> reference, float x, float y,
    int layer) {
  CASS_CALL("__cass_tex2DLayered", typename cass_normalized<T>::type, reference, x, y, layer);
}
template <class T>
static __device__ __forceinline__ T
tex1DLod(texture<T, cudaTextureType1D, cudaReadModeElementType> reference, float x, float level) {
  CASS_CALL("__cass_tex1DLod", T, reference, x, level);
}
template <class T>
static __device__ __forceinline__ typename cass_normalized<T>::type tex1DLod(
    texture<T, cudaTextureType1D, cudaReadModeNormalizedFloat> reference, float x, float level) {
  CASS_CALL("__cass_tex1DLod", typename cass_normalized<T>::type, reference, x, level);
}
template <class T>
static __device__ __forceinline__ T
tex2DLod(texture<T, cudaTextureType2D, cudaReadModeElementType> reference, float x, float y,
         float level) {
  CASS_CALL("__cass_tex2DLod", T, reference, x, y, level);
}
template <class T>
static __device__ __forceinline__ typename cass_normalized<T>::type tex2DLod(
    texture<T, cudaTextureType2D, cudaReadModeNormalizedFloat> reference, float x, float y,
    float level) {
  CASS_CALL("__cass_tex2DLod", typename cass_normalized<T>::type, reference, x, y, level);
}

extern "C" {
cudaError_t cudaBindTexture(size_t* offset, const textureReference* reference, const void* memory,
                            const cudaChannelFormatDesc* format, size_t size = 0xffffffffu);
cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* reference, const void* memory,
                              const cudaChannelFormatDesc* format, size_t width, size_t height,
                              size_t pitch);
cudaError_t cudaBindTextureToArray(const textureReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc* format);
cudaError_t cudaBindTextureToMipmappedArray(const textureReference* reference,
                                            cudaMipmappedArray_const_t array,
                                            const cudaChannelFormatDesc* format);
cudaError_t cudaUnbindTexture(const textureReference* reference);
cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference* reference);
cudaError_t cudaGetTextureReference(const textureReference** reference, const void* symbol);
}

template <class T, int dim, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, dim, mode>& reference,
                                          const void* memory, const cudaChannelFormatDesc& format,
                                          size_t size = 0xffffffffu) {
  return ::cudaBindTexture(offset, &reference, memory, &format, size);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, dim, mode>& reference,
                                          const void* memory, size_t size = 0xffffffffu) {
  return ::cudaBindTexture(offset, &reference, memory, &reference.channelDesc, size);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, dim, mode>& reference,
                                            const void* memory, const cudaChannelFormatDesc& format,
                                            size_t width, size_t height, size_t pitch) {
  return ::cudaBindTexture2D(offset, &reference, memory, &format, width, height, pitch);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, dim, mode>& reference,
                                            const void* memory, size_t width, size_t height,
                                            size_t pitch) {
  return ::cudaBindTexture2D(offset, &reference, memory, &reference.channelDesc, width, height,
                             pitch);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, dim, mode>& reference,
                                                 cudaArray_const_t array,
                                                 const cudaChannelFormatDesc& format) {
  return ::cudaBindTextureToArray(&reference, array, &format);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, dim, mode>& reference,
                                                 cudaArray_const_t array) {
  cudaChannelFormatDesc format;
  const cudaError_t error = ::cudaGetChannelDesc(&format, array);
  return error == cudaSuccess ? ::cudaBindTextureToArray(&reference, array, &format) : error;
}
template <class T, int dim, cudaTextureReadMode mode>
static inline cudaError_t cudaUnbindTexture(const texture<T, dim, mode>& reference) {
  return ::cudaUnbindTexture(&reference);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t* offset,
                                                        const texture<T, dim, mode>& reference) {
  return ::cudaGetTextureAlignmentOffset(offset, &reference);
}

#undef CASS_ELEMENTS
#undef CASS_CALL
#undef CASS_RESULT
