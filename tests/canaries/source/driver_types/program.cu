// The driver's names of enumerations and handles, spelt without a suffix and with one.
#include <cuda.h>
#include <cstdio>
#include <map>
struct Layout {
    CUarray_format format;
    enum CUaddress_mode_enum wrap = CU_TR_ADDRESS_MODE_WRAP;
    CUfunc_cache cache = CU_FUNC_CACHE_PREFER_SHARED;
};
static size_t bytes_of(CUarray_format format) {
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8: return 1;
        case CU_AD_FORMAT_HALF: return 2;
        default: return 4;
    }
}
int main() {
    Layout layout{CU_AD_FORMAT_HALF};
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
    CUmemorytype place = CU_MEMORYTYPE_DEVICE;
    CUevent_flags flags = CU_EVENT_DISABLE_TIMING;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    std::map<CUmemorytype, const char*> names = {{CU_MEMORYTYPE_HOST, "host"}, {CU_MEMORYTYPE_DEVICE, "device"}};
    printf("%zu %zu %s %d\n", bytes_of(layout.format), bytes_of(CU_AD_FORMAT_FLOAT), names[place],
           static_cast<int>(type));
    printf("%d %d %d %d %d\n", mode == CU_STREAM_CAPTURE_MODE_RELAXED, graph == nullptr && node == nullptr,
           flags == CU_EVENT_DISABLE_TIMING, static_cast<int>(status), layout.cache == CU_FUNC_CACHE_PREFER_SHARED);
}
