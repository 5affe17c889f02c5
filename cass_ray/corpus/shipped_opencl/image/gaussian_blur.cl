// Horizontal pass of a separable blur with a kernel in constant memory and a tile in local memory.
#define RADIUS 4
#define GROUP 128

__kernel void blur_rows(__global const uchar4 *input, __global uchar4 *output,
                        __constant float *weights, const int width, const int height) {
  __local float4 tile[GROUP + 2 * RADIUS];
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  const int id = get_local_id(0);
  for (int i = id; i < GROUP + 2 * RADIUS; i += GROUP) {
    const int source = clamp((int)get_group_id(0) * GROUP + i - RADIUS, 0, width - 1);
    tile[i] = convert_float4(input[y * width + source]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 sum = (float4)(0.0f);
  for (int i = 0; i <= 2 * RADIUS; ++i) {
    sum += weights[i] * tile[id + i];
  }
  if (x < width && y < height) {
    output[y * width + x] = convert_uchar4_sat_rte(sum);
  }
}
