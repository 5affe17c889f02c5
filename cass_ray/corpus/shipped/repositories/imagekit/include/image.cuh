// SPDX-License-Identifier: MIT
// Two-dimensional device images with owning storage and a light view for kernels.
#pragma once

#include "check.cuh"

#include <cstddef>
#include <vector>

namespace imagekit {

template <typename T>
struct View {
    T* data;
    int width, height;

    __host__ __device__ bool contains(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }
    __host__ __device__ T& at(int x, int y) const { return data[(size_t)y * width + x]; }
    __host__ __device__ T clamped(int x, int y) const
    {
        x = x < 0 ? 0 : x >= width ? width - 1 : x;
        y = y < 0 ? 0 : y >= height ? height - 1 : y;
        return at(x, y);
    }
    __host__ __device__ int size() const { return width * height; }
};

template <typename T>
class DeviceImage {
public:
    DeviceImage(int width, int height) : view_{nullptr, width, height}
    {
        IMAGEKIT_CHECK(cudaMalloc((void**)&view_.data, bytes()));
    }
    explicit DeviceImage(const std::vector<T>& pixels, int width, int height) : DeviceImage(width, height)
    {
        IMAGEKIT_CHECK(cudaMemcpy(view_.data, pixels.data(), bytes(), cudaMemcpyHostToDevice));
    }
    ~DeviceImage() { cudaFree(view_.data); }
    DeviceImage(const DeviceImage&) = delete;
    DeviceImage& operator=(const DeviceImage&) = delete;

    View<T> view() const { return view_; }
    size_t bytes() const { return (size_t)view_.width * view_.height * sizeof(T); }
    void clear() { IMAGEKIT_CHECK(cudaMemset(view_.data, 0, bytes())); }

    std::vector<T> download() const
    {
        std::vector<T> pixels((size_t)view_.size());
        IMAGEKIT_CHECK(cudaMemcpy(pixels.data(), view_.data, bytes(), cudaMemcpyDeviceToHost));
        return pixels;
    }

private:
    View<T> view_;
};

inline dim3 tiles(int width, int height, dim3 block)
{
    return dim3((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
}

}  // namespace imagekit
