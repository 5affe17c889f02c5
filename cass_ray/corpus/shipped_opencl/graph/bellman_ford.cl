// Relaxation of all edges with integer weights; atomics keep the smaller distance.
__kernel void relax_edges(__global const int *source, __global const int *target,
                          __global const int *weight, __global volatile int *distance,
                          __global volatile int *changed, const int edges) {
  const int edge = get_global_id(0);
  if (edge >= edges) {
    return;
  }
  const int from = distance[source[edge]];
  if (from == INT_MAX) {
    return;
  }
  const int candidate = from + weight[edge];
  if (atomic_min(&distance[target[edge]], candidate) > candidate) {
    atomic_or(changed, 1);
  }
}
