// Explicit step of the heat equation in three dimensions with seven points.
__kernel void heat_step(__global const float *restrict now, __global float *restrict next,
                        const int nx, const int ny, const int nz, const float factor) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  const int z = get_global_id(2);
  if (x >= nx || y >= ny || z >= nz) {
    return;
  }
  const int plane = nx * ny;
  const int here = z * plane + y * nx + x;
  const float centre = now[here];
  if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
    next[here] = centre;
    return;
  }
  const float around = now[here - 1] + now[here + 1] + now[here - nx] + now[here + nx] +
                       now[here - plane] + now[here + plane];
  next[here] = fma(factor, around - 6.0f * centre, centre);
}
