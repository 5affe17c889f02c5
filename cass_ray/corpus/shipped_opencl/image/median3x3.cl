// Median of nine neighbours by a network of exchanges.
#define EXCHANGE(a, b)            \
  do {                            \
    const uchar smaller = min(a, b); \
    b = max(a, b);                \
    a = smaller;                  \
  } while (0)

__kernel void median3x3(__global const uchar *input, __global uchar *output, const int width,
                        const int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) {
    return;
  }
  uchar v[9];
  for (int i = 0; i < 9; ++i) {
    const int column = clamp(x + i % 3 - 1, 0, width - 1);
    const int row = clamp(y + i / 3 - 1, 0, height - 1);
    v[i] = input[row * width + column];
  }
  EXCHANGE(v[1], v[2]); EXCHANGE(v[4], v[5]); EXCHANGE(v[7], v[8]);
  EXCHANGE(v[0], v[1]); EXCHANGE(v[3], v[4]); EXCHANGE(v[6], v[7]);
  EXCHANGE(v[1], v[2]); EXCHANGE(v[4], v[5]); EXCHANGE(v[7], v[8]);
  EXCHANGE(v[0], v[3]); EXCHANGE(v[5], v[8]); EXCHANGE(v[4], v[7]);
  EXCHANGE(v[3], v[6]); EXCHANGE(v[1], v[4]); EXCHANGE(v[2], v[5]);
  EXCHANGE(v[4], v[7]); EXCHANGE(v[4], v[2]); EXCHANGE(v[6], v[4]);
  EXCHANGE(v[4], v[2]);
  output[y * width + x] = v[4];
}
