// Rows go between two pitched buffers, and to a transposed place in a third.
#include <cstdio>

int main() {
  const int rows = 3, columns = 5;
  float host[rows][columns];
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++) host[y][x] = 10 * y + x;
  float *a, *b;
  size_t pitch_a, pitch_b;
  printf("%d ", cudaMallocPitch(reinterpret_cast<void**>(&a), &pitch_a, columns * sizeof(float), rows));
  printf("%d ", cudaMallocPitch(reinterpret_cast<void**>(&b), &pitch_b, 300 * sizeof(float), rows));
  printf("%d ", cudaMemcpy2D(a, pitch_a, host, sizeof host[0], sizeof host[0], rows, cudaMemcpyHostToDevice));
  printf("%d ", cudaMemcpy2D(b, pitch_b, a, pitch_a, sizeof host[0], rows, cudaMemcpyDeviceToDevice));
  printf("%d ", cudaMemcpy2D(b + 1, pitch_b, a, pitch_a, 2 * sizeof(float), rows, cudaMemcpyDefault));
  printf("%d\n", cudaMemcpy2D(host, sizeof host[0], b, pitch_b, sizeof host[0], rows, cudaMemcpyDeviceToHost));
  for (int y = 0; y < rows; y++) {
    for (int x = 0; x < columns; x++) printf("%g ", host[y][x]);
    printf("\n");
  }
}
