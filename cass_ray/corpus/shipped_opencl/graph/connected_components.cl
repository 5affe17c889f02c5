// Label propagation with pointer jumping for the components of an undirected graph.
__kernel void hook(__global const int2 *edges, __global volatile int *parent,
                   __global volatile int *changed, const int count) {
  const int i = get_global_id(0);
  if (i >= count) {
    return;
  }
  const int2 edge = edges[i];
  const int a = parent[edge.x];
  const int b = parent[edge.y];
  if (a != b) {
    const int low = min(a, b);
    const int high = max(a, b);
    if (atomic_min(&parent[high], low) > low) {
      *changed = 1;
    }
  }
}

__kernel void jump(__global int *parent, const int vertices) {
  const int vertex = get_global_id(0);
  if (vertex < vertices) {
    int root = parent[vertex];
    while (root != parent[root]) {
      root = parent[root];
    }
    parent[vertex] = root;
  }
}
