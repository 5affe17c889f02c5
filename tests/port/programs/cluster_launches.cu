// Launches of clusters: what is asked about them, and what is refused. `own` is compiled for
// clusters of two, `chosen` takes what a launch asks for, `plain` cannot tell clusters from blocks.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "expect.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) own(int *out, char tag) {
  __shared__ int word;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) word = 10 * blockIdx.x + tag;
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = *cluster.map_shared_rank(&word, cluster.block_rank() ^ 1);
  cluster.sync();
}

__global__ void chosen(int *out, int count) {
  extern __shared__ int words[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int n = threadIdx.x; n < count; n += blockDim.x) words[n] = cluster.block_rank() + 1;
  cluster.sync();
  int sum = 0;
  for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
    sum += cluster.map_shared_rank(words, rank)[count - 1];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = 100 * cluster.num_blocks() + sum;
  cluster.sync();
}

__global__ void plain(int *out) {
  __shared__ int words[64];
  words[threadIdx.x] = threadIdx.x + blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = words[63];
}

int *out;

bool is_found(int count, int (*wanted)(int)) {
  int found[16];
  GOOD(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
  GOOD(cudaMemset(out, 0, sizeof found));
  for (int n = 0; n < count; ++n) {
    if (found[n] != wanted(n)) return false;
  }
  return true;
}

int other(int block) { return 10 * (block ^ 1) + 3; }
int of_four(int) { return 400 + 1 + 2 + 3 + 4; }
int of_one(int) { return 101; }
int last(int block) { return 63 + block; }

int main() {
  GOOD(cudaMalloc(&out, 16 * sizeof(int)));
  GOOD(cudaMemset(out, 0, 16 * sizeof(int)));
  int has_clusters = 0;
  GOOD(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0));
  EXPECT(has_clusters == 1);
  cudaFuncAttributes known;
  GOOD(cudaFuncGetAttributes(&known, own));
  EXPECT(known.clusterDimMustBeSet && known.requiredClusterWidth == 2);
  EXPECT(known.requiredClusterHeight == 1 && known.requiredClusterDepth == 1);

  own<<<4, 64>>>(out, 3);
  EXPECT(is_found(4, other));

  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t launch{};
  launch.gridDim = 8;
  launch.blockDim = 64;
  launch.attrs = &attribute;
  launch.numAttrs = 1;
  const int count = 100;
  launch.dynamicSmemBytes = count * sizeof(int);
  GOOD(cudaLaunchKernelEx(&launch, chosen, out, count));
  EXPECT(is_found(8, of_four));
  chosen<<<8, 64, count * sizeof(int)>>>(out, count);
  EXPECT(is_found(8, of_one));
  launch.dynamicSmemBytes = 0;
  GOOD(cudaLaunchKernelEx(&launch, plain, out));
  EXPECT(is_found(8, last));

  // The grid is no multiple, or the kernel was compiled for other clusters.
  launch.gridDim = 6;
  launch.dynamicSmemBytes = count * sizeof(int);
  EXPECT(cudaLaunchKernelEx(&launch, chosen, out, count) != cudaSuccess);
  launch.gridDim = 8;
  EXPECT(cudaLaunchKernelEx(&launch, own, out, (char)3) != cudaSuccess);
  EXPECT(cudaGetLastError() != cudaSuccess);

  // Of blocks of 512 threads AMD's workgroups have two, of 40,000 bytes one.
  int most = 0, clusters = 1;
  launch.blockDim = 512;
  GOOD(cudaOccupancyMaxPotentialClusterSize(&most, chosen, &launch));
  EXPECT(most == 2);
  GOOD(cudaOccupancyMaxActiveClusters(&clusters, chosen, &launch));
  EXPECT(clusters == 0);
  EXPECT(cudaLaunchKernelEx(&launch, chosen, out, count) == cudaErrorNotSupported);
  launch.blockDim = 64;
  GOOD(cudaOccupancyMaxActiveClusters(&clusters, chosen, &launch));
  EXPECT(clusters > 0);
  launch.dynamicSmemBytes = 40000;
  GOOD(cudaOccupancyMaxPotentialClusterSize(&most, chosen, &launch));
  EXPECT(most == 1);
  EXPECT(cudaLaunchKernelEx(&launch, chosen, out, count) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);

  // Captured, and by the kernel's attribute instead of the launch's.
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  GOOD(cudaStreamCreate(&stream));
  GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  own<<<4, 64, 0, stream>>>(out, 3);
  GOOD(cudaStreamEndCapture(stream, &graph));
  GOOD(cudaGraphInstantiate(&ready, graph, 0));
  GOOD(cudaGraphLaunch(ready, stream));
  GOOD(cudaStreamSynchronize(stream));
  EXPECT(is_found(4, other));
  cudaGraph_t built;
  cudaGraphNode_t node;
  char tag = 3;
  void *parameters[] = {&out, &tag};
  cudaKernelNodeParams given{};
  given.func = (void *)own;
  given.gridDim = 4;
  given.blockDim = 64;
  given.kernelParams = parameters;
  GOOD(cudaGraphCreate(&built, 0));
  GOOD(cudaGraphAddKernelNode(&node, built, nullptr, 0, &given));
  GOOD(cudaGraphInstantiate(&ready, built, 0));
  GOOD(cudaGraphLaunch(ready, stream));
  GOOD(cudaStreamSynchronize(stream));
  EXPECT(is_found(4, other));
  GOOD(cudaFuncSetAttribute(chosen, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  GOOD(cudaFuncSetAttribute(chosen, cudaFuncAttributeRequiredClusterWidth, 4));
  chosen<<<8, 64, count * sizeof(int)>>>(out, count);
  EXPECT(is_found(8, of_four));
  return failures;
}
