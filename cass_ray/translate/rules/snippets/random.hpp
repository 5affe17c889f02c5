#ifndef CASS_RANDOM
#define CASS_RANDOM
#include <hip/hip_runtime.h>
#include <type_traits>
#ifdef CASS_PLAIN_VECTORS  // rocRAND reads `data` of these.
#define uint2 HIP_vector_base<unsigned int, 2>
#define uint4 HIP_vector_base<unsigned int, 4>
#define ulonglong2 HIP_vector_base<unsigned long long, 2>
#define ulonglong4 HIP_vector_base<unsigned long long, 4>
#endif
#include <hiprand/hiprand_kernel.h>
#undef uint2
#undef uint4
#undef ulonglong2
#undef ulonglong4
// The sequences of cuRAND's device functions. rocRAND has the same generators, seeded in another way, and
// makes other numbers of their bits: half of a step is added in cuRAND, a whole one in rocRAND.
namespace cass {
#ifdef __HIP_PLATFORM_NVIDIA__
#define CASS_RANDOM_SAME(name)                                     \
    template <typename... Arguments> __device__ inline auto random_##name(Arguments... arguments) { \
        return hiprand_##name(arguments...);                       \
    }
template <typename... Arguments> __device__ inline auto random_bits(Arguments... arguments) { return hiprand(arguments...); }
CASS_RANDOM_SAME(init)
CASS_RANDOM_SAME(uniform)
CASS_RANDOM_SAME(uniform_double)
CASS_RANDOM_SAME(uniform4)
CASS_RANDOM_SAME(uniform2_double)
CASS_RANDOM_SAME(uniform4_double)
CASS_RANDOM_SAME(normal)
CASS_RANDOM_SAME(normal2)
CASS_RANDOM_SAME(normal4)
CASS_RANDOM_SAME(normal_double)
CASS_RANDOM_SAME(normal2_double)
CASS_RANDOM_SAME(normal4_double)
CASS_RANDOM_SAME(log_normal)
CASS_RANDOM_SAME(log_normal2)
CASS_RANDOM_SAME(log_normal4)
CASS_RANDOM_SAME(log_normal_double)
CASS_RANDOM_SAME(log_normal2_double)
CASS_RANDOM_SAME(log_normal4_double)
#undef CASS_RANDOM_SAME
template <typename State> __device__ inline void random_skipahead_sequence(unsigned long long count, State* state) {
    skipahead_sequence(count, state);
}
#else
typedef unsigned long long random_word;
using random_xorwow = rocrand_device::xorwow_engine;
using random_mrg = rocrand_device::mrg32k3a_engine;
using random_philox = rocrand_device::philox4x32_10_engine;
// An engine's state is its own and its descendants'.
template <typename Engine> struct random_access : Engine {
    __host__ __device__ static auto& of(Engine* engine) { return engine->*(&random_access::m_state); }
};
// The seed with which rocRAND begins where cuRAND begins with this one: both multiply by odd numbers.
__host__ __device__ constexpr unsigned int random_inverse(unsigned int odd) {
    unsigned int inverse = odd;
    for (int i = 0; i < 5; ++i) inverse *= 2u - odd * inverse;
    return inverse;
}
__host__ __device__ inline void draw_init(random_word seed, random_word sequence, random_word offset, random_xorwow* state) {
    const unsigned int low = 1099087573u * (static_cast<unsigned int>(seed) ^ 0xaad26b49u);
    const unsigned int high = 2591861531u * (static_cast<unsigned int>(seed >> 32) ^ 0xf7dcefddu);
    const unsigned int to_low = (random_inverse(1228688033u) * low) ^ 0x2c7f967fu;
    const unsigned int to_high = (random_inverse(2073658381u) * high) ^ 0xa03697cbu;
    *state = random_xorwow(static_cast<random_word>(to_high) << 32 | to_low, sequence, offset);
}
__host__ __device__ inline void draw_init(random_word seed, random_word sequence, random_word offset, random_mrg* state) {
    const random_word m1 = 4294967087ull, m2 = 4294944443ull, start = 12345;
    const random_word x = seed == 0 ? 1 : static_cast<unsigned int>(seed) ^ 0x55555555u;
    const random_word y = seed == 0 ? 1 : static_cast<unsigned int>(seed >> 32) ^ 0xaaaaaaaau;
    auto& now = random_access<random_mrg>::of(state);
    for (int i = 0; i < 3; ++i) {
        now.g1[i] = static_cast<unsigned int>((i == 1 ? y : x) * start % m1);
        now.g2[i] = static_cast<unsigned int>((i == 1 ? x : y) * start % m2);
    }
    state->restart(sequence, offset);
}
__host__ __device__ inline void draw_init(random_word seed, random_word sequence, random_word offset, random_philox* state) {
    *state = random_philox(seed, sequence, offset);
}
template <typename State> __host__ __device__ inline auto draw_bits(State* state) { return hiprand(state); }
__host__ __device__ inline unsigned int draw_bits(random_mrg* state) {
    return static_cast<unsigned int>(static_cast<double>(state->next()) * 1.000000048662);
}
__host__ __device__ inline unsigned int draw_bits(random_xorwow* state) { return state->next(); }
__host__ __device__ inline unsigned int draw_bits(random_philox* state) { return state->next(); }

// --- Uniform: (0, 1] ---
__host__ __device__ inline float random_fraction(unsigned int x) { return x * 2.3283064e-10f + (2.3283064e-10f / 2.0f); }
__host__ __device__ inline float random_fraction(random_word x) { return random_fraction(static_cast<unsigned int>(x >> 32)); }
__host__ __device__ inline double random_fraction_double(unsigned int x) {
    return x * 2.3283064365386963e-10 + 2.3283064365386963e-10;
}
__host__ __device__ inline double random_fraction_double(random_word x) {
    return (x >> 11) * 1.1102230246251565e-16 + (1.1102230246251565e-16 / 2.0);
}
__host__ __device__ inline double random_fraction_double(unsigned int x, unsigned int y) {
    return (x ^ static_cast<random_word>(y) << 21) * 1.1102230246251565e-16 + (1.1102230246251565e-16 / 2.0);
}
template <typename State> __host__ __device__ inline float draw_uniform(State* state) {
    return random_fraction(draw_bits(state));
}
__host__ __device__ inline double draw_uniform_double(random_mrg* state) { return state->next() * 2.3283065498378288e-10; }
__host__ __device__ inline float draw_uniform(random_mrg* state) { return static_cast<float>(draw_uniform_double(state)); }
template <typename State> __host__ __device__ inline double draw_uniform_double(State* state) {
    return random_fraction_double(draw_bits(state));
}
__host__ __device__ inline double draw_uniform_double(random_xorwow* state) {
    const unsigned int x = state->next(), y = state->next();
    return random_fraction_double(x, y);
}
__host__ __device__ inline float4 draw_uniform4(random_philox* state) {
    const auto x = state->next4();
    return make_float4(random_fraction(x.x), random_fraction(x.y), random_fraction(x.z), random_fraction(x.w));
}
__host__ __device__ inline double2 draw_uniform2_double(random_philox* state) {
    const auto x = state->next4();
    return make_double2(random_fraction_double(x.x, x.y), random_fraction_double(x.z, x.w));
}
__host__ __device__ inline double4 draw_uniform4_double(random_philox* state) {
    const double2 low = draw_uniform2_double(state), high = draw_uniform2_double(state);
    return make_double4(low.x, low.y, high.x, high.y);
}

// --- Normal: Box and Muller's transform ---
__host__ __device__ inline float2 random_pair(float radius, float angle) {
    const float size = sqrtf(-2.0f * logf(radius));
    float sine, cosine;
#ifdef __HIP_DEVICE_COMPILE__
    __sincosf(angle, &sine, &cosine);
#else
    sine = sinf(angle), cosine = cosf(angle);
#endif
    return make_float2(sine * size, cosine * size);
}
__host__ __device__ inline double2 random_pair_double(double radius, double half_turns) {
    const double size = sqrt(-2.0 * log(radius));
    double sine, cosine;
#ifdef __HIP_DEVICE_COMPILE__
    sincospi(half_turns, &sine, &cosine);
#else
    sine = sin(half_turns * 3.1415926535897932), cosine = cos(half_turns * 3.1415926535897932);
#endif
    return make_double2(sine * size, cosine * size);
}
__host__ __device__ inline float2 random_pair_of(unsigned int x, unsigned int y) {
    const float step = 2.3283064e-10f * 6.2831855f;
    return random_pair(random_fraction(x), y * step + step / 2);
}
template <typename Word> __host__ __device__ inline double2 random_pair_of(Word x0, Word x1, Word y0, Word y1) {
    const random_word y = y0 ^ static_cast<random_word>(y1) << 21;
    const double step = 1.1102230246251565e-16;
    return random_pair_double(random_fraction_double(x0, x1), y * (step * 2.0) + step);
}
__host__ __device__ inline float2 draw_normal2(random_mrg* state) {
    const float radius = draw_uniform(state), angle = draw_uniform(state) * 6.2831855f;
    return random_pair(radius, angle);
}
template <typename State> __host__ __device__ inline float2 draw_normal2(State* state) {
    const unsigned int x = draw_bits(state), y = draw_bits(state);
    return random_pair_of(x, y);
}
__host__ __device__ inline double2 draw_normal2_double(random_mrg* state) {
    const double radius = draw_uniform_double(state), half_turns = draw_uniform_double(state) * 2.0;
    return random_pair_double(radius, half_turns);
}
__host__ __device__ inline double2 draw_normal2_double(random_philox* state) {
    const auto x = state->next4();
    return random_pair_of(x.x, x.y, x.z, x.w);
}
__host__ __device__ inline double2 draw_normal2_double(random_xorwow* state) {
    const unsigned int x0 = state->next(), x1 = state->next(), y0 = state->next(), y1 = state->next();
    return random_pair_of(x0, x1, y0, y1);
}
__host__ __device__ inline float4 draw_normal4(random_philox* state) {
    const auto x = state->next4();
    const float2 low = random_pair_of(x.x, x.y), high = random_pair_of(x.z, x.w);
    return make_float4(low.x, low.y, high.x, high.y);
}
__host__ __device__ inline double4 draw_normal4_double(random_philox* state) {
    const double2 low = draw_normal2_double(state), high = draw_normal2_double(state);
    return make_double4(low.x, low.y, high.x, high.y);
}
// The second number of a pair is the next call's; a kept normal number is none for log-normal ones (2).
enum random_kept : unsigned int { RANDOM_NONE, RANDOM_NORMAL, RANDOM_LOG_NORMAL };
template <typename Engine> __host__ __device__ inline float random_one(
    Engine* engine, random_kept kind, float mean, float deviation) {
    auto& kept = random_access<Engine>::of(engine);
    if (kept.boxmuller_float_state == kind) {
        kept.boxmuller_float_state = RANDOM_NONE;
        return kept.boxmuller_float;
    }
    float2 pair = draw_normal2(engine);
    if (kind == RANDOM_LOG_NORMAL) pair = make_float2(expf(mean + deviation * pair.x), expf(mean + deviation * pair.y));
    kept.boxmuller_float = pair.y;
    kept.boxmuller_float_state = kind;
    return pair.x;
}
template <typename Engine> __host__ __device__ inline double random_one_double(
    Engine* engine, random_kept kind, double mean, double deviation) {
    auto& kept = random_access<Engine>::of(engine);
    if (kept.boxmuller_double_state == kind) {
        kept.boxmuller_double_state = RANDOM_NONE;
        return kept.boxmuller_double;
    }
    double2 pair = draw_normal2_double(engine);
    if (kind == RANDOM_LOG_NORMAL) pair = make_double2(exp(mean + deviation * pair.x), exp(mean + deviation * pair.y));
    kept.boxmuller_double = pair.y;
    kept.boxmuller_double_state = kind;
    return pair.x;
}
#define CASS_RANDOM_NORMAL(Engine)                                                                      \
    __host__ __device__ inline float draw_normal(Engine* e) { return random_one(e, RANDOM_NORMAL, 0, 1); } \
    __host__ __device__ inline double draw_normal_double(Engine* e) {                                 \
        return random_one_double(e, RANDOM_NORMAL, 0, 1);                                               \
    }                                                                                                   \
    __host__ __device__ inline float draw_log_normal(Engine* e, float mean, float deviation) {        \
        return random_one(e, RANDOM_LOG_NORMAL, mean, deviation);                                       \
    }                                                                                                   \
    __host__ __device__ inline double draw_log_normal_double(Engine* e, double mean, double deviation) { \
        return random_one_double(e, RANDOM_LOG_NORMAL, mean, deviation);                                \
    }                                                                                                   \
    __host__ __device__ inline float2 draw_log_normal2(Engine* e, float mean, float deviation) {      \
        const float2 n = draw_normal2(e);                                                             \
        return make_float2(expf(mean + deviation * n.x), expf(mean + deviation * n.y));                 \
    }                                                                                                   \
    __host__ __device__ inline double2 draw_log_normal2_double(Engine* e, double mean, double deviation) { \
        const double2 n = draw_normal2_double(e);                                                     \
        return make_double2(exp(mean + deviation * n.x), exp(mean + deviation * n.y));                  \
    }
CASS_RANDOM_NORMAL(random_xorwow)
CASS_RANDOM_NORMAL(random_mrg)
CASS_RANDOM_NORMAL(random_philox)
#undef CASS_RANDOM_NORMAL
__host__ __device__ inline float4 draw_log_normal4(random_philox* e, float mean, float deviation) {
    const float4 n = draw_normal4(e);
    return make_float4(expf(mean + deviation * n.x), expf(mean + deviation * n.y), expf(mean + deviation * n.z),
                       expf(mean + deviation * n.w));
}
__host__ __device__ inline double4 draw_log_normal4_double(random_philox* e, double mean, double deviation) {
    const double4 n = draw_normal4_double(e);
    return make_double4(exp(mean + deviation * n.x), exp(mean + deviation * n.y), exp(mean + deviation * n.z),
                        exp(mean + deviation * n.w));
}
// Of the other generators, whose numbers come by the inverse of the distribution.
template <typename State> __device__ inline float draw_normal(State* state) { return hiprand_normal(state); }
template <typename State> __device__ inline double draw_normal_double(State* state) { return hiprand_normal_double(state); }
template <typename State> __device__ inline float draw_log_normal(State* state, float mean, float deviation) {
    return hiprand_log_normal(state, mean, deviation);
}
template <typename State> __device__ inline double draw_log_normal_double(State* state, double mean, double deviation) {
    return hiprand_log_normal_double(state, mean, deviation);
}

// The states of hipRAND's interface are classes of their own beyond these.
template <typename State> using random_engine = typename std::conditional<
    std::is_base_of<random_xorwow, State>::value, random_xorwow,
    typename std::conditional<std::is_base_of<random_mrg, State>::value, random_mrg,
                              typename std::conditional<std::is_base_of<random_philox, State>::value, random_philox,
                                                        State>::type>::type>::type;
template <typename Seed, typename State> __host__ __device__ inline void random_init(
    Seed seed, random_word sequence, random_word offset, State* state, std::true_type) {
    hiprand_init(seed, sequence, offset, state);
}
template <typename Seed, typename State> __host__ __device__ inline void random_init(
    Seed seed, random_word sequence, random_word offset, State* state, std::false_type) {
    draw_init(static_cast<random_word>(seed), sequence, offset, static_cast<random_engine<State>*>(state));
}
template <typename Seed, typename State>
__host__ __device__ inline void random_init(Seed seed, random_word sequence, random_word offset, State* state) {
    random_init(seed, sequence, offset, state, std::is_same<random_engine<State>, State>());
}
template <typename Vectors, typename State>
__host__ __device__ inline void random_init(Vectors vectors, unsigned int offset, State* state) {
    hiprand_init(vectors, offset, state);
}
// 2^127 numbers of MRG32k3a on, where hipRAND goes 2^76.
__host__ __device__ inline void draw_skip(random_word count, random_mrg* state) { state->discard_sequence(count); }
template <typename State> __host__ __device__ inline void draw_skip(random_word count, State* state) {
    state->discard_subsequence(count);
}
template <typename State> __host__ __device__ inline void random_skipahead_sequence(random_word count, State* state) {
    draw_skip(count, static_cast<random_engine<State>*>(state));
}
#define CASS_RANDOM_DRAW(name)                                                                    \
    template <typename State, typename... Arguments>                                              \
    __host__ __device__ inline auto random_##name(State* state, Arguments... arguments) {         \
        return draw_##name(static_cast<random_engine<State>*>(state), arguments...);              \
    }
CASS_RANDOM_DRAW(bits)
CASS_RANDOM_DRAW(uniform)
CASS_RANDOM_DRAW(uniform_double)
CASS_RANDOM_DRAW(uniform4)
CASS_RANDOM_DRAW(uniform2_double)
CASS_RANDOM_DRAW(uniform4_double)
CASS_RANDOM_DRAW(normal)
CASS_RANDOM_DRAW(normal2)
CASS_RANDOM_DRAW(normal4)
CASS_RANDOM_DRAW(normal_double)
CASS_RANDOM_DRAW(normal2_double)
CASS_RANDOM_DRAW(normal4_double)
CASS_RANDOM_DRAW(log_normal)
CASS_RANDOM_DRAW(log_normal2)
CASS_RANDOM_DRAW(log_normal4)
CASS_RANDOM_DRAW(log_normal_double)
CASS_RANDOM_DRAW(log_normal2_double)
CASS_RANDOM_DRAW(log_normal4_double)
#undef CASS_RANDOM_DRAW
#endif
}  // namespace cass
#endif
