#ifndef CASS_IMAGE_OBJECTS
#define CASS_IMAGE_OBJECTS
// Texture and surface objects. What software does not do as Nvidia's hardware does is refused:
// hipErrorNotSupported.
namespace cass {
// What `resource` holds, unfiltered.
inline hipError_t image_of(const hipResourceDesc& resource, image* made) {
    std::memset(made, 0, sizeof *made);
    hipChannelFormatDesc format;
    made->size[1] = made->size[2] = made->layers = 1;
    if (resource.resType == hipResourceTypeArray) {
        image_array a;
        if (!find_array(resource.res.array.array, &a)) return hipErrorInvalidValue;
        const bool is_layered = (a.flags & hipArrayLayered) != 0;
        format = a.format;
        made->data = a.data;
        made->row = a.row();
        made->slice = a.row() * a.rows();
        made->size[0] = static_cast<int>(a.extent.width);
        made->size[1] = static_cast<int>(a.rows());
        (is_layered ? made->layers : made->size[2]) = static_cast<int>(a.slices());
    } else if (resource.resType == hipResourceTypeLinear) {
        const auto& linear = resource.res.linear;
        format = linear.desc;
        if (linear.devPtr == nullptr || format_channels(format) == 0) return hipErrorInvalidValue;
        made->data = static_cast<unsigned char*>(linear.devPtr);
        made->size[0] = static_cast<int>(linear.sizeInBytes / (format_channels(format) * format.x / 8));
        made->row = linear.sizeInBytes;
    } else if (resource.resType == hipResourceTypePitch2D) {
        const auto& pitched = resource.res.pitch2D;
        format = pitched.desc;
        if (pitched.devPtr == nullptr || format_channels(format) == 0) return hipErrorInvalidValue;
        const size_t texel = format_channels(format) * format.x / 8;
        if (pitched.pitchInBytes % texel != 0 || pitched.pitchInBytes < pitched.width * texel) return hipErrorInvalidValue;
        made->data = static_cast<unsigned char*>(pitched.devPtr);
        made->row = pitched.pitchInBytes;
        made->size[0] = static_cast<int>(pitched.width);
        made->size[1] = static_cast<int>(pitched.height);
    } else {
        return hipErrorNotSupported;  // mipmaps
    }
    made->channels = format_channels(format);
    made->bytes = format.x / 8;
    made->kind = format.f;
    const bool is_aligned = reinterpret_cast<size_t>(made->data) % (made->channels * made->bytes) == 0;
    return made->size[0] > 0 && made->size[1] > 0 && is_aligned ? hipSuccess : hipErrorInvalidValue;
}
// How `texture` says that it is read. A border color is that of a float's, or none.
inline hipError_t set_sampling(const hipTextureDesc& texture, const hipResourceViewDesc* view, image* made) {
    const bool is_float = made->kind == hipChannelFormatKindFloat;
    const bool has_view = view != nullptr && view->format != 0;
    if (texture.sRGB != 0 || has_view) return hipErrorNotSupported;
    made->as_float = !is_float && made->bytes < 4 && texture.readMode == hipReadModeNormalizedFloat;
    made->linear = texture.filterMode == hipFilterModeLinear;
    if (made->linear && !is_float && !made->as_float) return hipErrorInvalidValue;  // nothing lies between integers
    made->normalized = texture.normalizedCoords != 0;
    for (int axis = 0; axis < 3; ++axis) {
        const hipTextureAddressMode mode = texture.addressMode[axis];
        const bool repeats = mode == hipAddressModeWrap || mode == hipAddressModeMirror;
        made->address[axis] = repeats && !made->normalized ? hipAddressModeClamp : mode;
    }
    for (int channel = 0; channel < 4; ++channel) {
        made->border[channel] = texture.borderColor[channel];
        if (made->border[channel] != 0 && !is_float) return hipErrorNotSupported;
    }
    return hipSuccess;
}
inline hipError_t publish_image(const image& made, const image_object& object, void** handle) {
    void* place = nullptr;
    hipError_t status = hipMalloc(&place, sizeof made);
    if (status == hipSuccess) status = hipMemcpy(place, &made, sizeof made, hipMemcpyHostToDevice);
    if (status != hipSuccess) return status;
    *handle = place;
    image_registry& records = image_records();
    const std::lock_guard<std::mutex> guard(records.lock);
    records.objects[place] = object;
    return hipSuccess;
}
inline bool find_object(const void* handle, image_object* found) {
    image_registry& records = image_records();
    const std::lock_guard<std::mutex> guard(records.lock);
    const auto place = records.objects.find(handle);
    if (place == records.objects.end()) return false;
    *found = place->second;
    return true;
}
inline hipError_t forget_object(void* handle) {
    {
        image_registry& records = image_records();
        const std::lock_guard<std::mutex> guard(records.lock);
        records.objects.erase(handle);
    }
    return hipFree(handle);
}
inline hipError_t create_texture_object(hipTextureObject_t* object, const hipResourceDesc* resource,
                                        const hipTextureDesc* texture, const hipResourceViewDesc* view = nullptr) {
    if (!software_images()) return hipCreateTextureObject(object, resource, texture, view);
    if (object == nullptr || resource == nullptr || texture == nullptr) return hipErrorInvalidValue;
    image made;
    hipError_t status = image_of(*resource, &made);
    if (status == hipSuccess) status = set_sampling(*texture, view, &made);
    void* handle = nullptr;
    if (status == hipSuccess) status = publish_image(made, {*resource, *texture, false}, &handle);
    if (status == hipSuccess) *object = (hipTextureObject_t)handle;
    return status;
}
inline hipError_t create_surface_object(hipSurfaceObject_t* object, const hipResourceDesc* resource) {
    if (!software_images()) return hipCreateSurfaceObject(object, resource);
    if (object == nullptr || resource == nullptr || resource->resType != hipResourceTypeArray) return hipErrorInvalidValue;
    image made;
    hipError_t status = image_of(*resource, &made);
    void* handle = nullptr;
    if (status == hipSuccess) status = publish_image(made, {*resource, hipTextureDesc(), true}, &handle);
    if (status == hipSuccess) *object = (hipSurfaceObject_t)handle;
    return status;
}
inline hipError_t destroy_texture_object(hipTextureObject_t object) {
    image_object found;
    return find_object((const void*)object, &found) ? forget_object((void*)object) : hipDestroyTextureObject(object);
}
inline hipError_t destroy_surface_object(hipSurfaceObject_t object) {
    image_object found;
    return find_object((const void*)object, &found) ? forget_object((void*)object) : hipDestroySurfaceObject(object);
}
}  // namespace cass
#endif
