// Escape times of the Mandelbrot set in double precision, smoothed.
__kernel void mandelbrot(__global float *output, const int width, const int height,
                         const double centre_x, const double centre_y, const double scale,
                         const int limit) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) {
    return;
  }
  const double cx = centre_x + scale * (x - 0.5 * width);
  const double cy = centre_y + scale * (y - 0.5 * height);
  double zx = 0.0;
  double zy = 0.0;
  int step = 0;
  while (step < limit && zx * zx + zy * zy < 256.0) {
    const double next = zx * zx - zy * zy + cx;
    zy = 2.0 * zx * zy + cy;
    zx = next;
    ++step;
  }
  const float modulus = (float)(zx * zx + zy * zy);
  output[y * width + x] =
      step == limit ? 0.0f : (float)step + 1.0f - log2(0.5f * log2(fmax(modulus, 4.0f)));
}
