// Transpose through local memory, padded so that columns fall into different banks.
#define TILE 32
#define ROWS 8

__kernel void transpose(__global const float *restrict input, __global float *restrict output,
                        const int width, const int height) {
  __local float tile[TILE][TILE + 1];
  int x = get_group_id(0) * TILE + get_local_id(0);
  int y = get_group_id(1) * TILE + get_local_id(1);
  for (int step = 0; step < TILE; step += ROWS) {
    if (x < width && y + step < height) {
      tile[get_local_id(1) + step][get_local_id(0)] = input[(y + step) * width + x];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * TILE + get_local_id(0);
  y = get_group_id(0) * TILE + get_local_id(1);
  for (int step = 0; step < TILE; step += ROWS) {
    if (x < height && y + step < width) {
      output[(y + step) * height + x] = tile[get_local_id(0)][get_local_id(1) + step];
    }
  }
}
