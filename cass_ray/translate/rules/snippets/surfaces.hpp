#ifndef CASS_SURFACES
#define CASS_SURFACES
#if defined(__HIPCC__)
// Surfaces are read and written as bytes, which x counts. In software the boundary modes are CUDA's;
// HIP has none: reads outside give zero, writes outside are dropped.
namespace cass {
#if CASS_SOFTWARE_IMAGES
#define CASS_ON_SURFACE(software, hardware) software
template <typename T> __device__ inline T* surface_texel(hipSurfaceObject_t surface, int x, int y, int z, int mode) {
    const constant_image i = image_at(surface);
    const int ends[] = {i->size[0] * i->channels * i->bytes - static_cast<int>(sizeof(T)), i->size[1] - 1, i->size[2] * i->layers - 1};
    int at[] = {x, y, z};
    for (int axis = 0; axis < 3; ++axis) {
        if (at[axis] >= 0 && at[axis] <= ends[axis]) continue;
        if (mode == hipBoundaryModeZero) return nullptr;
        if (mode != hipBoundaryModeClamp) __builtin_trap();
        at[axis] = at[axis] < 0 ? 0 : ends[axis];
    }
    return reinterpret_cast<T*>(i->data + at[2] * i->slice + at[1] * i->row + at[0]);
}
template <typename T> __device__ inline void read_surface(T* value, hipSurfaceObject_t surface, int x, int y, int z, int mode) {
    const T* const place = surface_texel<T>(surface, x, y, z, mode);
    *value = place != nullptr ? *place : T();
}
template <typename T> __device__ inline void write_surface(T value, hipSurfaceObject_t surface, int x, int y, int z, int mode) {
    T* const place = surface_texel<T>(surface, x, y, z, mode);
    if (place != nullptr) *place = value;
}
#else
#define CASS_ON_SURFACE(software, hardware) hardware
#if defined(__HIP_PLATFORM_NVIDIA__)
template <typename T> __device__ inline void read_layer(T* value, hipSurfaceObject_t s, int x, int layer) { ::surf1DLayeredread(value, s, x, layer); }
template <typename T> __device__ inline void read_layer(T* value, hipSurfaceObject_t s, int x, int y, int layer) { ::surf2DLayeredread(value, s, x, y, layer); }
template <typename T> __device__ inline void write_layer(T value, hipSurfaceObject_t s, int x, int layer) { ::surf1DLayeredwrite(value, s, x, layer); }
template <typename T> __device__ inline void write_layer(T value, hipSurfaceObject_t s, int x, int y, int layer) { ::surf2DLayeredwrite(value, s, x, y, layer); }
#else
// HIP's own functions for layers take the layer for a level of detail.
typedef int surface_place2 __attribute__((ext_vector_type(2)));
typedef int surface_place4 __attribute__((ext_vector_type(4)));
typedef float surface_value __attribute__((ext_vector_type(4)));
template <typename T> __device__ __hip_img_chk__ inline void read_layer(T* value, hipSurfaceObject_t surfObj, int x, int layer) {
    __HIP_SURFACE_OBJECT_PARAMETERS_INIT
    x = __hipGetPixelAddr(x, __ockl_image_channel_data_type_1D(i), __ockl_image_channel_order_1D(i));
    *value = __hipMapFrom<T>(__ockl_image_load_1Da(i, surface_place2{x, layer}));
}
template <typename T> __device__ __hip_img_chk__ inline void read_layer(T* value, hipSurfaceObject_t surfObj, int x, int y, int layer) {
    __HIP_SURFACE_OBJECT_PARAMETERS_INIT
    x = __hipGetPixelAddr(x, __ockl_image_channel_data_type_2D(i), __ockl_image_channel_order_2D(i));
    *value = __hipMapFrom<T>(__ockl_image_load_2Da(i, surface_place4{x, y, layer, 0}));
}
template <typename T> __device__ __hip_img_chk__ inline void write_layer(T value, hipSurfaceObject_t surfObj, int x, int layer) {
    __HIP_SURFACE_OBJECT_PARAMETERS_INIT
    x = __hipGetPixelAddr(x, __ockl_image_channel_data_type_1D(i), __ockl_image_channel_order_1D(i));
    __ockl_image_store_1Da(i, surface_place2{x, layer}, __hipMapTo<surface_value>(value));
}
template <typename T> __device__ __hip_img_chk__ inline void write_layer(T value, hipSurfaceObject_t surfObj, int x, int y, int layer) {
    __HIP_SURFACE_OBJECT_PARAMETERS_INIT
    x = __hipGetPixelAddr(x, __ockl_image_channel_data_type_2D(i), __ockl_image_channel_order_2D(i));
    __ockl_image_store_2Da(i, surface_place4{x, y, layer, 0}, __hipMapTo<surface_value>(value));
}
#endif
#endif
template <typename T> __device__ inline void surf1Dread(T* value, hipSurfaceObject_t s, int x, int mode = hipBoundaryModeTrap) {
    CASS_ON_SURFACE(cass::read_surface(value, s, x, 0, 0, mode), ::surf1Dread(value, s, x));
}
template <typename T> __device__ inline void surf2Dread(T* value, hipSurfaceObject_t s, int x, int y, int mode = hipBoundaryModeTrap) {
    CASS_ON_SURFACE(cass::read_surface(value, s, x, y, 0, mode), ::surf2Dread(value, s, x, y));
}
template <typename T> __device__ inline void surf3Dread(T* value, hipSurfaceObject_t s, int x, int y, int z, int mode = hipBoundaryModeTrap) {
    CASS_ON_SURFACE(cass::read_surface(value, s, x, y, z, mode), ::surf3Dread(value, s, x, y, z));
}
template <typename T> __device__ inline void surf1DLayeredread(T* value, hipSurfaceObject_t s, int x, int layer, int mode = hipBoundaryModeTrap) {
    CASS_ON_SURFACE(cass::read_surface(value, s, x, 0, layer, mode), cass::read_layer(value, s, x, layer));
}
template <typename T> __device__ inline void surf2DLayeredread(T* value, hipSurfaceObject_t s, int x, int y, int layer, int mode = hipBoundaryModeTrap) {
    CASS_ON_SURFACE(cass::read_surface(value, s, x, y, layer, mode), cass::read_layer(value, s, x, y, layer));
}
template <typename T> __device__ inline void surf1Dwrite(T value, hipSurfaceObject_t s, int x, int mode = hipBoundaryModeTrap) {
    CASS_ON_SURFACE(cass::write_surface(value, s, x, 0, 0, mode), ::surf1Dwrite(value, s, x));
}
template <typename T> __device__ inline void surf2Dwrite(T value, hipSurfaceObject_t s, int x, int y, int mode = hipBoundaryModeTrap) {
    CASS_ON_SURFACE(cass::write_surface(value, s, x, y, 0, mode), ::surf2Dwrite(value, s, x, y));
}
template <typename T> __device__ inline void surf3Dwrite(T value, hipSurfaceObject_t s, int x, int y, int z, int mode = hipBoundaryModeTrap) {
    CASS_ON_SURFACE(cass::write_surface(value, s, x, y, z, mode), ::surf3Dwrite(value, s, x, y, z));
}
template <typename T> __device__ inline void surf1DLayeredwrite(T value, hipSurfaceObject_t s, int x, int layer, int mode = hipBoundaryModeTrap) {
    CASS_ON_SURFACE(cass::write_surface(value, s, x, 0, layer, mode), cass::write_layer(value, s, x, layer));
}
template <typename T> __device__ inline void surf2DLayeredwrite(T value, hipSurfaceObject_t s, int x, int y, int layer, int mode = hipBoundaryModeTrap) {
    CASS_ON_SURFACE(cass::write_surface(value, s, x, y, layer, mode), cass::write_layer(value, s, x, y, layer));
}
#undef CASS_ON_SURFACE
// The forms that return what they read.
template <typename T, typename... Places> __device__ inline T surf1Dread(hipSurfaceObject_t surface, int x, Places... places) {
    T value;
    cass::surf1Dread(&value, surface, x, places...);
    return value;
}
template <typename T, typename... Places> __device__ inline T surf2Dread(hipSurfaceObject_t surface, int x, Places... places) {
    T value;
    cass::surf2Dread(&value, surface, x, places...);
    return value;
}
template <typename T, typename... Places> __device__ inline T surf3Dread(hipSurfaceObject_t surface, int x, Places... places) {
    T value;
    cass::surf3Dread(&value, surface, x, places...);
    return value;
}
template <typename T, typename... Places> __device__ inline T surf1DLayeredread(hipSurfaceObject_t surface, int x, Places... places) {
    T value;
    cass::surf1DLayeredread(&value, surface, x, places...);
    return value;
}
template <typename T, typename... Places> __device__ inline T surf2DLayeredread(hipSurfaceObject_t surface, int x, Places... places) {
    T value;
    cass::surf2DLayeredread(&value, surface, x, places...);
    return value;
}
}  // namespace cass
#endif
#endif
