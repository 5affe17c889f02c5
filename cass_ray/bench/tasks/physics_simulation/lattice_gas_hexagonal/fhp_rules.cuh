// Collision rules of the FHP-I gas on six words of bits, one for each direction; bit k of every
// word belongs to the same cell. Directions go round anticlockwise: 0 is east, 3 is west.
#pragma once
#include <cstdint>

struct Cell6 {
    uint32_t d[6];
};

// Head-on pairs turn by 60 degrees, left where chirality is set and right elsewhere; three-body
// collisions turn round; solid cells send everything back.
__host__ __device__ inline Cell6 collide(const Cell6& in, uint32_t chirality, uint32_t solid)
{
    const uint32_t a = in.d[0], b = in.d[1], c = in.d[2], d = in.d[3], e = in.d[4], f = in.d[5];
    const uint32_t pair0 = a & d & ~(b | c | e | f), pair1 = b & e & ~(a | c | d | f), pair2 = c & f & ~(a | b | d | e);
    const uint32_t even = a & c & e & ~(b | d | f), odd = b & d & f & ~(a | c | e);
    const uint32_t triple = even | odd;
    const uint32_t turn0 = pair0 | (chirality & pair2) | (~chirality & pair1);
    const uint32_t turn1 = pair1 | (chirality & pair0) | (~chirality & pair2);
    const uint32_t turn2 = pair2 | (chirality & pair1) | (~chirality & pair0);
    Cell6 out;
    out.d[0] = a ^ turn0 ^ triple;
    out.d[3] = d ^ turn0 ^ triple;
    out.d[1] = b ^ turn1 ^ triple;
    out.d[4] = e ^ turn1 ^ triple;
    out.d[2] = c ^ turn2 ^ triple;
    out.d[5] = f ^ turn2 ^ triple;
    for (int k = 0; k < 3; ++k) {
        const uint32_t forth = out.d[k], back = out.d[k + 3];
        out.d[k] = (solid & in.d[k + 3]) | (~solid & forth);
        out.d[k + 3] = (solid & in.d[k]) | (~solid & back);
    }
    return out;
}

// Pseudo-random bits for one word of cells and one step.
__host__ __device__ inline uint32_t chiralityOf(uint32_t word, uint32_t step, uint32_t seed)
{
    uint32_t v = word * 0x9e3779b1u ^ step * 0x85ebca77u ^ seed;
    v ^= v >> 15;
    v *= 0x2c1b3c6du;
    v ^= v >> 12;
    v *= 0x297a2d39u;
    return v ^ v >> 15;
}
