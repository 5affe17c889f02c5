#ifndef CASS_NVTX
#define CASS_NVTX
#include <roctracer/roctx.h>
#include <cstdint>
// Ranges and marks of NVTX with attributes: roctx has the message alone, no colours, no payloads.
namespace cass {
struct nvtx_attributes {
    std::uint16_t version, size;
    std::uint32_t category;
    std::int32_t colorType;
    std::uint32_t color;
    std::int32_t payloadType, reserved0;
    union {
        std::uint64_t ullValue;
        std::int64_t llValue;
        double dValue;
        std::uint32_t uiValue;
        std::int32_t iValue;
        float fValue;
    } payload;
    std::int32_t messageType;
    union {
        const char* ascii;
        const wchar_t* unicode;
    } message;
};
inline const char* nvtx_message(const nvtx_attributes* attributes) {
    return attributes->messageType == 1 && attributes->message.ascii ? attributes->message.ascii : "";
}
inline int nvtx_range_push(const nvtx_attributes* attributes) { return roctxRangePushA(nvtx_message(attributes)); }
inline void nvtx_mark(const nvtx_attributes* attributes) { roctxMarkA(nvtx_message(attributes)); }
inline roctx_range_id_t nvtx_range_start(const nvtx_attributes* attributes) {
    return roctxRangeStartA(nvtx_message(attributes));
}
// Names are for the profiler's display alone, and roctx has none.
template <typename... T>
inline void nvtx_name(const T&...) {}
}  // namespace cass
#endif
