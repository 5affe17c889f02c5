#include <omp.h>
double host_norm(const double *values, int size) {
  double sum = 0;
  int i, threads = omp_get_max_threads();
#pragma omp parallel for reduction(+ : sum)
  for (i = 0; i < size; ++i) sum += values[i] * values[i];
  return threads > 0 ? sum : -1;
}
