// y = a * x + y over vectors of any length, four elements a work item.
__kernel void saxpy(const float a, __global const float *restrict x, __global float *restrict y,
                    const int count) {
  const int start = 4 * (int)get_global_id(0);
  if (start + 3 < count) {
    const float4 values = vload4(0, x + start);
    vstore4(mad((float4)(a), values, vload4(0, y + start)), 0, y + start);
    return;
  }
  for (int i = start; i < count; ++i) {
    y[i] = mad(a, x[i], y[i]);
  }
}
