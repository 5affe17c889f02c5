// Centroid of all vertices of many simplices but the worst, and the reflected point.
__kernel void reflect(__global const double *vertices, __global const double *values,
                      __global double *reflected, const int dimensions, const int simplices) {
  const int simplex = get_global_id(0);
  if (simplex >= simplices) {
    return;
  }
  const int points = dimensions + 1;
  int worst = 0;
  for (int i = 1; i < points; ++i) {
    if (values[simplex * points + i] > values[simplex * points + worst]) {
      worst = i;
    }
  }
  for (int d = 0; d < dimensions; ++d) {
    double sum = 0.0;
    for (int i = 0; i < points; ++i) {
      sum += i == worst ? 0.0 : vertices[(simplex * points + i) * dimensions + d];
    }
    const double centre = sum / dimensions;
    reflected[simplex * dimensions + d] =
        2.0 * centre - vertices[(simplex * points + worst) * dimensions + d];
  }
}
