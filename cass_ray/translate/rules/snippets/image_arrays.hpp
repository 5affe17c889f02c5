#ifndef CASS_IMAGE_ARRAYS
#define CASS_IMAGE_ARRAYS
namespace cass {
// Formats that CUDA's arrays have: 1, 2 or 4 channels of one width.
inline int format_channels(const hipChannelFormatDesc& f) {
    const int channels = f.y == 0 ? 1 : f.z == 0 ? 2 : 4;
    const int others[] = {f.y, f.z, f.w};
    for (int k = 0; k < 3; ++k) {
        if (others[k] != (k + 1 < channels ? f.x : 0)) return 0;
    }
    const bool is_float = f.f == hipChannelFormatKindFloat;
    if (!is_float && f.f != hipChannelFormatKindSigned && f.f != hipChannelFormatKindUnsigned) return 0;
    return f.x == 32 || f.x == 16 || (f.x == 8 && !is_float) ? channels : 0;
}
inline hipError_t malloc_3d_array(hipArray_t* array, const hipChannelFormatDesc* format, hipExtent extent,
                                  unsigned int flags = 0) {
    if (!software_images()) return hipMalloc3DArray(array, format, extent, flags);
    if (array == nullptr || format == nullptr || format_channels(*format) == 0 || extent.width == 0) return hipErrorInvalidValue;
    const bool is_layered = (flags & hipArrayLayered) != 0;
    if (extent.height == 0 && extent.depth != 0 && !is_layered) return hipErrorInvalidValue;
    if ((flags & ~(hipArrayLayered | hipArraySurfaceLoadStore | hipArrayTextureGather)) != 0) return hipErrorNotSupported;
    image_array made = {nullptr, *format, extent, flags};
    void* data = nullptr;
    const hipError_t status = hipMalloc(&data, made.row() * made.rows() * made.slices());
    if (status != hipSuccess) return status;
    made.data = static_cast<unsigned char*>(data);
    *array = (hipArray_t)data;
    image_registry& records = image_records();
    const std::lock_guard<std::mutex> guard(records.lock);
    records.arrays[data] = made;
    return hipSuccess;
}
inline hipError_t malloc_array(hipArray_t* array, const hipChannelFormatDesc* format, size_t width, size_t height = 0,
                               unsigned int flags = 0) {
    if (!software_images()) return hipMallocArray(array, format, width, height, flags);
    return malloc_3d_array(array, format, make_hipExtent(width, height, 0), flags);
}
inline hipError_t free_array(hipArray_t array) {
    image_array found;
    if (!find_array(array, &found)) return hipFreeArray(array);
    {
        image_registry& records = image_records();
        const std::lock_guard<std::mutex> guard(records.lock);
        records.arrays.erase(array);
    }
    return hipFree(found.data);
}
inline hipError_t get_channel_desc(hipChannelFormatDesc* format, hipArray_const_t array) {
    image_array found;
    if (!find_array(array, &found)) return hipGetChannelDesc(format, array);
    *format = found.format;
    return hipSuccess;
}
}  // namespace cass
#endif
