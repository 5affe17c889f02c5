// Segments that hold infinities only: the index of the first one, not a sentinel.
#include <cub/cub.cuh>
#include <cmath>
#include <cstdio>

int main() {
  const int count = 12, segments = 4;
  const float x = INFINITY;
  const float host[count] = {x, x, x, -x, -x, -x, 3, 1, 2, x, -x, 5};
  const int host_offsets[segments + 1] = {0, 3, 6, 9, 12};
  float* in;
  int* offsets;
  cub::KeyValuePair<int, float>* out;
  cudaMallocManaged(&in, sizeof host);
  cudaMallocManaged(&offsets, sizeof host_offsets);
  cudaMallocManaged(&out, 2 * segments * sizeof *out);
  for (int i = 0; i < count; i++) in[i] = host[i];
  for (int i = 0; i <= segments; i++) offsets[i] = host_offsets[i];
  void* space = nullptr;
  size_t bytes = 0, more = 0;
  cub::DeviceSegmentedReduce::ArgMin(nullptr, bytes, in, out, segments, offsets, offsets + 1);
  cub::DeviceSegmentedReduce::ArgMax(nullptr, more, in, out, segments, offsets, offsets + 1);
  bytes = bytes > more ? bytes : more;
  cudaMalloc(&space, bytes);
  cub::DeviceSegmentedReduce::ArgMin(space, bytes, in, out, segments, offsets, offsets + 1);
  cub::DeviceSegmentedReduce::ArgMax(space, bytes, in, out + segments, segments, offsets, offsets + 1);
  cudaDeviceSynchronize();
  for (int i = 0; i < 2 * segments; i++)
    printf("%d:%g%c", out[i].key, out[i].value, i % segments == segments - 1 ? '\n' : ' ');
}
