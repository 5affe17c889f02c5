// Quotients, reciprocals and square roots, rounded to nearest, beside the processor's own.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

template <typename T>
struct Format;

template <>
struct Format<float> {
    using Bits = uint32_t;
    static constexpr int fraction = 23, bias = 127;
};

template <>
struct Format<double> {
    using Bits = uint64_t;
    static constexpr int fraction = 52, bias = 1023;
};

template <typename T>
__global__ void divide(const T *a, const T *b, T *result, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) result[i] = a[i] / b[i];
}

template <typename T>
__global__ void invert(const T *a, const T *, T *result, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) result[i] = T(1) / a[i];
}

template <typename T>
__global__ void root(const T *a, const T *, T *result, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) result[i] = sqrt(a[i]);
}

static uint64_t state = 88172645463325252ull;

static uint64_t drawn() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

template <typename T>
static T number(uint64_t bits) {
    typename Format<T>::Bits word = static_cast<typename Format<T>::Bits>(bits);
    T value;
    memcpy(&value, &word, sizeof value);
    return value;
}

template <typename T>
static uint64_t bits_of(T value) {
    typename Format<T>::Bits word;
    memcpy(&word, &value, sizeof word);
    return word;
}

// Zeros, the least and the greatest denormal and normal numbers, one and its neighbours,
// infinities, quiet and signalling ones that are no number; and numbers beside powers of two at
// which the slow paths begin.
template <typename T>
static std::vector<T> edges() {
    const uint64_t one = 1ull << Format<T>::fraction, top = 2ull * Format<T>::bias + 1;
    std::vector<uint64_t> words = {0, 1, 2, one - 1, one, one + 1, 3 * one / 2, top * one - 1, top * one,
                                   top * one + 1, top * one + one / 2, top * one + one - 1};
    for (uint64_t exponent : {uint64_t(2), uint64_t(Format<T>::fraction), uint64_t(Format<T>::fraction) + 2, top / 2 - 1,
                              top / 2, top / 2 + 1, top - 3, top - 2, top - 1})
        for (uint64_t below : {0, 1}) words.push_back(exponent * one - below);
    std::vector<T> found;
    for (uint64_t word : words)
        for (uint64_t sign : {uint64_t(0), (top + 1) * one}) found.push_back(number<T>(word | sign));
    return found;
}

template <typename T>
static void fill(std::vector<T> &a, std::vector<T> &b, int count) {
    const int fraction = Format<T>::fraction, least = -Format<T>::bias + 1 - fraction;
    for (T one : edges<T>())
        for (T other : edges<T>()) {
            a.push_back(one);
            b.push_back(other);
        }
    while (static_cast<int>(a.size()) < count) {
        uint64_t kind = drawn() % 4;
        if (kind == 0) {  // any bits
            a.push_back(number<T>(drawn()));
            b.push_back(number<T>(drawn()));
        } else if (kind == 1) {  // significands alone
            a.push_back(std::ldexp(T(drawn() >> (64 - fraction) | 1), -fraction));
            b.push_back(std::ldexp(T(drawn() >> (64 - fraction) | 1), -fraction));
        } else if (kind == 2) {  // a quotient halfway between denormal numbers, or beside that
            const int bits = fraction / 2 - 2;
            T odd = T(drawn() >> (64 - bits) | 1), half = T(2 * (drawn() >> (64 - bits)) + 1);
            int power = static_cast<int>(drawn() % 40) + fraction;
            T product = std::ldexp(odd * half, least - 1 + power);
            a.push_back(number<T>(bits_of(product) + drawn() % 3 - 1));
            b.push_back(std::ldexp(odd, power));
        } else {  // squares, of halves of the last place, too, and their neighbours
            T root = T(drawn() >> (64 - fraction / 2) | 1);
            a.push_back(number<T>(bits_of(root * root) + drawn() % 3 - 1));
            T near = std::ldexp(T(drawn() >> (64 - fraction) | 1), static_cast<int>(drawn() % 8));
            b.push_back(number<T>(bits_of(near * near) + drawn() % 3 - 1));
        }
    }
}

template <typename T>
using Kernel = void (*)(const T *, const T *, T *, int);

template <typename T>
static void compare(const char *name, Kernel<T> kernel, T (*expected)(T, T), const std::vector<T> &a,
                    const std::vector<T> &b, uint64_t *numbers) {
    const int count = static_cast<int>(a.size());
    T *x, *y, *z;
    cudaMalloc(&x, count * sizeof(T));
    cudaMalloc(&y, count * sizeof(T));
    cudaMalloc(&z, count * sizeof(T));
    cudaMemcpy(x, a.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(y, b.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    kernel<<<(count + 255) / 256, 256>>>(x, y, z, count);
    std::vector<T> result(count);
    cudaMemcpy(result.data(), z, count * sizeof(T), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        T right = expected(a[i], b[i]);
        bool same = right != right ? result[i] != result[i] : bits_of(result[i]) == bits_of(right);
        if (right == right) *numbers = *numbers * 31 + bits_of(result[i]);
        if (!same && ++wrong <= 3)
            printf("%s of %a and %a: %a, not %a\n", name, double(a[i]), double(b[i]), double(result[i]), double(right));
    }
    printf("%s: %d of %d wrong\n", name, wrong, count);
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
}

template <typename T>
static void all(const char *name, int count) {
    std::vector<T> a, b;
    fill(a, b, count);
    uint64_t numbers = 0;
    printf("%s\n", name);
    compare<T>("quotient", divide<T>, [](T x, T y) { return x / y; }, a, b, &numbers);
    compare<T>("reciprocal", invert<T>, [](T x, T) { return T(1) / x; }, a, b, &numbers);
    compare<T>("reciprocal of the other", invert<T>, [](T x, T) { return T(1) / x; }, b, a, &numbers);
    compare<T>("root", root<T>, [](T x, T) { return std::sqrt(x); }, a, b, &numbers);
    compare<T>("root of the other", root<T>, [](T x, T) { return std::sqrt(x); }, b, a, &numbers);
    printf("%016llx\n", static_cast<unsigned long long>(numbers));
}

int main(int argc, char **) {
    const int count = argc > 1 ? 400000 : 20000;
    all<float>("single precision", count);
    all<double>("double precision", count);
    return 0;
}
