// Sparse matrix in ELLPACK form times vector; columns of -1 are padding.
__kernel void spmv_ell(__global const int *restrict columns, __global const double *restrict values,
                       __global const double *restrict x, __global double *restrict y,
                       const int rows, const int width) {
  const int row = get_global_id(0);
  if (row >= rows) {
    return;
  }
  double sum = 0.0;
  for (int slot = 0; slot < width; ++slot) {
    const int position = slot * rows + row;
    const int column = columns[position];
    if (column >= 0) {
      sum = fma(values[position], x[column], sum);
    }
  }
  y[row] = sum;
}
