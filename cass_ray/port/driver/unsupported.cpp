// Every entry point of CUDA's driver interface that nothing else defines: it says so once and
// returns CUDA_ERROR_NOT_SUPPORTED. As runtime/unsupported.cpp.
#include "result.hpp"

#define CASS_CUDA_ENTRY_POINT(name)                                                              \
  extern "C" __attribute__((weak, visibility("default"))) int cass_stub_##name() __asm__(#name); \
  int cass_stub_##name() { return cass::cuda::driver::unsupported(#name); }
#include "entry_points.inc"
