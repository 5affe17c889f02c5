// Quotients and remainders of words by divisors that the compiler does not know.
#include <cstdio>

constexpr unsigned kEdges[] = {1,          2,          3,          5,          7,          10,
                               64,         255,        641,        65535,      65536,      65537,
                               6700417,    0x00ffffff, 0x01000001, 0x55555555, 0x7fffffff, 0x80000000,
                               0x80000001, 0xaaaaaaab, 0xfffffffd, 0xfffffffe, 0xffffffff, 12345677};
constexpr int kCount = sizeof(kEdges) / sizeof(kEdges[0]);

__device__ unsigned edges[kCount];

__device__ unsigned mixed(unsigned sum, unsigned value) { return (sum ^ value) * 0x01000193u; }

// Each thread divides everything by its own number.
__global__ void unsigned_words(unsigned *quotients, unsigned *remainders) {
    unsigned q = 0, r = 0;
    for (unsigned i = 0; i < kCount; ++i) {
        unsigned divisor = edges[threadIdx.x] ^ i;
        if (divisor == 0) divisor = 1;
        for (unsigned off = 0; off < 5; ++off) {
            unsigned dividend = edges[i] * (off + 1) - off;
            q = mixed(q, dividend / divisor);
            r = mixed(r, dividend % divisor);
        }
    }
    quotients[threadIdx.x] = q;
    remainders[threadIdx.x] = r;
}

__global__ void signed_words(int *quotients, int *remainders) {
    unsigned q = 0, r = 0;
    for (unsigned i = 0; i < kCount; ++i) {
        int divisor = static_cast<int>(edges[(threadIdx.x + i) % kCount]);
        int dividend = static_cast<int>(edges[i]);
        if (divisor == -1) divisor = -3;
        q = mixed(q, static_cast<unsigned>(dividend / divisor));
        r = mixed(r, static_cast<unsigned>(dividend % divisor));
    }
    quotients[threadIdx.x] = static_cast<int>(q);
    remainders[threadIdx.x] = static_cast<int>(r);
}

// A divisor that is a power of two, which only the loop says.
__global__ void strides(unsigned *sums) {
    unsigned sum = 0;
    for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
        sum = mixed(sum, threadIdx.x % stride + threadIdx.x / stride);
    }
    sums[threadIdx.x] = sum;
}

// The same, signed; the compiler takes the magnitude of what is divided in front of the loop.
__global__ void signed_strides(unsigned *sums, int last) {
    int value = static_cast<int>(edges[threadIdx.x]);
    unsigned sum = 0;
    for (int stride = 1; stride <= last; stride *= 2) {
        sum = mixed(sum, static_cast<unsigned>(value % stride));
        if (sum & 1) sum = mixed(sum, static_cast<unsigned>(value / stride));
        __syncthreads();
    }
    sums[threadIdx.x] = sum;
}

// Quotients about four, of which nvcc's code for unrolled loops asks whether they are less than three.
__global__ void few(unsigned *sums) {
    unsigned divisor = edges[threadIdx.x];
    unsigned sum = 0;
    for (unsigned times = 0; times < 7; ++times) {
        for (unsigned off = 0; off < 3; ++off) {
            unsigned quotient = (times * divisor + off - 1) / divisor;
            unsigned rounds = quotient + 1;
            if (rounds & 3) sum = mixed(sum, rounds & 3);
            if (quotient < 3) continue;
            sum = mixed(sum, quotient + off);
            __syncwarp(__activemask());
        }
    }
    sums[threadIdx.x] = sum;
}

// Quotients about powers of two, by small divisors: beyond 2^19 they are divided in another way.
__global__ void doubled(unsigned *sums) {
    unsigned divisor = 37 * threadIdx.x + 3;
    unsigned sum = 0;
    for (unsigned times = 1; times < 1u << 22; times *= 2) {
        for (unsigned off = 0; off < 3; ++off) {
            unsigned quotient = (times * divisor + off - 1) / divisor;
            unsigned rounds = quotient + 1;
            if (rounds & 3) sum = mixed(sum, rounds & 3);
            if (quotient < 3) continue;
            sum = mixed(sum, quotient + off);
            __syncwarp(__activemask());
        }
    }
    sums[threadIdx.x] = sum;
}

static void report(const char *name, const unsigned *values) {
    for (int i = 0; i < kCount; ++i) printf("%s %d %08x\n", name, i, values[i]);
}

int main() {
    unsigned *first, *second;
    cudaMallocManaged(&first, sizeof kEdges);
    cudaMallocManaged(&second, sizeof kEdges);
    cudaMemcpyToSymbol(edges, kEdges, sizeof kEdges);
    unsigned_words<<<1, kCount>>>(first, second);
    cudaDeviceSynchronize();
    report("unsigned /", first);
    report("unsigned %", second);
    signed_words<<<1, kCount>>>(reinterpret_cast<int *>(first), reinterpret_cast<int *>(second));
    cudaDeviceSynchronize();
    report("signed /", first);
    report("signed %", second);
    strides<<<1, kCount>>>(first);
    cudaDeviceSynchronize();
    report("stride", first);
    signed_strides<<<1, kCount>>>(first, 1 << 29);
    cudaDeviceSynchronize();
    report("signed stride", first);
    few<<<1, kCount>>>(first);
    cudaDeviceSynchronize();
    report("few", first);
    doubled<<<1, kCount>>>(first);
    cudaDeviceSynchronize();
    report("doubled", first);
}
