/* clang's CUDA wrapper includes this header of cuRAND, which is not part of every installation. */
#if __has_include_next(<curand_mtgp32_kernel.h>)
#include_next <curand_mtgp32_kernel.h>
#endif
