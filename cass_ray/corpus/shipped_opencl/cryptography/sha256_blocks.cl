// SHA-256 compression of one 64-byte block for each item; the state is read and written back.
__constant uint round_constant[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u,
    0xab1c5ed5u, 0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu,
    0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu,
    0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau, 0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u,
    0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu,
    0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u, 0xa2bfe8a1u, 0xa81a664bu,
    0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u, 0x19a4c116u,
    0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u,
    0xc67178f2u};

#define RIGHT(x, n) rotate((x), (uint)(32 - (n)))

__kernel void sha256_block(__global const uint *blocks, __global uint8 *states, const int count) {
  const int item = get_global_id(0);
  if (item >= count) {
    return;
  }
  uint w[64];
  for (int i = 0; i < 16; ++i) {
    const uint word = blocks[item * 16 + i];
    w[i] = (word << 24) | ((word & 0xff00u) << 8) | ((word >> 8) & 0xff00u) | (word >> 24);
  }
  for (int i = 16; i < 64; ++i) {
    const uint s0 = RIGHT(w[i - 15], 7) ^ RIGHT(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint s1 = RIGHT(w[i - 2], 17) ^ RIGHT(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint8 s = states[item];
  for (int i = 0; i < 64; ++i) {
    const uint choice = bitselect(s.s6, s.s5, s.s4);
    const uint majority = (s.s0 & s.s1) ^ (s.s0 & s.s2) ^ (s.s1 & s.s2);
    const uint one = s.s7 + (RIGHT(s.s4, 6) ^ RIGHT(s.s4, 11) ^ RIGHT(s.s4, 25)) + choice +
                     round_constant[i] + w[i];
    const uint two = (RIGHT(s.s0, 2) ^ RIGHT(s.s0, 13) ^ RIGHT(s.s0, 22)) + majority;
    s = (uint8)(one + two, s.s0, s.s1, s.s2, s.s3 + one, s.s4, s.s5, s.s6);
  }
  states[item] += s;
}
