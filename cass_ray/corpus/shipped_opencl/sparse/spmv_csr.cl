// Sparse matrix (CSR) times vector: a group of 32 lanes shares a row.
#define LANES 32

__kernel void spmv_csr(__global const int *row_start, __global const int *columns,
                       __global const float *values, __global const float *x, __global float *y,
                       const int rows) {
  __local float partial[256];
  const int lane = get_local_id(0) % LANES;
  const int row = get_global_id(0) / LANES;
  float sum = 0.0f;
  if (row < rows) {
    for (int i = row_start[row] + lane; i < row_start[row + 1]; i += LANES) {
      sum = fma(values[i], x[columns[i]], sum);
    }
  }
  partial[get_local_id(0)] = sum;
  for (int step = LANES / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) {
      partial[get_local_id(0)] += partial[get_local_id(0) + step];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0 && row < rows) {
    y[row] = partial[get_local_id(0)];
  }
}
