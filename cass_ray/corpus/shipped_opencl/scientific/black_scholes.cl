// Prices of European options by the formula of Black and Scholes.
float normal_distribution(const float x) {
  return 0.5f * erfc(-x * M_SQRT1_2_F);
}

__kernel void black_scholes(__global const float *spot, __global const float *strike,
                            __global const float *years, __global float *call, __global float *put,
                            const float rate, const float volatility, const int count) {
  const int i = get_global_id(0);
  if (i >= count) {
    return;
  }
  const float root = volatility * sqrt(years[i]);
  const float d1 =
      (log(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / root;
  const float d2 = d1 - root;
  const float discount = strike[i] * exp(-rate * years[i]);
  const float price = spot[i] * normal_distribution(d1) - discount * normal_distribution(d2);
  call[i] = price;
  put[i] = price - spot[i] + discount;
}
