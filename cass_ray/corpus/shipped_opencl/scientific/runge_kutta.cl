// Lorenz system for many starting points, classical Runge-Kutta of the fourth order.
double3 lorenz(const double3 p, const double sigma, const double rho, const double beta) {
  return (double3)(sigma * (p.y - p.x), p.x * (rho - p.z) - p.y, p.x * p.y - beta * p.z);
}

__kernel void lorenz_paths(__global double *points, const double step, const int steps,
                           const double rho, const int count) {
  const int i = get_global_id(0);
  if (i >= count) {
    return;
  }
  const double sigma = 10.0;
  const double beta = 8.0 / 3.0;
  double3 p = vload3(i, points);
  for (int n = 0; n < steps; ++n) {
    const double3 k1 = lorenz(p, sigma, rho, beta);
    const double3 k2 = lorenz(p + 0.5 * step * k1, sigma, rho, beta);
    const double3 k3 = lorenz(p + 0.5 * step * k2, sigma, rho, beta);
    const double3 k4 = lorenz(p + step * k3, sigma, rho, beta);
    p += step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
  vstore3(p, i, points);
}
