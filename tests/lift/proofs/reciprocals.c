/* ptxas' estimate of 2^32 / d, for divisors FROM to TO - 1: is it between 2^32/d - 2 and 2^32/d?
 *
 * The reciprocal in single precision may be any float within one unit in the last place of the
 * exact one of the divisor, rounded up to a float. Prints how many estimates are out of the bounds
 * that cass_ray/lift/lowering/divisions.py names, from which a quotient by the estimate is at most
 * two too small. Divisors that are the magnitude of a signed word are converted like others: up to
 * 2^31 - 1 in the same way, and for 2^31, which becomes negative, the estimate is 0 and 2 * d is
 * 2^32.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t bits_of(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static float rounded_up(uint32_t word) {
  float nearest = (float)word;
  return (double)nearest < (double)word ? float_of(bits_of(nearest) + 1) : nearest;
}

/* What F2I.U32.TRUNC gives of a positive number. */
static uint32_t truncated(float number) {
  return number >= 0x1p32f ? UINT32_MAX : (uint32_t)(uint64_t)number;
}

/* What the instructions make of the bits of a reciprocal. */
static uint32_t estimate(uint32_t divisor, uint32_t reciprocal) {
  uint32_t first = truncated(float_of(reciprocal + 0x0ffffffe));
  uint32_t error = -divisor * first;
  return (uint32_t)(((uint64_t)first * error + ((uint64_t)first << 32)) >> 32);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  uint64_t from = strtoull(arguments[1], NULL, 0), to = strtoull(arguments[2], NULL, 0);
  uint64_t outside = 0;
  for (uint64_t each = from; each < to; ++each) {
    uint32_t divisor = (uint32_t)each;
    uint32_t nearest = bits_of(1.0f / rounded_up(divisor));
    for (int units = -1; units <= 1; ++units) {
      uint64_t product = (uint64_t)estimate(divisor, nearest + units) * divisor;
      uint64_t whole = UINT64_C(1) << 32;
      outside += product > whole || whole - product > 2 * each;
    }
  }
  printf("%" PRIu64 "\n", outside);
}
