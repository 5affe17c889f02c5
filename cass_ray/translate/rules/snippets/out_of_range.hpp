#ifndef CASS_OUT_OF_RANGE
#define CASS_OUT_OF_RANGE
// Conversions to integers of numbers that no integer of that type is near: CUDA gives the nearest end
// of the range, and the top bit alone for NaN; what HIP's give is up to the hardware.
namespace cass {
template <typename To, typename From>
__host__ __device__ inline To nearest_end(From value) {
    constexpr int bits = 8 * sizeof(To);
    constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
    constexpr To top_bit = static_cast<To>(1ull << (bits - 1));
    const From top = static_cast<From>(1ull << (bits - 1)) * static_cast<From>(is_signed ? 1 : 2);
    if (value >= top) return is_signed ? static_cast<To>(~top_bit) : static_cast<To>(-1);
    if (value > (is_signed ? -top : static_cast<From>(-1))) return static_cast<To>(value);
    return value != value || is_signed ? top_bit : static_cast<To>(0);
}
#define CASS_CONVERSION(from, type, suffix, short_name, to)                                            \
    __device__ inline to from##2##short_name##_rn(type x) { return nearest_end<to>(__builtin_rint##suffix(x)); } \
    __device__ inline to from##2##short_name##_rz(type x) { return nearest_end<to>(__builtin_trunc##suffix(x)); } \
    __device__ inline to from##2##short_name##_rd(type x) { return nearest_end<to>(__builtin_floor##suffix(x)); } \
    __device__ inline to from##2##short_name##_ru(type x) { return nearest_end<to>(__builtin_ceil##suffix(x)); }
CASS_CONVERSION(float, float, f, ll, long long)
CASS_CONVERSION(float, float, f, ull, unsigned long long)
CASS_CONVERSION(double, double, , int, int)
CASS_CONVERSION(double, double, , uint, unsigned int)
CASS_CONVERSION(double, double, , ll, long long)
CASS_CONVERSION(double, double, , ull, unsigned long long)
#undef CASS_CONVERSION
#ifdef __HIP_DEVICE_COMPILE__
#define CASS_ROUNDED(type, on_device, on_host) nearest_end<type>(on_device)
#else
#define CASS_ROUNDED(type, on_device, on_host) on_host
#endif
#define CASS_TO_WHOLE(name, type)                                                                     \
    __host__ __device__ inline type name##rint(double x) {                                            \
        return CASS_ROUNDED(type, __builtin_rint(x), ::name##rint(x));                        \
    }                                                                                                 \
    __host__ __device__ inline type name##rint(float x) {                                             \
        return CASS_ROUNDED(type, __builtin_rintf(x), ::name##rintf(x));                       \
    }                                                                                                 \
    __host__ __device__ inline type name##round(double x) {                                           \
        return CASS_ROUNDED(type, ::round(x), ::name##round(x));                              \
    }                                                                                                 \
    __host__ __device__ inline type name##round(float x) {                                            \
        return CASS_ROUNDED(type, ::roundf(x), ::name##roundf(x));                             \
    }
CASS_TO_WHOLE(l, long)
CASS_TO_WHOLE(ll, long long)
#undef CASS_TO_WHOLE
#undef CASS_ROUNDED
// An integer has an exact number: the overload for a float would be as near as that for a double.
template <typename T>
__host__ __device__ inline long lrint(T x) { return cass::lrint(static_cast<double>(x)); }
template <typename T>
__host__ __device__ inline long long llrint(T x) { return cass::llrint(static_cast<double>(x)); }
template <typename T>
__host__ __device__ inline long lround(T x) { return cass::lround(static_cast<double>(x)); }
template <typename T>
__host__ __device__ inline long long llround(T x) { return cass::llround(static_cast<double>(x)); }
}  // namespace cass
#endif
