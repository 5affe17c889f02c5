// SPDX-License-Identifier: MIT
// Bounded ring buffer filled in rounds: producers reserve slots for a whole warp with one
// ticket, the consumers of the next launch drain them, and a device-side report prints totals.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_RT(call)                                                       \
    do {                                                                     \
        cudaError_t e = (call);                                              \
        if (e != cudaSuccess) {                                              \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));       \
            exit(2);                                                         \
        }                                                                    \
    } while (0)

constexpr unsigned kCapacity = 1024;  // power of two

struct Ring {
    unsigned long long head, tail;  // tickets handed out for reading and writing
    unsigned rejected;
    int slots[kCapacity];
};

__device__ Ring ring;

// Items are the multiples of the step that pass the filter; a full ring rejects the item.
__global__ void produce(int first, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int item = first + i;
    const bool wants = i < count && item % 3 != 1;
    const unsigned votes = __ballot_sync(0xffffffffu, wants);
    const int lane = threadIdx.x % 32;
    unsigned long long ticket = 0;
    if (lane == 0 && votes)
        ticket = atomicAdd(&ring.tail, (unsigned long long)__popc(votes));
    ticket = __shfl_sync(0xffffffffu, ticket, 0) + __popc(votes & ((1u << lane) - 1u));
    if (!wants)
        return;
    if (ticket - ring.head < kCapacity)  // head does not move during this launch
        ring.slots[ticket % kCapacity] = item;
    else
        atomicAdd(&ring.rejected, 1u);
}

__global__ void clampTail()
{
    if (ring.tail - ring.head > kCapacity)
        ring.tail = ring.head + kCapacity;
}

__global__ void consume(unsigned limit, unsigned* invalid, unsigned* drained)
{
    const unsigned long long end = ring.tail;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long available = end - ring.head;
    const unsigned take = available < limit ? (unsigned)available : limit;
    if (i < take) {
        if (ring.slots[(ring.head + i) % kCapacity] % 3 == 1)
            atomicAdd(invalid, 1u);
        atomicAdd(drained, 1u);
    }
}

__global__ void moveHead(unsigned limit)
{
    const unsigned long long available = ring.tail - ring.head;
    ring.head += available < limit ? available : limit;
}

__global__ void report(const unsigned* drained)
{
    printf("device: drained %u, waiting %u, rejected %u\n", *drained, (unsigned)(ring.tail - ring.head), ring.rejected);
}

int main(int argc, char** argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 6;
    const int batch = argc > 2 ? atoi(argv[2]) : 900;
    const unsigned limit = 512;
    if (rounds < 1 || batch < 1)
        return 2;
    Ring* image = (Ring*)calloc(1, sizeof(Ring));
    CHECK_RT(cudaMemcpyToSymbol(ring, image, sizeof(Ring)));
    unsigned *invalid, *drained;
    CHECK_RT(cudaMalloc(&invalid, sizeof *invalid));
    CHECK_RT(cudaMalloc(&drained, sizeof *drained));
    CHECK_RT(cudaMemset(invalid, 0, sizeof *invalid));
    CHECK_RT(cudaMemset(drained, 0, sizeof *drained));
    for (int r = 0; r < rounds; ++r) {
        produce<<<(batch + 127) / 128, 128>>>(r * batch, batch);
        clampTail<<<1, 1>>>();
        consume<<<(limit + 127) / 128, 128>>>(limit, invalid, drained);
        moveHead<<<1, 1>>>(limit);
    }
    fflush(stdout);
    report<<<1, 1>>>(drained);
    CHECK_RT(cudaGetLastError());
    CHECK_RT(cudaDeviceSynchronize());
    unsigned count = 0, bad = 0;
    CHECK_RT(cudaMemcpy(&bad, invalid, sizeof bad, cudaMemcpyDeviceToHost));
    CHECK_RT(cudaMemcpy(&count, drained, sizeof count, cudaMemcpyDeviceToHost));
    CHECK_RT(cudaMemcpyFromSymbol(image, ring, sizeof(Ring)));

    // Which items a full ring rejects depends on the schedule, the counts do not.
    long long waiting = 0, expectedCount = 0, rejected = 0;
    for (int r = 0; r < rounds; ++r) {
        for (int i = 0; i < batch; ++i)
            waiting += (r * batch + i) % 3 != 1;
        if (waiting > (long long)kCapacity) {
            rejected += waiting - kCapacity;
            waiting = kCapacity;
        }
        const long long take = std::min<long long>(waiting, limit);
        waiting -= take;
        expectedCount += take;
    }
    const bool ok = bad == 0 && count == expectedCount && image->rejected == rejected &&
                    (long long)(image->tail - image->head) == waiting;
    printf("host:   drained %u, waiting %lld, rejected %u\n", count, waiting, image->rejected);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    free(image);
    CHECK_RT(cudaFree(invalid));
    CHECK_RT(cudaFree(drained));
    return ok ? 0 : 1;
}
