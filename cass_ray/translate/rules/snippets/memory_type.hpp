#ifndef CASS_MEMORY_TYPE
#define CASS_MEMORY_TYPE
namespace cass {
inline hipMemoryType memory_type(const hipPointerAttribute_t& attributes) {
    return attributes.type == hipMemoryTypeManaged ? hipMemoryTypeDevice : attributes.type;
}
}  // namespace cass
#endif
