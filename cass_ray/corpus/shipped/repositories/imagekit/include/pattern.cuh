// SPDX-License-Identifier: MIT
// Deterministic test pictures.
#pragma once

#include <vector>

namespace imagekit {

class Random {
public:
    explicit Random(unsigned seed) : state_(seed) {}
    unsigned next()
    {
        state_ = state_ * 1664525u + 1013904223u;
        return state_ >> 8;
    }
    int below(int limit) { return (int)(next() % (unsigned)limit); }

private:
    unsigned state_;
};

// Bright discs on a dark ground, with noise of the given amplitude.
inline std::vector<unsigned char> discs(int width, int height, int count, int noise, unsigned seed)
{
    Random random(seed);
    std::vector<unsigned char> image((size_t)width * height, 50);
    for (int i = 0; i < count; ++i) {
        const int cx = random.below(width), cy = random.below(height), r = 2 + random.below(height / 6 + 1);
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
                if ((x - cx) * (x - cx) + (y - cy) * (y - cy) <= r * r)
                    image[(size_t)y * width + x] = 170;
    }
    for (unsigned char& p : image)
        p = (unsigned char)(p + random.below(noise + 1));
    return image;
}

}  // namespace imagekit
