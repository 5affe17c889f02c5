// One step of a right-looking Cholesky factorisation: scale a column, update what is to its right.
__kernel void cholesky_scale(__global double *matrix, const int size, const int column) {
  const int row = column + get_global_id(0);
  if (row >= size) {
    return;
  }
  const double pivot = sqrt(matrix[column * size + column]);
  if (row == column) {
    return;
  }
  matrix[row * size + column] /= pivot;
}

__kernel void cholesky_update(__global double *matrix, const int size, const int column) {
  const int row = column + 1 + get_global_id(1);
  const int other = column + 1 + get_global_id(0);
  if (row < size && other <= row) {
    matrix[row * size + other] -= matrix[row * size + column] * matrix[other * size + column];
  }
}
