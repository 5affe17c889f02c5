// Short arrays are filled by a loop of two rounds that may end early.
#include <cstdio>

__global__ void fill(const int* in, long count, int* flags, int* values) {
  const int t = threadIdx.x;
  int flag[2] = {7, 7}, value[2] = {9, 9};
  for (long round = 0; round < count; round++) {
    flag[0] = 0;
    value[0] = 0;
    for (long i = 0; i < 2; i++) {
      const long place = t + i;
      int found = 1;
      if (place != 0) {
        if (place - 1 >= count) break;
        found = in[place - 1];
      }
      flag[i] = found;
      value[i] = 1;
    }
  }
  flags[t] = flag[0] * 10 + flag[1];
  values[t] = value[0] * 10 + value[1];
}

int main() {
  int *in, *flags, *values;
  cudaMallocManaged(&in, 3 * sizeof(int));
  cudaMallocManaged(&flags, 6 * sizeof(int));
  cudaMallocManaged(&values, 6 * sizeof(int));
  for (int i = 0; i < 3; i++) in[i] = i + 3;
  fill<<<1, 6>>>(in, 3, flags, values);
  cudaDeviceSynchronize();
  for (int i = 0; i < 6; i++) printf("%d %d\n", flags[i], values[i]);
}
