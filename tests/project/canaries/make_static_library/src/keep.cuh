static __device__ bool keep(int value) { return value % 2 == 0; }
