// SPDX-License-Identifier: MIT
// Nagel-Schreckenberg traffic on ring roads, one block per road with a different density.
// All cars of a road live in shared memory; random braking uses a counter-based hash.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_ASSERT(x)                                                       \
    do {                                                                     \
        cudaError_t e = (x);                                                 \
        if (cudaSuccess != e) {                                              \
            fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e));          \
            exit(2);                                                         \
        }                                                                    \
    } while (0)

static const int kMaxSpeed = 5;

__host__ __device__ inline bool brakes(unsigned road, unsigned car, unsigned step, unsigned seed)
{
    unsigned h = seed + road * 0x27d4eb2fu + car * 0x165667b1u + step * 0x9e3779b9u;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    h ^= h >> 15;
    return h % 100u < 25u;
}

__host__ __device__ inline int carsOnRoad(int road, int length) { return length * (road + 1) / 20 + 1; }

// Cars keep their cyclic order, so car i always follows car i + 1.
__global__ void drive(int length, int steps, unsigned seed, int* travelled, int* finalPosition, int maxCars)
{
    extern __shared__ int position[];
    __shared__ int flow;
    const int road = blockIdx.x, cars = carsOnRoad(road, length), car = threadIdx.x;
    if (car == 0)
        flow = 0;
    if (car < cars)
        position[car] = (int)((long long)car * length / cars);
    __syncthreads();
    int speed = 0, distance = 0;
    for (int s = 0; s < steps; ++s) {
        int next = 0;
        if (car < cars) {
            const int ahead = position[(car + 1) % cars];
            const int gap = cars == 1 ? length - 1 : (ahead - position[car] + length) % length - 1;
            speed = min(min(speed + 1, kMaxSpeed), gap);
            if (speed > 0 && brakes(road, car, s, seed))
                --speed;
            distance += speed;
            next = (position[car] + speed) % length;
        }
        __syncthreads();
        if (car < cars)
            position[car] = next;
        __syncthreads();
    }
    atomicAdd(&flow, distance);
    __syncthreads();
    if (car < cars)
        finalPosition[road * maxCars + car] = position[car];
    if (car == 0)
        travelled[road] = flow;
}

int main(int argc, char** argv)
{
    const int length = argc > 1 ? atoi(argv[1]) : 160;
    const int steps = argc > 2 ? atoi(argv[2]) : 60;
    const unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 13u;
    const int roads = 10;
    const int maxCars = carsOnRoad(roads - 1, length);
    if (length < 40 || maxCars > 512 || steps < 1) {
        fprintf(stderr, "road length must lie in 40..1000\n");
        return 2;
    }
    int *travelled, *finalPosition;
    CUDA_ASSERT(cudaMalloc(&travelled, roads * sizeof(int)));
    CUDA_ASSERT(cudaMalloc(&finalPosition, roads * maxCars * sizeof(int)));
    const int threads = (maxCars + 31) / 32 * 32;
    drive<<<roads, threads, maxCars * sizeof(int)>>>(length, steps, seed, travelled, finalPosition, maxCars);
    CUDA_ASSERT(cudaGetLastError());
    std::vector<int> flow(roads), last(roads * maxCars);
    CUDA_ASSERT(cudaMemcpy(flow.data(), travelled, roads * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_ASSERT(cudaMemcpy(last.data(), finalPosition, last.size() * sizeof(int), cudaMemcpyDeviceToHost));

    bool ok = true;
    for (int road = 0; road < roads; ++road) {
        const int cars = carsOnRoad(road, length);
        std::vector<int> pos(cars), speed(cars, 0), next(cars);
        int total = 0;
        for (int c = 0; c < cars; ++c)
            pos[c] = (int)((long long)c * length / cars);
        for (int s = 0; s < steps; ++s) {
            for (int c = 0; c < cars; ++c) {
                const int gap = cars == 1 ? length - 1 : (pos[(c + 1) % cars] - pos[c] + length) % length - 1;
                int v = speed[c] + 1 < kMaxSpeed ? speed[c] + 1 : kMaxSpeed;
                v = v < gap ? v : gap;
                if (v > 0 && brakes(road, c, s, seed))
                    --v;
                speed[c] = v;
                total += v;
                next[c] = (pos[c] + v) % length;
            }
            pos.swap(next);
        }
        ok = ok && total == flow[road];
        for (int c = 0; c < cars; ++c)
            ok = ok && pos[c] == last[road * maxCars + c];
        printf("road %d: %3d cars, cells travelled %6d, mean speed %.3f\n", road, cars, flow[road],
               (double)flow[road] / cars / steps);
    }
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    CUDA_ASSERT(cudaFree(travelled));
    CUDA_ASSERT(cudaFree(finalPosition));
    return ok ? 0 : 1;
}
