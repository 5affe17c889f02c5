/* Functions that CUDA's headers have on both sides (crt/math_functions.hpp) and clang's wrapper of them
 * has on the device alone, for host code. */
#pragma once

#define CASS_LESSER(result, first, second)                                                                   \
    __host__ inline result min(const first a, const second b)                                                \
    {                                                                                                        \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a)                      \
                                                               : static_cast<result>(b);                     \
    }
#define CASS_GREATER(result, first, second)                                                                  \
    __host__ inline result max(const first a, const second b)                                                \
    {                                                                                                        \
        return static_cast<result>(a) > static_cast<result>(b) ? static_cast<result>(a)                      \
                                                               : static_cast<result>(b);                     \
    }
#define CASS_SIGNED_AND_UNSIGNED(define, type)                                                               \
    define(type, type, type) define(unsigned type, unsigned type, unsigned type)                             \
        define(unsigned type, type, unsigned type) define(unsigned type, unsigned type, type)
#define CASS_INTEGERS(define)                                                                                \
    CASS_SIGNED_AND_UNSIGNED(define, int)                                                                    \
    CASS_SIGNED_AND_UNSIGNED(define, long)                                                                   \
    CASS_SIGNED_AND_UNSIGNED(define, long long)

CASS_INTEGERS(CASS_LESSER)
CASS_INTEGERS(CASS_GREATER)

/* Of a number and NaN both give the number. */
#define CASS_FLOATING(name, suffix)                                                                          \
    __host__ inline float name(const float a, const float b) { return __builtin_f##suffix##f(a, b); }        \
    __host__ inline double name(const double a, const double b) { return __builtin_f##suffix(a, b); }        \
    __host__ inline double name(const float a, const double b) { return __builtin_f##suffix(a, b); }         \
    __host__ inline double name(const double a, const float b) { return __builtin_f##suffix(a, b); }

CASS_FLOATING(min, min)
CASS_FLOATING(max, max)

#undef CASS_LESSER
#undef CASS_GREATER
#undef CASS_SIGNED_AND_UNSIGNED
#undef CASS_INTEGERS
#undef CASS_FLOATING
