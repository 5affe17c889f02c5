// The node of least degree of each segment: the reduction looks degrees up.
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <cstdio>

struct LeastDegree {
  const int* degree;
  __device__ int operator()(int u, int v) const {
    return thrust::make_pair(degree[u], u) < thrust::make_pair(degree[v], v) ? u : v;
  }
};

int main() {
  thrust::device_vector<int> keys(1000), nodes(1000), degrees(1000), out_keys(10), out_nodes(10);
  for (int i = 0; i < 1000; i++) keys[i] = i / 300, degrees[i] = (i * 7919 + 13) % 101 + 1;
  thrust::sequence(nodes.begin(), nodes.end());
  const auto end = thrust::reduce_by_key(
      keys.begin(), keys.end(), nodes.begin(), out_keys.begin(), out_nodes.begin(),
      thrust::equal_to<int>{}, LeastDegree{thrust::raw_pointer_cast(degrees.data())});
  const int count = end.first - out_keys.begin();
  for (int i = 0; i < count; i++)
    printf("%d:%d ", static_cast<int>(out_keys[i]), static_cast<int>(out_nodes[i]));
  printf("\n");
}
