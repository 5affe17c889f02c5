// No kernel is in this program; a local variable hides the symbol of the same name.
#include <cstdio>

__constant__ int coefficients[10];

int main() {
  int values[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0}, back[10] = {};
  printf("%d\n", cudaMemcpyToSymbol(coefficients, values, sizeof values, 0, cudaMemcpyHostToDevice));
  {
    float coefficients[100];
    coefficients[3] = 2.5f;
    printf("%g\n", coefficients[3]);
  }
  printf("%d\n", cudaMemcpyFromSymbol(back, coefficients, sizeof back));
  size_t size = 0;
  printf("%d ", cudaGetSymbolSize(&size, coefficients));
  printf("%d %d %d\n", static_cast<int>(size), back[0], back[8]);
}
