#ifndef CASS_IMAGE_MOVES
#define CASS_IMAGE_MOVES
// Copies from one array to another.
namespace cass {
inline hipError_t memcpy_2d_array_to_array(hipArray_t to, size_t to_x, size_t to_y, hipArray_const_t from, size_t from_x,
                                           size_t from_y, size_t width, size_t height,
                                           hipMemcpyKind kind = hipMemcpyDeviceToDevice) {
    image_array a, b;
    if (!find_array(to, &a) || !find_array(from, &b)) {
        return hipMemcpy2DArrayToArray(to, to_x, to_y, from, from_x, from_y, width, height, kind);
    }
    if (!array_holds(a, to_x, to_y, width, height) || !array_holds(b, from_x, from_y, width, height)) return hipErrorInvalidValue;
    return hipMemcpy2D(array_place(a, to_x, to_y), a.row(), array_place(b, from_x, from_y), b.row(), width, height, kind);
}
}  // namespace cass
#endif
