// One level of a breadth-first search over CSR; sets a flag when it reached a new vertex.
__kernel void bfs_level(__global const int *first_edge, __global const int *target,
                        __global int *distance, __global int *changed, const int level,
                        const int vertices) {
  const int vertex = get_global_id(0);
  if (vertex >= vertices || distance[vertex] != level) {
    return;
  }
  for (int edge = first_edge[vertex]; edge < first_edge[vertex + 1]; ++edge) {
    const int next = target[edge];
    if (distance[next] < 0) {
      distance[next] = level + 1;
      *changed = 1;
    }
  }
}
