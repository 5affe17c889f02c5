// ChaCha20 key stream (RFC 8439), one block of 64 bytes an item, combined with the message.
#define QUARTER(a, b, c, d)                   \
  a += b; d = rotate(d ^ a, 16u);             \
  c += d; b = rotate(b ^ c, 12u);             \
  a += b; d = rotate(d ^ a, 8u);              \
  c += d; b = rotate(b ^ c, 7u)

__kernel void chacha20(__global const uint *message, __global uint *cipher, const uint8 key,
                       const uint3 nonce, const uint counter, const uint blocks) {
  const uint block = get_global_id(0);
  if (block >= blocks) {
    return;
  }
  const uint16 start = (uint16)((uint4)(0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u), key,
                                (uint4)(counter + block, nonce.x, nonce.y, nonce.z));
  uint16 x = start;
  for (int round = 0; round < 10; ++round) {
    QUARTER(x.s0, x.s4, x.s8, x.sc);
    QUARTER(x.s1, x.s5, x.s9, x.sd);
    QUARTER(x.s2, x.s6, x.sa, x.se);
    QUARTER(x.s3, x.s7, x.sb, x.sf);
    QUARTER(x.s0, x.s5, x.sa, x.sf);
    QUARTER(x.s1, x.s6, x.sb, x.sc);
    QUARTER(x.s2, x.s7, x.s8, x.sd);
    QUARTER(x.s3, x.s4, x.s9, x.se);
  }
  vstore16(vload16(block, message) ^ (x + start), block, cipher);
}
