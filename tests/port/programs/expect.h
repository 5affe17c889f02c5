// EXPECT(condition): counts and names what does not hold; main returns `failures`.
#pragma once
#include <cstdio>

static int failures = 0;

#define EXPECT(condition)                                      \
  do {                                                         \
    if (!(condition)) {                                        \
      std::printf("line %d: %s\n", __LINE__, #condition);      \
      ++failures;                                              \
    }                                                          \
  } while (0)
#define GOOD(call) EXPECT((call) == cudaSuccess)
