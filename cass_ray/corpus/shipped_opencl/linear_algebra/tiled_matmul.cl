// C = A * B in tiles of 16 by 16 kept in local memory; sizes need not divide by the tile.
#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
tiled_matmul(__global const float *a, __global const float *b, __global float *c, const int m,
             const int n, const int k) {
  __local float tile_a[TILE][TILE];
  __local float tile_b[TILE][TILE + 1];
  const int column = get_global_id(0);
  const int row = get_global_id(1);
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  float sum = 0.0f;
  for (int start = 0; start < k; start += TILE) {
    tile_a[y][x] = (row < m && start + x < k) ? a[row * k + start + x] : 0.0f;
    tile_b[y][x] = (column < n && start + y < k) ? b[(start + y) * n + column] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) {
      sum = fma(tile_a[y][i], tile_b[i][x], sum);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < m && column < n) {
    c[row * n + column] = sum;
  }
}
