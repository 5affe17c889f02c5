// Tiles of tiles, groups of any kind, generic functions on groups, scans and votes of parts of a warp.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
namespace cg = cooperative_groups;
struct Wide { double a; int b; };
template <typename G> __device__ int leader_sum(G g, int v) { for (int i = g.size() / 2; i > 0; i /= 2) v += g.shfl_down(v, i); return g.shfl(v, 0); }
__device__ unsigned aggregate(unsigned* counter) { auto g = cg::coalesced_threads(); unsigned base = 0; if (g.thread_rank() == 0) base = atomicAdd(counter, g.size()); return g.shfl(base, 0) + g.thread_rank(); }
__global__ void go(int* out, unsigned* counter) {
  int t = threadIdx.x, *row = out + t * 16, n = 0;
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto quarter = cg::tiled_partition<8>(warp);
  cg::thread_group dyn = cg::tiled_partition(block, 16);
  cg::thread_group dyn2 = cg::tiled_partition(dyn, 4);
  row[n++] = quarter.meta_group_rank() * 100 + quarter.meta_group_size();
  row[n++] = dyn.thread_rank() * 100 + dyn.size();
  row[n++] = dyn2.thread_rank() * 100 + dyn2.size();
  row[n++] = leader_sum(quarter, t);
  row[n++] = warp.match_any(t % 3) % 1009;
  row[n++] = quarter.any(t == 11) * 2 + quarter.all(t < 40);
  Wide w = warp.shfl(Wide{t * 0.5, t}, 7);
  row[n++] = w.a * 2 + w.b;
  if (t % 4 == 1) { row[n++] = aggregate(counter); } else row[n++] = -1;
  if (t > 20) { cg::coalesced_group g = cg::coalesced_threads(); cg::thread_group any = g; row[n++] = any.size() * 100 + any.thread_rank(); row[n++] = cg::exclusive_scan(g, t); row[n++] = g.meta_group_size(); g.sync(); row[n++] = cg::coalesced_threads().size(); row[n++] = cg::reduce(g, t, [](int a, int b) { return a > b ? a : b; }); }
  else for (int i = 0; i < 5; ++i) row[n++] = -1;
  row[n++] = cg::reduce(cg::tiled_partition<16>(block), t, cg::bit_xor<int>());
}
int main() { static int h[64*16]; int* d; unsigned* c; cudaMalloc(&d, sizeof h); cudaMalloc(&c, 4); cudaMemset(c, 0, 4); go<<<1,64>>>(d, c); cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
 for (int t : {0, 5, 21, 33, 40, 63}) { for (int i = 0; i < 14; ++i) if (i != 7) printf("%d ", h[t*16+i]); puts(""); }
 long long s = 0; for (int t = 0; t < 64; ++t) s += h[t * 16 + 7]; printf("%lld\n", s); }
