// What the test programs check with: prints what was not so, and ends with the number of failures.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdio>

inline int failures = 0;

#define EXPECT(condition)                                                 \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                         \
    }                                                                     \
  } while (0)

#define EXPECT_HIP(expected, call)                                                                 \
  do {                                                                                             \
    const hipError_t got_ = (call);                                                                \
    if (got_ != (expected)) {                                                                      \
      std::printf("%s:%d: %s gave %s, not %s\n", __FILE__, __LINE__, #call, hipGetErrorName(got_), \
                  hipGetErrorName(expected));                                                      \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

#define OK(call) EXPECT_HIP(hipSuccess, call)

inline int report() {
  if (failures == 0) std::puts("all as expected");
  return failures == 0 ? 0 : 1;
}
