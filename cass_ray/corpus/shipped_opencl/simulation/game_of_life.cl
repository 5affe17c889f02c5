// Conway's game of life on a torus, one byte a cell.
__kernel void life(__global const uchar *cells, __global uchar *next, const int width,
                   const int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) {
    return;
  }
  const int left = (x + width - 1) % width;
  const int right = (x + 1) % width;
  const int up = ((y + height - 1) % height) * width;
  const int down = ((y + 1) % height) * width;
  const int row = y * width;
  const int alive = cells[up + left] + cells[up + x] + cells[up + right] + cells[row + left] +
                    cells[row + right] + cells[down + left] + cells[down + x] + cells[down + right];
  next[row + x] = (alive == 3 || (alive == 2 && cells[row + x])) ? 1 : 0;
}
