/* What nvcc includes before every program; precompiled for clang. */
#include <cuda_runtime.h>
