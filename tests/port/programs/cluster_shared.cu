// Shared memory of a cluster's blocks: sums, halos, a histogram in parts. Each line that is printed
// is worked out on the host, too; the program says where the two differ.
#include <cooperative_groups.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

constexpr int threads = 64;
constexpr int blocks = 8;

#define CHECK(call)                                                                \
  do {                                                                             \
    const cudaError_t result = (call);                                             \
    if (result != cudaSuccess) {                                                   \
      std::printf("%s: %s\n", #call, cudaGetErrorString(result));                  \
      return 1;                                                                    \
    }                                                                              \
  } while (false)

// Each block adds up its own numbers; rank 0 adds up what the blocks of its cluster have.
__global__ void __cluster_dims__(4, 1, 1) sums(const int *in, int *out) {
  __shared__ int parts[threads];
  cg::cluster_group cluster = cg::this_cluster();
  parts[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) parts[threadIdx.x] += parts[threadIdx.x + step];
    __syncthreads();
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
      sum += *cluster.map_shared_rank(&parts[0], rank);
    }
    out[blockIdx.x / 4] = sum;
  }
  cluster.sync();  // nobody may end while its shared memory is read
}

// A stencil whose neighbours at the ends of a block are in other blocks: three steps.
__global__ void __cluster_dims__(2, 1, 1) stencil(const int *in, int *out) {
  __shared__ int cells[2][threads];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), own = threadIdx.x;
  cells[0][own] = in[blockIdx.x * threads + own];
  cluster.sync();
  for (int step = 0; step < 3; ++step) {
    int *const from = cells[step % 2];
    const int *const other = cluster.map_shared_rank(from, rank ^ 1);
    const int left = own > 0 ? from[own - 1] : rank == 1 ? other[threads - 1] : 0;
    const int right = own < threads - 1 ? from[own + 1] : rank == 0 ? other[0] : 0;
    cells[1 - step % 2][own] = left + 2 * from[own] + right;
    cluster.sync();
  }
  out[blockIdx.x * threads + own] = cells[1][own];
}

// Bins are spread over the blocks of the cluster (CUDA programming guide, "Distributed Shared
// Memory"); the size of clusters and of bins is the launch's.
__global__ void histogram(const int *in, int *out, int bins_of_block) {
  extern __shared__ int bins[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int bin = threadIdx.x; bin < bins_of_block; bin += blockDim.x) bins[bin] = 0;
  cluster.sync();
  const int bin = in[blockIdx.x * blockDim.x + threadIdx.x];
  int *const there = cluster.map_shared_rank(bins, bin / bins_of_block);
  atomicAdd(there + bin % bins_of_block, 1);
  cluster.sync();
  int *const own = out + cluster.block_rank() * bins_of_block;
  for (int bin = threadIdx.x; bin < bins_of_block; bin += blockDim.x) atomicAdd(own + bin, bins[bin]);
}

// Who and where a thread is, in blocks and clusters of three axes.
__global__ void __cluster_dims__(2, 2, 2) places(int *out) {
  __shared__ unsigned given[128];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const dim3 at = cluster.block_index();
  given[thread] = threadIdx.x + 16 * threadIdx.y + 256 * threadIdx.z;
  const bool mapped = cluster.query_shared_rank(cluster.map_shared_rank(given, 5)) == 5;
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  out[block * 128 + thread] = cluster.map_shared_rank(given, next)[127 - thread] +
                              10000 * cluster.block_rank() + 100000 * (at.x + 2 * at.y + 4 * at.z) +
                              1000000 * (cluster.num_threads() == 1024) + 2000000 * mapped +
                              4000000 * (cluster.thread_rank() == cluster.block_rank() * 128 + thread);
  cluster.sync();
}

int main() {
  std::vector<int> in(blocks * threads), found(blocks * threads);
  for (int n = 0; n < blocks * threads; ++n) in[n] = n * 37 % 101;
  int *from, *to;
  CHECK(cudaMalloc(&from, in.size() * sizeof(int)));
  CHECK(cudaMalloc(&to, 16 * 128 * sizeof(int)));
  CHECK(cudaMemcpy(from, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice));

  sums<<<blocks, threads>>>(from, to);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(found.data(), to, 2 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int cluster = 0; cluster < 2; ++cluster) {
    int wanted = 0;
    for (int n = 0; n < 4 * threads; ++n) wanted += in[cluster * 4 * threads + n];
    std::printf("sum %d: %d%s\n", cluster, found[cluster], found[cluster] == wanted ? "" : " WRONG");
  }

  stencil<<<blocks, threads>>>(from, to);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(found.data(), to, found.size() * sizeof(int), cudaMemcpyDeviceToHost));
  long long total = 0;
  int wrong = 0;
  for (int cluster = 0; cluster < blocks / 2; ++cluster) {
    std::vector<int> now(in.begin() + cluster * 2 * threads, in.begin() + (cluster + 1) * 2 * threads);
    for (int step = 0; step < 3; ++step) {
      std::vector<int> then(now.size());
      for (int n = 0; n < 2 * threads; ++n) {
        then[n] = (n > 0 ? now[n - 1] : 0) + 2 * now[n] + (n + 1 < 2 * threads ? now[n + 1] : 0);
      }
      now = then;
    }
    for (int n = 0; n < 2 * threads; ++n) {
      wrong += found[cluster * 2 * threads + n] != now[n];
      total += found[cluster * 2 * threads + n];
    }
  }
  std::printf("stencil: %lld, %d wrong\n", total, wrong);

  for (const int size : {1, 2, 4, 8}) {
    const int bins_of_block = (101 + size - 1) / size;
    CHECK(cudaMemset(to, 0, 1024 * sizeof(int)));
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {(unsigned)size, 1, 1};
    cudaLaunchConfig_t launch{};
    launch.gridDim = blocks;
    launch.blockDim = threads;
    launch.dynamicSmemBytes = bins_of_block * sizeof(int);
    launch.attrs = &attribute;
    launch.numAttrs = 1;
    int most = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&most, histogram, &launch));
    CHECK(cudaLaunchKernelEx(&launch, histogram, (const int *)from, to, bins_of_block));
    CHECK(cudaMemcpy(found.data(), to, found.size() * sizeof(int), cudaMemcpyDeviceToHost));
    int sum = 0, weighted = 0, differing = 0;
    for (int bin = 0; bin < 101; ++bin) {
      int wanted = 0;
      for (const int each : in) wanted += each == bin;
      differing += found[bin] != wanted;
      sum += found[bin];
      weighted += bin * found[bin];
    }
    std::printf("histogram, clusters of %d: %d numbers, sum %d, %d wrong, fits %d\n", size, sum,
                weighted, differing, most > 0);
  }

  places<<<dim3(2, 4, 2), dim3(16, 4, 2)>>>(to);
  CHECK(cudaGetLastError());
  found.resize(16 * 128);
  CHECK(cudaMemcpy(found.data(), to, found.size() * sizeof(int), cudaMemcpyDeviceToHost));
  wrong = 0;
  for (int block = 0; block < 16; ++block) {
    const int rank = block % 2 + 2 * (block / 2 % 2) + 4 * (block / 8);
    for (int thread = 0; thread < 128; ++thread) {
      const int other = 127 - thread;
      const int wanted = other % 16 + 16 * (other / 16 % 4) + 256 * (other / 64) + 110000 * rank + 7000000;
      wrong += found[block * 128 + thread] != wanted;
    }
  }
  std::printf("places: %d wrong\n", wrong);
}
