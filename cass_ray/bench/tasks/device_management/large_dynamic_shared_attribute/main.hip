// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CALL(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

// Every block reverses rows of its own inside shared memory and leaves prefix xors.
template <typename T, int kStride>
__global__ void reverseRows(const T* in, T* out, int length)
{
    extern __shared__ __align__(16) unsigned char raw[];
    T* row = reinterpret_cast<T*>(raw);
    const size_t base = (size_t)blockIdx.x * length;
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        row[(i * kStride) % length] = in[base + i];
    __syncthreads();
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        out[base + i] = row[length - 1 - i] ^ row[i / 2];
}

template <typename T>
static bool runOne(const void* kernel, const char* name, int rows, int length, int stride, uint32_t seed)
{
    hipFuncAttributes before, after;
    HIP_CALL(hipFuncGetAttributes(&before, kernel));
    const int bytes = length * (int)sizeof(T);
    HIP_CALL(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, bytes));
    HIP_CALL(hipFuncGetAttributes(&after, kernel));
    printf("%s: threads %s, static shared %s, dynamic %s\n", name, before.maxThreadsPerBlock >= 256 ? "ok" : "few",
           after.sharedSizeBytes < 1024 ? "small" : "large", after.maxDynamicSharedSizeBytes >= bytes ? "granted" : "refused");
    std::vector<T> in((size_t)rows * length), out(in.size()), row(length);
    uint64_t s = seed;
    for (T& v : in) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        v = (T)(s >> 20);
    }
    T *di, *dout;
    HIP_CALL(hipMalloc(&di, in.size() * sizeof(T)));
    HIP_CALL(hipMalloc(&dout, in.size() * sizeof(T)));
    HIP_CALL(hipMemcpy(di, in.data(), in.size() * sizeof(T), hipMemcpyHostToDevice));
    void* arguments[] = { &di, &dout, &length };
    HIP_CALL(hipLaunchKernel(kernel, dim3(rows), dim3(256), arguments, (size_t)bytes, 0));
    HIP_CALL(hipDeviceSynchronize());
    HIP_CALL(hipMemcpy(out.data(), dout, in.size() * sizeof(T), hipMemcpyDeviceToHost));
    uint64_t fold = 0;
    int wrong = 0;
    for (int r = 0; r < rows; ++r) {
        for (int i = 0; i < length; ++i) row[(i * stride) % length] = in[(size_t)r * length + i];
        for (int i = 0; i < length; ++i) {
            const T v = out[(size_t)r * length + i];
            wrong += v != (T)(row[length - 1 - i] ^ row[i / 2]);
            fold = (fold << 7 | fold >> 57) + (uint64_t)v;
        }
    }
    printf("  %d rows of %d: fold %016llx wrong %d\n", rows, length, (unsigned long long)fold, wrong);
    HIP_CALL(hipFree(di));
    HIP_CALL(hipFree(dout));
    return wrong == 0;
}

int main(int argc, char** argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 20;
    const uint32_t seed = argc > 2 ? (uint32_t)atoi(argv[2]) : 6u;
    if (rows < 1) return 1;
    // Lengths are prime to the strides, so that every slot of a row is written once.
    const void* kernels[3] = { (const void*)reverseRows<uint16_t, 3>, (const void*)reverseRows<uint32_t, 5>,
                               (const void*)reverseRows<unsigned long long, 7> };
    bool ok = runOne<uint16_t>(kernels[0], "16-bit", rows, 28001, 3, seed);
    ok = runOne<uint32_t>(kernels[1], "32-bit", rows, 14999, 5, seed) && ok;
    ok = runOne<unsigned long long>(kernels[2], "64-bit", rows, 7999, 7, seed) && ok;
    printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
