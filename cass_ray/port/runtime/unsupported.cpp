// Every entry point of CUDA's runtime that nothing else defines: it says so once and returns
// cudaErrorNotSupported. The definitions are weak, so that a real one takes their place. They take
// no parameters: the caller cleans the stack up (System V ABI).
#include "status.hpp"

#define CASS_CUDA_ENTRY_POINT(name)                                                              \
  extern "C" __attribute__((weak, visibility("default"))) int cass_stub_##name() __asm__(#name); \
  int cass_stub_##name() { return cass::cuda::unsupported(#name); }
#include "entry_points.inc"
