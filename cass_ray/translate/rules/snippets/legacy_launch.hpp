#ifndef CASS_LEGACY_LAUNCH
#define CASS_LEGACY_LAUNCH
#include <cstring>
#include <map>
#include <vector>
// CUDA 3's way to launch a function of a module: its block, its parameters and its launch each by a
// call of their own. As in CUDA, a function is for one thread at a time.
namespace cass {
struct LegacyLaunch {
    unsigned int x = 1, y = 1, z = 1, shared = 0;
    std::vector<char> parameters;
};
inline LegacyLaunch& legacy_launch(hipFunction_t function) {
    static std::map<hipFunction_t, LegacyLaunch> launches;
    return launches[function];
}
inline hipError_t func_set_block_shape(hipFunction_t function, int x, int y, int z) {
    LegacyLaunch& launch = legacy_launch(function);
    launch.x = x, launch.y = y, launch.z = z;
    return hipSuccess;
}
inline hipError_t func_set_shared_size(hipFunction_t function, unsigned int bytes) {
    legacy_launch(function).shared = bytes;
    return hipSuccess;
}
inline hipError_t param_set_size(hipFunction_t function, unsigned int bytes) {
    legacy_launch(function).parameters.resize(bytes);
    return hipSuccess;
}
inline hipError_t param_setv(hipFunction_t function, int offset, const void* value, unsigned int bytes) {
    std::vector<char>& parameters = legacy_launch(function).parameters;
    if (offset < 0) return hipErrorInvalidValue;
    if (parameters.size() < offset + bytes) parameters.resize(offset + bytes);
    std::memcpy(parameters.data() + offset, value, bytes);
    return hipSuccess;
}
inline hipError_t param_seti(hipFunction_t function, int offset, unsigned int value) {
    return param_setv(function, offset, &value, sizeof value);
}
inline hipError_t param_setf(hipFunction_t function, int offset, float value) {
    return param_setv(function, offset, &value, sizeof value);
}
inline hipError_t launch_grid_async(hipFunction_t function, int width, int height, hipStream_t stream) {
    LegacyLaunch& launch = legacy_launch(function);
    size_t bytes = launch.parameters.size();
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, launch.parameters.data(),
                     HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
    return hipModuleLaunchKernel(function, width, height, 1, launch.x, launch.y, launch.z,
                                 launch.shared, stream, nullptr, extra);
}
inline hipError_t launch_grid(hipFunction_t function, int width, int height) {
    return launch_grid_async(function, width, height, nullptr);
}
inline hipError_t launch_once(hipFunction_t function) { return launch_grid(function, 1, 1); }
}  // namespace cass
#endif
