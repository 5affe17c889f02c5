// Histograms of the three channels of an image, in local memory, then added to the global ones.
__kernel void colour_histogram(__global const uchar4 *pixels, __global volatile uint *histogram,
                               const uint count) {
  __local volatile uint bins[3 * 256];
  for (uint i = get_local_id(0); i < 3 * 256; i += get_local_size(0)) {
    bins[i] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
    const uchar4 pixel = pixels[i];
    atomic_inc(&bins[pixel.x]);
    atomic_inc(&bins[256 + pixel.y]);
    atomic_inc(&bins[512 + pixel.z]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 3 * 256; i += get_local_size(0)) {
    atomic_add(&histogram[i], bins[i]);
  }
}
