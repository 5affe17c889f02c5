// Nearest of K centroids for points of any dimension, and the sizes of the clusters.
__kernel void assign_clusters(__global const float *points, __constant float *centroids,
                              __global int *assignment, __global volatile int *sizes,
                              const int count, const int dimensions, const int clusters) {
  const int point = get_global_id(0);
  if (point >= count) {
    return;
  }
  float best = MAXFLOAT;
  int nearest = 0;
  for (int cluster = 0; cluster < clusters; ++cluster) {
    float distance = 0.0f;
    for (int d = 0; d < dimensions; ++d) {
      const float difference = points[d * count + point] - centroids[cluster * dimensions + d];
      distance = fma(difference, difference, distance);
    }
    if (distance < best) {
      best = distance;
      nearest = cluster;
    }
  }
  assignment[point] = nearest;
  atomic_inc(&sizes[nearest]);
}
