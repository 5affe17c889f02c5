#ifndef CASS_IMAGES
#define CASS_IMAGES
#include <hip/hip_runtime.h>

#include <cstring>
#include <map>
#include <mutex>
// Textures and surfaces in software, for devices that have no image instructions (CDNA 3 and later)
// or whose image units filter neither floats nor layers (gfx90a). An array is linear memory there, an
// object the address of a cass::image in the device's memory. Other devices keep HIP's own. Kernels
// choose by the target that they are compiled for, the host by the current device's name: both lists
// have to stay the same.
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || \
    defined(__gfx950__) || defined(__gfx9_4_generic__)
#define CASS_SOFTWARE_IMAGES 1
#else
#define CASS_SOFTWARE_IMAGES 0
#endif
namespace cass {
struct image {
    unsigned char* data;
    size_t row, slice;  // bytes from one to the next; layers are slices
    int size[3];        // texels along x, y and z; layers are none of these
    int layers;
    int channels, bytes;  // of a texel, and of a channel: 1, 2 or 4
    int kind;             // hipChannelFormatKind
    int as_float;         // integers are read as fractions of their largest value
    int linear;           // filtered
    int normalized;       // coordinates are fractions of the size
    int address[3];       // hipTextureAddressMode
    float border[4];
};
struct image_array {
    unsigned char* data;
    hipChannelFormatDesc format;
    hipExtent extent;  // as it was asked for: no rows and no slices are zeros
    unsigned int flags;
    size_t texel() const { return (format.x + format.y + format.z + format.w) / 8; }
    size_t row() const { return extent.width * texel(); }
    size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
    size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
};
struct image_object {
    hipResourceDesc resource;
    hipTextureDesc texture;
    bool is_surface;
};
// Arrays by the address of their data, which is their handle as well; objects by theirs.
struct image_registry {
    std::mutex lock;
    std::map<const void*, image_array> arrays;
    std::map<const void*, image_object> objects;
};
inline image_registry& image_records() {
    static image_registry* const records = new image_registry;  // alive while other objects end
    return *records;
}
inline bool software_images() {
#if !defined(__HIP_PLATFORM_NVIDIA__)
    int device = 0;
    hipDeviceProp_t properties;
    if (hipGetDevice(&device) != hipSuccess || hipGetDeviceProperties(&properties, device) != hipSuccess) return false;
    for (const char* name : {"gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"}) {
        if (std::strncmp(properties.gcnArchName, name, 6) == 0) return true;
    }
#endif
    return false;
}
#if CASS_SOFTWARE_IMAGES
typedef const image __attribute__((address_space(4))) * constant_image;
template <typename Handle> __device__ inline constant_image image_at(Handle handle) { return (constant_image)handle; }
#endif
inline bool find_array(hipArray_const_t handle, image_array* found) {
    image_registry& records = image_records();
    const std::lock_guard<std::mutex> guard(records.lock);
    const auto place = records.arrays.find(handle);
    if (place == records.arrays.end()) return false;
    *found = place->second;
    return true;
}
}  // namespace cass
#endif
