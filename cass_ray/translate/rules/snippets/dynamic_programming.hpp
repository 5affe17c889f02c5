#ifndef CASS_DYNAMIC_PROGRAMMING
#define CASS_DYNAMIC_PROGRAMMING
// CUDA's functions for dynamic programming: the extremes of two or three integers, or of a sum and
// another integer, also in both halves of a word, also not below zero.
namespace cass {
namespace dpx {
template <typename T>
__host__ __device__ inline T sum(T a, T b) {
    return static_cast<T>(static_cast<unsigned int>(a) + static_cast<unsigned int>(b));
}
struct Max {
    template <typename T>
    static __host__ __device__ inline T of(T a, T b) { return a < b ? b : a; }
};
struct Min {
    template <typename T>
    static __host__ __device__ inline T of(T a, T b) { return b < a ? b : a; }
};
template <typename Extreme>
struct OfTwo {
    template <typename T>
    static __host__ __device__ inline T of(T a, T b, T) { return Extreme::of(a, b); }
};
template <typename Extreme>
struct OfThree {
    template <typename T>
    static __host__ __device__ inline T of(T a, T b, T c) { return Extreme::of(Extreme::of(a, b), c); }
};
template <typename Extreme>
struct OfSum {
    template <typename T>
    static __host__ __device__ inline T of(T a, T b, T c) { return Extreme::of(sum(a, b), c); }
};
template <typename Operation, bool Relu, typename T>
__host__ __device__ inline T word(T a, T b, T c) {
    const T result = Operation::of(a, b, c);
    return Relu && result < T(0) ? T(0) : result;
}
template <typename Operation, bool Relu, typename T>
__host__ __device__ inline unsigned int halves(unsigned int a, unsigned int b, unsigned int c) {
    const T low = word<Operation, Relu>(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c));
    const T high = word<Operation, Relu>(static_cast<T>(a >> 16), static_cast<T>(b >> 16), static_cast<T>(c >> 16));
    return static_cast<unsigned short>(low) | static_cast<unsigned int>(static_cast<unsigned short>(high)) << 16;
}
// Whether the first one was taken, too.
template <typename Extreme, typename T>
__host__ __device__ inline T chosen(T a, T b, bool* is_first) {
    const T result = Extreme::of(a, b);
    *is_first = result == a;
    return result;
}
template <typename Extreme, typename T>
__host__ __device__ inline unsigned int chosen_halves(unsigned int a, unsigned int b, bool* high, bool* low) {
    const T upper = chosen<Extreme>(static_cast<T>(a >> 16), static_cast<T>(b >> 16), high);
    const T lower = chosen<Extreme>(static_cast<T>(a), static_cast<T>(b), low);
    return static_cast<unsigned short>(lower) | static_cast<unsigned int>(static_cast<unsigned short>(upper)) << 16;
}
}  // namespace dpx
#define CASS_SIGNED(name, operation, relu, suffix)                                             \
    __host__ __device__ inline int name##_s32##suffix(int a, int b, int c) {                   \
        return dpx::word<dpx::operation, relu>(a, b, c);                                       \
    }                                                                                          \
    __host__ __device__ inline unsigned int name##_s16x2##suffix(unsigned int a, unsigned int b, unsigned int c) { \
        return dpx::halves<dpx::operation, relu, short>(a, b, c);                              \
    }
#define CASS_EACH(name, operation)                                                             \
    CASS_SIGNED(name, operation, false, )                                                      \
    CASS_SIGNED(name, operation, true, _relu)                                                  \
    __host__ __device__ inline unsigned int name##_u32(unsigned int a, unsigned int b, unsigned int c) { \
        return dpx::word<dpx::operation, false>(a, b, c);                                      \
    }                                                                                          \
    __host__ __device__ inline unsigned int name##_u16x2(unsigned int a, unsigned int b, unsigned int c) { \
        return dpx::halves<dpx::operation, false, unsigned short>(a, b, c);                    \
    }
CASS_EACH(vimax3, OfThree<dpx::Max>)
CASS_EACH(vimin3, OfThree<dpx::Min>)
CASS_EACH(viaddmax, OfSum<dpx::Max>)
CASS_EACH(viaddmin, OfSum<dpx::Min>)
#undef CASS_EACH
#undef CASS_SIGNED
#define CASS_CHOSEN(name, extreme)                                                                  \
    __host__ __device__ inline int name##_s32(int a, int b, bool* is_first) {                       \
        return dpx::chosen<dpx::extreme>(a, b, is_first);                                           \
    }                                                                                               \
    __host__ __device__ inline unsigned int name##_u32(unsigned int a, unsigned int b, bool* is_first) { \
        return dpx::chosen<dpx::extreme>(a, b, is_first);                                           \
    }                                                                                               \
    __host__ __device__ inline unsigned int name##_s16x2(unsigned int a, unsigned int b, bool* high, bool* low) { \
        return dpx::chosen_halves<dpx::extreme, short>(a, b, high, low);                            \
    }                                                                                               \
    __host__ __device__ inline unsigned int name##_u16x2(unsigned int a, unsigned int b, bool* high, bool* low) { \
        return dpx::chosen_halves<dpx::extreme, unsigned short>(a, b, high, low);                   \
    }
CASS_CHOSEN(vibmax, Max)
CASS_CHOSEN(vibmin, Min)
#undef CASS_CHOSEN
#define CASS_RELU(name, extreme)                                                               \
    __host__ __device__ inline int name##_s32_relu(int a, int b) {                             \
        return dpx::word<dpx::OfTwo<dpx::extreme>, true>(a, b, 0);                             \
    }                                                                                          \
    __host__ __device__ inline unsigned int name##_s16x2_relu(unsigned int a, unsigned int b) { \
        return dpx::halves<dpx::OfTwo<dpx::extreme>, true, short>(a, b, 0u);                   \
    }
CASS_RELU(vimax, Max)
CASS_RELU(vimin, Min)
#undef CASS_RELU
}  // namespace cass
#endif
