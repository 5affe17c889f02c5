// Rows of a matrix are summed by warps; lanes beyond the row take no part.
#include <cstdio>

__global__ void sum_row(const int* row, int length, int* sum, unsigned* votes) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned active = __ballot_sync(0xFFFFFFFF, lane < length);
  if (lane < length) {
    int value = row[lane];
    for (int offset = 16; offset > 0; offset /= 2) {
      const int other = __shfl_down_sync(active, value, offset);
      if (lane + offset < length) value += other;
    }
    if (lane == 0) {
      sum[threadIdx.x / 32] = value;
      votes[threadIdx.x / 32] = __popc(active) * 100 + __ffs(active);
    }
  }
}

int main() {
  int *row, *sum;
  unsigned* votes;
  cudaMallocManaged(&row, 32 * sizeof(int));
  cudaMallocManaged(&sum, 2 * sizeof(int));
  cudaMallocManaged(&votes, 2 * sizeof(unsigned));
  for (int i = 0; i < 32; i++) row[i] = i + 1;
  for (int length : {1, 16, 27, 32}) {
    sum_row<<<1, 64>>>(row, length, sum, votes);
    cudaDeviceSynchronize();
    printf("%d %d %u %u\n", sum[0], sum[1], votes[0], votes[1]);
  }
}
