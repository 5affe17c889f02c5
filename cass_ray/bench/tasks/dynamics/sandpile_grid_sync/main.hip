// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Abelian sandpile toppled to rest in one cooperative launch that synchronises the whole grid
// after each sweep.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void stopOnError(hipError_t status, const char* what, int line)
{
    if (status == hipSuccess)
        return;
    fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(status));
    exit(2);
}
#define GPU_OK(call) stopOnError((call), #call, __LINE__)

struct Random {
    unsigned x;
    explicit Random(unsigned seed) : x(seed ^ 0x9e3779b9u)
    {
        if (x == 0)
            x = 1;
    }
    unsigned next()
    {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        return x * 0x2545f491u;
    }
    unsigned below(unsigned bound) { return (next() >> 4) % bound; }
};

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* upload(const std::vector<T>& values)
{
    T* memory = nullptr;
    GPU_OK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    GPU_OK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* deviceZeros(size_t count)
{
    T* memory = nullptr;
    GPU_OK(hipMalloc(&memory, count * sizeof(T)));
    GPU_OK(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> download(const T* memory, size_t count)
{
    std::vector<T> values(count);
    GPU_OK(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

// FNV-1a over the bytes of all values.
template <typename T>
static unsigned fingerprint(const std::vector<T>& values)
{
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(values.data());
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < values.size() * sizeof(T); ++i)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

static int finish(bool right)
{
    GPU_OK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

namespace cg = cooperative_groups;

__global__ void topple(int* grains, int* incoming, int width, int height, int* unstable, int* sweeps,
                       int* topplings)
{
    const cg::grid_group grid = cg::this_grid();
    const int cells = width * height;
    int mine = 0, sweep = 0;
    for (;; ++sweep) {
        // unstable has three slots: the one in use, the one before, and the one being cleared.
        for (int i = (int)grid.thread_rank(); i < cells; i += (int)grid.size()) {
            const int fall = grains[i] / 4;
            if (fall == 0)
                continue;
            const int x = i % width, y = i / width;
            grains[i] -= 4 * fall;
            mine += fall;
            if (x > 0)
                atomicAdd(&incoming[i - 1], fall);
            if (x + 1 < width)
                atomicAdd(&incoming[i + 1], fall);
            if (y > 0)
                atomicAdd(&incoming[i - width], fall);
            if (y + 1 < height)
                atomicAdd(&incoming[i + width], fall);
        }
        grid.sync();
        int restless = 0;
        for (int i = (int)grid.thread_rank(); i < cells; i += (int)grid.size()) {
            grains[i] += incoming[i];
            incoming[i] = 0;
            restless |= grains[i] >= 4;
        }
        if (__syncthreads_or(restless) && threadIdx.x == 0)
            atomicAdd(&unstable[sweep % 3], 1);
        if (grid.thread_rank() == 0)
            unstable[(sweep + 1) % 3] = 0;
        grid.sync();
        if (((volatile int*)unstable)[sweep % 3] == 0)
            break;
    }
    atomicAdd(topplings, mine);
    if (grid.thread_rank() == 0)
        *sweeps = sweep + 1;
}

int main(int argc, char** argv)
{
    int width = argument(argc, argv, 1, 14);
    int height = argument(argc, argv, 2, 12);
    const int pile = argument(argc, argv, 3, 80);
    Random random((unsigned)argument(argc, argv, 4, 1));
    if (width < 2 || height < 2 || pile < 0)
        return 2;
    int supported = 0;
    GPU_OK(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
    if (!supported) {
        fprintf(stderr, "no cooperative launches on this device\n");
        return 3;
    }
    std::vector<int> grains(width * height);
    for (int& g : grains)
        g = (int)random.below(5);
    for (int k = 0; k < 3; ++k)
        grains[random.below(width * height)] += pile;
    int* dGrains = upload(grains);
    int* dIncoming = deviceZeros<int>(width * height);
    int* dUnstable = deviceZeros<int>(3);
    int* dSweeps = deviceZeros<int>(1);
    int* dTopplings = deviceZeros<int>(1);
    void* parameters[] = {&dGrains, &dIncoming, &width, &height, &dUnstable, &dSweeps, &dTopplings};
    GPU_OK(hipLaunchCooperativeKernel((void*)topple, dim3(2), dim3(64), parameters, 0, 0));
    GPU_OK(hipDeviceSynchronize());
    const std::vector<int> rest = download(dGrains, width * height);
    int expectedTopplings = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < width * height; ++i) {
            const int fall = grains[i] / 4;
            if (fall == 0)
                continue;
            changed = true;
            expectedTopplings += fall;
            grains[i] -= 4 * fall;
            if (i % width > 0)
                grains[i - 1] += fall;
            if (i % width + 1 < width)
                grains[i + 1] += fall;
            if (i >= width)
                grains[i - width] += fall;
            if (i + width < width * height)
                grains[i + width] += fall;
        }
    }
    int heights[4] = {}, sum = 0;
    for (int g : rest) {
        ++heights[g & 3];
        sum += g;
    }
    const int topplings = download(dTopplings, 1)[0];
    printf("%d x %d: topplings %d in %d sweeps\n", width, height, topplings, download(dSweeps, 1)[0]);
    printf("heights %d %d %d %d, sum %d, digest %08x\n", heights[0], heights[1], heights[2], heights[3], sum,
           fingerprint(rest));
    return finish(rest == grains && topplings == expectedTopplings);
}
