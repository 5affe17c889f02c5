#ifndef CASS_SATURATE
#define CASS_SATURATE
// Conversions to integers that clamp to the range of the result, and floats clamped to [0, 1].
namespace cass {
template <typename To> struct integer_range {
    static constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
    static constexpr unsigned long long bits = 8 * sizeof(To) - (is_signed ? 1 : 0);
    static constexpr unsigned long long high = ~0ull >> (64 - bits);
    static constexpr long long low = is_signed ? -static_cast<long long>(high) - 1 : 0;
};
template <typename To> __host__ __device__ inline To saturate(long long value) {
    using range = integer_range<To>;
    if (value < range::low) return static_cast<To>(range::low);
    if (value > 0 && static_cast<unsigned long long>(value) > range::high)
        return static_cast<To>(range::high);
    return static_cast<To>(value);
}
template <typename To> __host__ __device__ inline To saturate(unsigned long long value) {
    using range = integer_range<To>;
    return static_cast<To>(value > range::high ? range::high : value);
}
// Not a number becomes 0. The bound is a power of two and so exact in either type.
template <typename To, typename Float> __host__ __device__ inline To saturate_float(Float value) {
    using range = integer_range<To>;
    const Float bound = static_cast<Float>(range::high / 2 + 1) * 2;
    if (value != value) return 0;
    if (value >= bound) return static_cast<To>(range::high);
    if (value <= static_cast<Float>(range::low)) return static_cast<To>(range::low);
    return static_cast<To>(value);
}
template <typename To> __host__ __device__ inline To saturate(float value) {
    return saturate_float<To>(value);
}
template <typename To> __host__ __device__ inline To saturate(double value) {
    return saturate_float<To>(value);
}
template <typename Float> __host__ __device__ inline Float saturate_unit(Float value) {
    return value > 0 ? (value < 1 ? value : static_cast<Float>(1)) : static_cast<Float>(0);
}
}  // namespace cass
#endif
