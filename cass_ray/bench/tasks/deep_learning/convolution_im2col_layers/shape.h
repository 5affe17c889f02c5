// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#pragma once

struct Shape {
    int channels, height, width;

    int size() const { return channels * height * width; }
};

inline Shape convolved(const Shape& in, int channels, int kernel)
{
    return Shape{channels, in.height - kernel + 1, in.width - kernel + 1};
}

inline Shape halved(const Shape& in) { return Shape{in.channels, in.height / 2, in.width / 2}; }
