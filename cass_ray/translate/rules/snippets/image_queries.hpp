#ifndef CASS_IMAGE_QUERIES
#define CASS_IMAGE_QUERIES
// What arrays and texture objects were made of.
namespace cass {
inline hipError_t array_get_info(hipChannelFormatDesc* format, hipExtent* extent, unsigned int* flags, hipArray_t array) {
    image_array found;
    if (!find_array(array, &found)) return hipArrayGetInfo(format, extent, flags, array);
    if (format != nullptr) *format = found.format;
    if (extent != nullptr) *extent = found.extent;
    if (flags != nullptr) *flags = found.flags;
    return hipSuccess;
}
inline hipError_t get_texture_resource(hipResourceDesc* resource, hipTextureObject_t object) {
    image_object found;
    if (!find_object((const void*)object, &found)) return hipGetTextureObjectResourceDesc(resource, object);
    *resource = found.resource;
    return hipSuccess;
}
inline hipError_t get_texture_desc(hipTextureDesc* texture, hipTextureObject_t object) {
    image_object found;
    if (!find_object((const void*)object, &found)) return hipGetTextureObjectTextureDesc(texture, object);
    *texture = found.texture;
    return hipSuccess;
}
}  // namespace cass
#endif
