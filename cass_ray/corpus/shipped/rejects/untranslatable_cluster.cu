// SPDX-License-Identifier: MIT
// Histogram spread over the distributed shared memory of a thread block cluster (sm_90): AMD
// hardware has neither clusters nor access to the shared memory of another block.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cstdio>

namespace cg = cooperative_groups;

constexpr int kBins = 64;

__global__ void __cluster_dims__(2, 1, 1) clusterHistogram(const unsigned char* data, int n, int* bins)
{
    __shared__ int local[kBins / 2];
    const cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < kBins / 2; i += blockDim.x)
        local[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int bin = data[i] / 4;
        int* remote = cluster.map_shared_rank(local, bin / (kBins / 2));
        atomicAdd(&remote[bin % (kBins / 2)], 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < kBins / 2; i += blockDim.x)
        atomicAdd(&bins[cluster.block_rank() * (kBins / 2) + i], local[i]);
}

int main()
{
    unsigned char* data;
    int *bins, host[kBins];
    cudaMalloc(&data, 4096);
    cudaMalloc(&bins, sizeof host);
    cudaMemset(data, 17, 4096);
    cudaMemset(bins, 0, sizeof host);
    clusterHistogram<<<4, 128>>>(data, 4096, bins);
    cudaMemcpy(host, bins, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d\n", host[4]);
    return host[4] == 4096 ? 0 : 1;
}
