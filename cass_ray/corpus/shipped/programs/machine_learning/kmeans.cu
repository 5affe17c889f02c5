// SPDX-License-Identifier: MIT
// Lloyd's k-means on integer features. Assignment and centroid sums are exact integers, summed
// with shared and global atomics, so that clusters do not depend on the order of threads.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define KM_CHECK(call)                                                          \
    do {                                                                        \
        cudaError_t rc = (call);                                                \
        if (rc != cudaSuccess) {                                                \
            fprintf(stderr, "kmeans: %s: %s\n", #call, cudaGetErrorString(rc)); \
            exit(2);                                                            \
        }                                                                       \
    } while (0)

constexpr int kClusters = 6;
constexpr int kDims = 3;

struct Point {
    int v[kDims];
};

__constant__ Point centroid[kClusters];

__host__ __device__ inline int nearest(const Point& p, const Point* c)
{
    int best = 0, bestDistance = 0x7fffffff;
    for (int k = 0; k < kClusters; ++k) {
        int distance = 0;
        for (int d = 0; d < kDims; ++d)
            distance += (p.v[d] - c[k].v[d]) * (p.v[d] - c[k].v[d]);
        if (distance < bestDistance) {
            bestDistance = distance;
            best = k;
        }
    }
    return best;
}

__global__ void assign(const Point* points, int n, int* label, int* sums, int* sizes, int* moved)
{
    __shared__ int localSum[kClusters * kDims];
    __shared__ int localSize[kClusters];
    for (int i = threadIdx.x; i < kClusters * kDims; i += blockDim.x)
        localSum[i] = 0;
    if (threadIdx.x < kClusters)
        localSize[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int changed = 0;
    if (i < n) {
        const Point p = points[i];
        const int k = nearest(p, centroid);
        changed = label[i] != k;
        label[i] = k;
        atomicAdd(&localSize[k], 1);
        for (int d = 0; d < kDims; ++d)
            atomicAdd(&localSum[k * kDims + d], p.v[d]);
    }
    if (__syncthreads_or(changed) && changed)
        atomicAdd(moved, 1);
    for (int s = threadIdx.x; s < kClusters * kDims; s += blockDim.x)
        atomicAdd(&sums[s], localSum[s]);
    if (threadIdx.x < kClusters)
        atomicAdd(&sizes[threadIdx.x], localSize[threadIdx.x]);
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 5000;
    const int maxRounds = argc > 2 ? atoi(argv[2]) : 10;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 3u;
    if (n < kClusters || n > 400000 || maxRounds < 1)
        return 2;
    std::vector<Point> points(n);
    for (int i = 0; i < n; ++i)
        for (int d = 0; d < kDims; ++d) {
            seed = seed * 1103515245u + 12345u;
            points[i].v[d] = 700 * (int)((i * 7 + d * d) % kClusters) + (int)(seed >> 16) % 900;
        }
    Point centre[kClusters], hostCentre[kClusters];
    for (int k = 0; k < kClusters; ++k)
        hostCentre[k] = centre[k] = points[(size_t)k * n / kClusters];

    struct Totals {
        int sums[kClusters * kDims], sizes[kClusters], moved;
    } totals;
    Point* dPoints;
    int* dLabel;
    Totals* dTotals;
    KM_CHECK(cudaMalloc(&dPoints, n * sizeof(Point)));
    KM_CHECK(cudaMalloc(&dLabel, n * sizeof(int)));
    KM_CHECK(cudaMalloc(&dTotals, sizeof(Totals)));
    KM_CHECK(cudaMemset(dLabel, 0xff, n * sizeof(int)));
    KM_CHECK(cudaMemcpy(dPoints, points.data(), n * sizeof(Point), cudaMemcpyHostToDevice));
    int rounds = 0;
    do {
        KM_CHECK(cudaMemcpyToSymbol(centroid, centre, sizeof centre));
        KM_CHECK(cudaMemset(dTotals, 0, sizeof(Totals)));
        assign<<<(n + 127) / 128, 128>>>(dPoints, n, dLabel, dTotals->sums, dTotals->sizes, &dTotals->moved);
        KM_CHECK(cudaGetLastError());
        KM_CHECK(cudaMemcpy(&totals, dTotals, sizeof totals, cudaMemcpyDeviceToHost));
        for (int k = 0; k < kClusters; ++k)
            for (int d = 0; d < kDims; ++d)
                if (totals.sizes[k])
                    centre[k].v[d] = totals.sums[k * kDims + d] / totals.sizes[k];
        printf("round %d: %d points changed cluster\n", ++rounds, totals.moved);
    } while (totals.moved > 0 && rounds < maxRounds);
    std::vector<int> label(n), expected(n);
    KM_CHECK(cudaMemcpy(label.data(), dLabel, n * sizeof(int), cudaMemcpyDeviceToHost));

    for (int r = 0; r < rounds; ++r) {
        long long sums[kClusters][kDims] = {};
        int sizes[kClusters] = {};
        for (int i = 0; i < n; ++i) {
            expected[i] = nearest(points[i], hostCentre);
            ++sizes[expected[i]];
            for (int d = 0; d < kDims; ++d)
                sums[expected[i]][d] += points[i].v[d];
        }
        for (int k = 0; k < kClusters; ++k)
            for (int d = 0; d < kDims; ++d)
                if (sizes[k])
                    hostCentre[k].v[d] = (int)(sums[k][d] / sizes[k]);
    }
    bool ok = label == expected;
    for (int k = 0; k < kClusters; ++k) {
        printf("cluster %d: %d points around (%d, %d, %d)\n", k, totals.sizes[k], centre[k].v[0], centre[k].v[1], centre[k].v[2]);
        for (int d = 0; d < kDims; ++d)
            ok = ok && centre[k].v[d] == hostCentre[k].v[d];
    }
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    KM_CHECK(cudaFree(dPoints));
    KM_CHECK(cudaFree(dLabel));
    KM_CHECK(cudaFree(dTotals));
    return ok ? 0 : 1;
}
