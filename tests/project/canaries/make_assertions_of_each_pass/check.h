#pragma once
#include <cstdio>

// Of the host alone: nvcc leaves bodies of the device out where it compiles for the host.
#ifndef __CUDA_ARCH__
extern void fail(const char *what);
#endif

#ifdef __CUDA_ARCH__
#define FAIL(what) (printf("%s on the device\n", what))
#else
#define FAIL(what) fail(what)
#endif

#ifdef __CUDACC__
#define DEVICE __device__
#define HOST __host__
#else
#define DEVICE
#define HOST
#endif

#define CHECK(condition)                                                       \
  {                                                                            \
    if (!(condition)) {                                                        \
      FAIL(#condition);                                                        \
    }                                                                          \
  }
