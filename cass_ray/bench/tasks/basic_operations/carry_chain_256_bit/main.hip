// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(x) do { hipError_t e_ = (x); if (e_ != hipSuccess) { \
    fprintf(stderr, "HIP failure %d at line %d: %s\n", (int)e_, __LINE__, hipGetErrorString(e_)); \
    exit(3); } } while (0)

#define LIMBS 8
struct Wide {
    uint32_t limb[LIMBS];
};

// Returns the carry out.
__device__ uint32_t addWide(Wide& r, const Wide& a, const Wide& b)
{
    uint64_t sum = 0;
    for (int i = 0; i < LIMBS; ++i) {
        sum += (uint64_t)a.limb[i] + b.limb[i];
        r.limb[i] = (uint32_t)sum;
        sum >>= 32;
    }
    return (uint32_t)sum;
}

// Returns 1 if a < b.
__device__ uint32_t subtractWide(Wide& r, const Wide& a, const Wide& b)
{
    uint32_t borrow = 0;
    for (int i = 0; i < LIMBS; ++i) {
        const uint64_t difference = (uint64_t)a.limb[i] - b.limb[i] - borrow;
        r.limb[i] = (uint32_t)difference;
        borrow = (uint32_t)(difference >> 63);
    }
    return borrow;
}

// acc[0..2] += a * b
__device__ __forceinline__ void multiplyAdd(uint32_t& low, uint32_t& middle, uint32_t& high, uint32_t a, uint32_t b)
{
    const uint64_t product = (uint64_t)a * b;
    const uint64_t lower = (uint64_t)low + (uint32_t)product;
    const uint64_t upper = (uint64_t)middle + (product >> 32) + (lower >> 32);
    low = (uint32_t)lower;
    middle = (uint32_t)upper;
    high += (uint32_t)(upper >> 32);
}

// Column by column; the low and the high half of the product.
__device__ void multiplyWide(Wide& lowHalf, Wide& highHalf, const Wide& a, const Wide& b)
{
    uint32_t c0 = 0, c1 = 0, c2 = 0;
#pragma unroll
    for (int column = 0; column < 2 * LIMBS; ++column) {
#pragma unroll
        for (int i = 0; i < LIMBS; ++i)
            if (column - i >= 0 && column - i < LIMBS)
                multiplyAdd(c0, c1, c2, a.limb[i], b.limb[column - i]);
        if (column < LIMBS) lowHalf.limb[column] = c0;
        else highHalf.limb[column - LIMBS] = c0;
        c0 = c1;
        c1 = c2;
        c2 = 0;
    }
}

__global__ void arithmetic(const Wide* a, const Wide* b, Wide* out, uint32_t* flags, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const Wide x = a[i], y = b[i];
    Wide r, s;
    const uint32_t carry = addWide(r, x, y);
    out[4 * i] = r;
    const uint32_t borrow = subtractWide(r, x, y);
    out[4 * i + 1] = r;
    multiplyWide(r, s, x, y);
    out[4 * i + 2] = r;
    out[4 * i + 3] = s;
    flags[i] = carry | borrow << 1;
}

static const uint64_t kPrime = 0xffffffffffffffc5ull;  // 2^64 - 59
static uint64_t residue(const Wide& w)
{
    unsigned __int128 r = 0;
    for (int i = LIMBS - 1; i >= 0; --i) r = ((r << 32) | w.limb[i]) % kPrime;
    return (uint64_t)r;
}
static uint64_t times(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b % kPrime); }
static uint64_t plus(uint64_t a, uint64_t b) { return (uint64_t)(((unsigned __int128)a + b) % kPrime); }

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 900;
    uint64_t s = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1ull;
    if (n < 1) return 1;
    std::vector<Wide> a(n), b(n), out(4 * n);
    auto fill = [&s](Wide& w) {
        for (uint32_t& l : w.limb) {
            s = s * 6364136223846793005ull + 1442695040888963407ull;
            l = (uint32_t)(s >> 32);
            if ((s >> 20 & 7) == 0) l = 0xffffffffu;  // long carries
            if ((s >> 20 & 7) == 1) l = 0;
        }
    };
    for (int i = 0; i < n; ++i) {
        fill(a[i]);
        fill(b[i]);
    }
    Wide *da, *db, *dout;
    uint32_t* df;
    CK(hipMalloc(&da, n * sizeof(Wide)));
    CK(hipMalloc(&db, n * sizeof(Wide)));
    CK(hipMalloc(&dout, 4 * n * sizeof(Wide)));
    CK(hipMalloc(&df, n * sizeof(uint32_t)));
    CK(hipMemcpy(da, a.data(), n * sizeof(Wide), hipMemcpyHostToDevice));
    CK(hipMemcpy(db, b.data(), n * sizeof(Wide), hipMemcpyHostToDevice));
    arithmetic<<<(n + 63) / 64, 64>>>(da, db, dout, df, n);
    CK(hipGetLastError());
    std::vector<uint32_t> flags(n);
    CK(hipMemcpy(out.data(), dout, 4 * n * sizeof(Wide), hipMemcpyDeviceToHost));
    CK(hipMemcpy(flags.data(), df, n * sizeof(uint32_t), hipMemcpyDeviceToHost));
    uint64_t two256 = 1;
    for (int i = 0; i < 8; ++i) two256 = times(two256, 1ull << 32);
    int wrong = 0, carries = 0, borrows = 0;
    uint32_t folds[4] = {0, 0, 0, 0};
    for (int i = 0; i < n; ++i) {
        const uint64_t x = residue(a[i]), y = residue(b[i]);
        const uint64_t carry = flags[i] & 1, borrow = flags[i] >> 1 & 1;
        carries += (int)carry;
        borrows += (int)borrow;
        wrong += plus(x, y) != plus(residue(out[4 * i]), times(carry, two256));
        wrong += plus(x, times(borrow, two256)) != plus(residue(out[4 * i + 1]), y);
        wrong += times(x, y) != plus(residue(out[4 * i + 2]), times(residue(out[4 * i + 3]), two256));
        for (int k = 0; k < 4; ++k)
            for (uint32_t l : out[4 * i + k].limb) folds[k] = folds[k] * 16777619u ^ l;
    }
    printf("n %d carries %d borrows %d\n", n, carries, borrows);
    printf("folds %08x %08x %08x %08x\n", folds[0], folds[1], folds[2], folds[3]);
    printf("first product");
    for (int k = LIMBS - 1; k >= 0; --k) printf(" %08x", out[3].limb[k]);
    printf("\nwrong %d\n", wrong);
    hipFree(da); hipFree(db); hipFree(dout); hipFree(df);
    return wrong ? 1 : 0;
}
