// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Expression trees of polymorphic nodes allocated with new on the device, evaluated and
// differentiated recursively.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void stopOnError(cudaError_t status, const char* what, int line)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s failed: %s\n", line, what, cudaGetErrorString(status));
    exit(2);
}
#define CUDA_CHECK(call) stopOnError((call), #call, __LINE__)

class Random {
public:
    explicit Random(unsigned seed) : state(seed * 2654435761u + 12345u) {}
    unsigned next()
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (unsigned)(state >> 32);
    }
    unsigned below(unsigned bound) { return next() % bound; }

private:
    unsigned long long state;
};

static int int_arg(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* to_device(const std::vector<T>& values)
{
    T* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* device_zeros(size_t count)
{
    T* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CUDA_CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> to_host(const T* memory, size_t count)
{
    std::vector<T> values(count);
    CUDA_CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

// FNV-1a over the bytes of all values.
template <typename T>
static unsigned fnv1a(const std::vector<T>& values)
{
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(values.data());
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < values.size() * sizeof(T); ++i)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

static int finish(bool right)
{
    CUDA_CHECK(cudaDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

// Integers modulo a prime, so that every operation is exact.
struct Residue {
    unsigned v;
    static const unsigned kPrime = 1000003u;
    __host__ __device__ Residue(unsigned x = 0) : v(x % kPrime) {}
    __host__ __device__ Residue operator+(Residue o) const { return Residue(v + o.v); }
    __host__ __device__ Residue operator-(Residue o) const { return Residue(v + kPrime - o.v); }
    __host__ __device__ Residue operator*(Residue o) const
    {
        return Residue((unsigned)((unsigned long long)v * o.v % kPrime));
    }
};

class Node {
public:
    __device__ virtual ~Node() {}
    __device__ virtual Residue value(Residue x) const = 0;
    __device__ virtual Residue slope(Residue x) const = 0;
    __device__ virtual int size() const { return 1; }
};

class Constant : public Node {
public:
    __device__ explicit Constant(Residue c) : c(c) {}
    __device__ Residue value(Residue) const override { return c; }
    __device__ Residue slope(Residue) const override { return Residue(0); }

private:
    Residue c;
};

class Variable : public Node {
public:
    __device__ Residue value(Residue x) const override { return x; }
    __device__ Residue slope(Residue) const override { return Residue(1); }
};

class Binary : public Node {
public:
    __device__ Binary(Node* l, Node* r) : left(l), right(r) {}
    __device__ ~Binary() override
    {
        delete left;
        delete right;
    }
    __device__ int size() const override { return 1 + left->size() + right->size(); }

protected:
    Node *left, *right;
};

class Sum : public Binary {
public:
    __device__ Sum(Node* l, Node* r) : Binary(l, r) {}
    __device__ Residue value(Residue x) const override { return left->value(x) + right->value(x); }
    __device__ Residue slope(Residue x) const override { return left->slope(x) + right->slope(x); }
};

class Difference : public Binary {
public:
    __device__ Difference(Node* l, Node* r) : Binary(l, r) {}
    __device__ Residue value(Residue x) const override { return left->value(x) - right->value(x); }
    __device__ Residue slope(Residue x) const override { return left->slope(x) - right->slope(x); }
};

class Product : public Binary {
public:
    __device__ Product(Node* l, Node* r) : Binary(l, r) {}
    __device__ Residue value(Residue x) const override { return left->value(x) * right->value(x); }
    __device__ Residue slope(Residue x) const override
    {
        return left->slope(x) * right->value(x) + left->value(x) * right->slope(x);
    }
};

__host__ __device__ inline unsigned step(unsigned& state)
{
    state = state * 1664525u + 1013904223u;
    return state >> 10;
}

__device__ Node* grow(unsigned& state, int depth)
{
    const unsigned kind = step(state) % (depth > 0 ? 5u : 2u);
    if (kind == 0)
        return new Variable();
    if (kind == 1)
        return new Constant(Residue(step(state)));
    Node* left = grow(state, depth - 1);
    Node* right = grow(state, depth - 1);
    if (kind == 2)
        return new Sum(left, right);
    if (kind == 3)
        return new Difference(left, right);
    return new Product(left, right);
}

__global__ void evaluateTrees(const unsigned* seeds, int trees, int depth, uint4* results)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= trees)
        return;
    unsigned state = seeds[i];
    Node* root = grow(state, depth);
    const Residue x(i * 31 + 7);
    results[i] = make_uint4(root->value(x).v, root->slope(x).v, (unsigned)root->size(), state);
    delete root;
}

struct HostResult {
    Residue value, slope;
    unsigned size;
};

static HostResult follow(unsigned& state, int depth, Residue x)
{
    const unsigned kind = step(state) % (depth > 0 ? 5u : 2u);
    if (kind == 0)
        return {x, Residue(1), 1};
    if (kind == 1)
        return {Residue(step(state)), Residue(0), 1};
    const HostResult l = follow(state, depth - 1, x);
    const HostResult r = follow(state, depth - 1, x);
    const unsigned size = 1 + l.size + r.size;
    if (kind == 2)
        return {l.value + r.value, l.slope + r.slope, size};
    if (kind == 3)
        return {l.value - r.value, l.slope - r.slope, size};
    return {l.value * r.value, l.slope * r.value + l.value * r.slope, size};
}

int main(int argc, char** argv)
{
    const int trees = int_arg(argc, argv, 1, 50);
    const int depth = int_arg(argc, argv, 2, 4);
    Random random((unsigned)int_arg(argc, argv, 3, 1));
    if (trees < 1 || depth < 1 || depth > 6)
        return 2;
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16u << 20));
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    std::vector<unsigned> seeds(trees);
    for (unsigned& s : seeds)
        s = random.next();
    unsigned* dSeeds = to_device(seeds);
    uint4* dResults = device_zeros<uint4>(trees);
    evaluateTrees<<<(trees + 31) / 32, 32>>>(dSeeds, trees, depth, dResults);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    const std::vector<uint4> results = to_host(dResults, trees);
    int wrong = 0;
    unsigned largest = 0;
    unsigned long long values = 0, slopes = 0;
    for (int i = 0; i < trees; ++i) {
        unsigned state = seeds[i];
        const HostResult e = follow(state, depth, Residue(i * 31 + 7));
        wrong += results[i].x != e.value.v || results[i].y != e.slope.v || results[i].z != e.size;
        largest = std::max(largest, results[i].z);
        values += results[i].x;
        slopes += results[i].y;
    }
    printf("trees %d, largest %u, values %llu, slopes %llu, digest %08x\n", trees, largest, values, slopes,
           fnv1a(results));
    for (int i = 0; i < trees; i += 7)
        printf("tree %d: value %u slope %u size %u\n", i, results[i].x, results[i].y, results[i].z);
    return finish(wrong == 0);
}
