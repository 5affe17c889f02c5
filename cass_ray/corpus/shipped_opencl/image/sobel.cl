// Gradient magnitude of a grey image; the border is left black.
__kernel void sobel(__global const uchar *image, __global uchar *edges, const int width,
                    const int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) {
    return;
  }
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    edges[y * width + x] = 0;
    return;
  }
  int horizontal = 0;
  int vertical = 0;
  for (int i = -1; i <= 1; ++i) {
    const int weight = i == 0 ? 2 : 1;
    horizontal += weight * (image[(y + i) * width + x + 1] - image[(y + i) * width + x - 1]);
    vertical += weight * (image[(y + 1) * width + x + i] - image[(y - 1) * width + x + i]);
  }
  const float magnitude = hypot((float)horizontal, (float)vertical);
  edges[y * width + x] = convert_uchar_sat(magnitude);
}
