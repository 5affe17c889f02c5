#pragma once
__device__ __host__ inline int triangle(int n) { return n * (n + 1) / 2; }
int on_device(int n, int which);
