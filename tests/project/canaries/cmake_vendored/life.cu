#include <grid/for_each.cuh>
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>
int main(int count, char** arguments) {
  const int width = 20, height = 10, steps = count > 1 ? std::stoi(arguments[1]) : 4;
  unsigned char *cells, *next;
  gpuErrchk(cudaMallocManaged(&cells, width * height));
  gpuErrchk(cudaMallocManaged(&next, width * height));
  std::fill_n(cells, width * height, 0);
  // A glider: after four steps one to the right and one down.
  for (auto [x, y] : std::vector<std::pair<int, int>>{{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}}) cells[y * width + x] = 1;
  for (int step = 0; step < steps; ++step) {
    grid::for_each(width, height, [=] __device__(int x, int y) {
      int around = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (dx || dy) around += cells[(y + dy + height) % height * width + (x + dx + width) % width];
      next[y * width + x] = around == 3 || (around == 2 && cells[y * width + x]);
    });
    std::swap(cells, next);
  }
  for (int i = 0; i < width * height; ++i)
    if (cells[i]) std::cout << i % width << ',' << i / width << ' ';
  std::cout << std::endl;
}
