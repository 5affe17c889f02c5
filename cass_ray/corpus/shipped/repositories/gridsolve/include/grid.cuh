// SPDX-License-Identifier: MIT
// Square cell grids with a rim of one boundary cell.
#pragma once

#include "error.cuh"

#include <cstddef>
#include <vector>

struct GridShape {
    int inner;  // cells per side without the rim
    double spacing;

    __host__ __device__ int side() const { return inner + 2; }
    __host__ __device__ int cells() const { return side() * side(); }
    __host__ __device__ int at(int x, int y) const { return y * side() + x; }
};

inline GridShape unitSquare(int inner) { return GridShape{inner, 1.0 / (inner + 1)}; }

class Field {
public:
    explicit Field(const GridShape& shape) : cells_(shape.cells())
    {
        GRID_CHECK(cudaMalloc((void**)&data_, bytes()));
        GRID_CHECK(cudaMemset(data_, 0, bytes()));
    }
    Field(Field&& other) : data_(other.data_), cells_(other.cells_) { other.data_ = nullptr; }
    Field(const Field&) = delete;
    Field& operator=(const Field&) = delete;
    ~Field()
    {
        if (data_)
            cudaFree(data_);
    }
    double* get() const { return data_; }
    size_t bytes() const { return (size_t)cells_ * sizeof(double); }
    void upload(const std::vector<double>& values) { GRID_CHECK(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice)); }
    std::vector<double> download() const
    {
        std::vector<double> values(cells_);
        GRID_CHECK(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return values;
    }
    void swap(Field& other)
    {
        double* t = data_;
        data_ = other.data_;
        other.data_ = t;
    }

private:
    double* data_ = nullptr;
    int cells_;
};

inline dim3 gridBlock() { return dim3(16, 8); }
inline dim3 gridTiles(const GridShape& s) { return dim3((s.inner + 15) / 16, (s.inner + 7) / 8); }

// Cell coordinates of this thread, 1..inner; false outside.
__device__ inline bool innerCell(const GridShape& s, int& x, int& y)
{
    x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    return x <= s.inner && y <= s.inner;
}
