// Powers modulo a 32-bit number by squaring, with 64-bit products.
ulong modular_power(ulong base, uint exponent, const ulong modulus) {
  ulong result = 1;
  base %= modulus;
  while (exponent != 0) {
    if (exponent & 1u) {
      result = (result * base) % modulus;
    }
    base = (base * base) % modulus;
    exponent >>= 1;
  }
  return result;
}

__kernel void fermat_test(__global const uint *candidates, __global uchar *probably_prime,
                          const uint witness, const int count) {
  const int i = get_global_id(0);
  if (i < count) {
    const uint n = candidates[i];
    const bool passes = n > 3u && (n & 1u) && modular_power(witness, n - 1u, n) == 1ul;
    probably_prime[i] = (n == 2u || n == 3u || passes) ? 1 : 0;
  }
}
