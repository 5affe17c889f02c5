// One iteration of PageRank by pulling along incoming edges.
__kernel void pagerank(__global const int *first_edge, __global const int *origin,
                       __global const int *out_degree, __global const float *rank,
                       __global float *next_rank, const float damping, const float dangling,
                       const int vertices) {
  const int vertex = get_global_id(0);
  if (vertex >= vertices) {
    return;
  }
  float sum = 0.0f;
  for (int edge = first_edge[vertex]; edge < first_edge[vertex + 1]; ++edge) {
    const int from = origin[edge];
    sum += rank[from] / (float)out_degree[from];
  }
  next_rank[vertex] = (1.0f - damping + damping * dangling) / (float)vertices + damping * sum;
}
