#ifndef CASS_IMAGE_COPIES
#define CASS_IMAGE_COPIES
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"  // hipMemcpyToArray, hipMemcpyFromArray
#endif
// Copies to and from arrays; x counts in bytes, y in rows of all slices.
namespace cass {
inline unsigned char* array_place(const image_array& a, size_t x, size_t y) { return a.data + y * a.row() + x; }
inline bool array_holds(const image_array& a, size_t x, size_t y, size_t width, size_t height) {
    const size_t rows = a.rows() * a.slices();
    return x <= a.row() && width <= a.row() - x && y <= rows && height <= rows - y;
}
inline bool array_holds(const image_array& a, size_t x, size_t y, size_t count) {
    const size_t bytes = a.row() * a.rows() * a.slices(), first = y * a.row() + x;
    return first <= bytes && count <= bytes - first;
}
inline hipError_t memcpy_to_array(hipArray_t to, size_t x, size_t y, const void* from, size_t count, hipMemcpyKind kind) {
    image_array a;
    if (!find_array(to, &a)) return hipMemcpyToArray(to, x, y, from, count, kind);
    return array_holds(a, x, y, count) ? hipMemcpy(array_place(a, x, y), from, count, kind) : hipErrorInvalidValue;
}
inline hipError_t memcpy_from_array(void* to, hipArray_const_t from, size_t x, size_t y, size_t count, hipMemcpyKind kind) {
    image_array a;
    if (!find_array(from, &a)) return hipMemcpyFromArray(to, from, x, y, count, kind);
    return array_holds(a, x, y, count) ? hipMemcpy(to, array_place(a, x, y), count, kind) : hipErrorInvalidValue;
}
inline hipError_t memcpy_2d_to_array(hipArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                     size_t height, hipMemcpyKind kind) {
    image_array a;
    if (!find_array(to, &a)) return hipMemcpy2DToArray(to, x, y, from, pitch, width, height, kind);
    if (!array_holds(a, x, y, width, height)) return hipErrorInvalidValue;
    return hipMemcpy2D(array_place(a, x, y), a.row(), from, pitch, width, height, kind);
}
inline hipError_t memcpy_2d_to_array_async(hipArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                           size_t height, hipMemcpyKind kind, hipStream_t stream = nullptr) {
    image_array a;
    if (!find_array(to, &a)) return hipMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, stream);
    if (!array_holds(a, x, y, width, height)) return hipErrorInvalidValue;
    return hipMemcpy2DAsync(array_place(a, x, y), a.row(), from, pitch, width, height, kind, stream);
}
inline hipError_t memcpy_2d_from_array(void* to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, hipMemcpyKind kind) {
    image_array a;
    if (!find_array(from, &a)) return hipMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind);
    if (!array_holds(a, x, y, width, height)) return hipErrorInvalidValue;
    return hipMemcpy2D(to, pitch, array_place(a, x, y), a.row(), width, height, kind);
}
inline hipError_t memcpy_2d_from_array_async(void* to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width,
                                             size_t height, hipMemcpyKind kind, hipStream_t stream = nullptr) {
    image_array a;
    if (!find_array(from, &a)) return hipMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, stream);
    if (!array_holds(a, x, y, width, height)) return hipErrorInvalidValue;
    return hipMemcpy2DAsync(to, pitch, array_place(a, x, y), a.row(), width, height, kind, stream);
}
// An array's part of a copy becomes that of memory; its positions and the extent count in texels.
inline bool as_memory(hipArray_t& array, hipPitchedPtr& memory, hipPos& at, const hipExtent& extent, size_t* texel) {
    image_array a;
    if (!find_array(array, &a)) return true;
    const size_t ends[] = {at.x + extent.width, at.y + extent.height, at.z + extent.depth};
    if (ends[0] > a.extent.width || ends[1] > a.rows() || ends[2] > a.slices()) return false;
    memory = make_hipPitchedPtr(a.data, a.row(), a.row(), a.rows());
    at.x *= a.texel();
    *texel = a.texel();
    array = nullptr;
    return true;
}
inline hipError_t without_arrays(hipMemcpy3DParms* copy) {
    size_t from = 0, to = 0;
    if (!as_memory(copy->srcArray, copy->srcPtr, copy->srcPos, copy->extent, &from)) return hipErrorInvalidValue;
    if (!as_memory(copy->dstArray, copy->dstPtr, copy->dstPos, copy->extent, &to)) return hipErrorInvalidValue;
    if (from != 0 && to != 0 && from != to) return hipErrorInvalidValue;
    if (from != 0 || to != 0) copy->extent.width *= from != 0 ? from : to;
    return hipSuccess;
}
inline hipError_t memcpy_3d(const hipMemcpy3DParms* asked) {
    if (asked == nullptr) return hipErrorInvalidValue;
    hipMemcpy3DParms copy = *asked;
    const hipError_t status = without_arrays(&copy);
    return status == hipSuccess ? hipMemcpy3D(&copy) : status;
}
inline hipError_t memcpy_3d_async(const hipMemcpy3DParms* asked, hipStream_t stream = nullptr) {
    if (asked == nullptr) return hipErrorInvalidValue;
    hipMemcpy3DParms copy = *asked;
    const hipError_t status = without_arrays(&copy);
    return status == hipSuccess ? hipMemcpy3DAsync(&copy, stream) : status;
}
}  // namespace cass
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#endif
