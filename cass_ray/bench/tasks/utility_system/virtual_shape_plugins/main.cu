// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            std::fprintf(stderr, "%s:%d: CUDA error: %s\n", __FILE__, __LINE__,      \
                         cudaGetErrorString(status));                                \
            std::exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

class Shape {
public:
    __device__ virtual ~Shape() {}
    __device__ virtual int area() const = 0;
    __device__ virtual int corners() const { return 0; }
    __device__ virtual int depth() const { return 1; }
};

class Box : public Shape {
public:
    __device__ Box(int w, int h) : width(w), height(h) {}
    __device__ int area() const override { return width * height; }
    __device__ int corners() const override { return 4; }
protected:
    int width, height;
};

class Prism : public Box {
public:
    __device__ Prism(int w, int h, int l) : Box(w, h), length(l) {}
    __device__ int area() const override { return 2 * (width * height + width * length + height * length); }
    __device__ int corners() const override { return 2 * Box::corners(); }
private:
    int length;
};

class Group : public Shape {
public:
    __device__ Group(Shape* a, Shape* b) : first(a), second(b) {}
    __device__ ~Group() override { delete first; delete second; }
    __device__ int area() const override { return first->area() + second->area(); }
    __device__ int corners() const override { return first->corners() + second->corners(); }
    __device__ int depth() const override { const int a = first->depth(), b = second->depth(); return 1 + (a > b ? a : b); }
private:
    Shape *first, *second;
};

__device__ Shape* build(unsigned& s, int levels)
{
    s = s * 1664525u + 1013904223u;
    const unsigned kind = s >> 28;
    const int a = 1 + (s >> 20 & 7), b = 1 + (s >> 12 & 7), c = 1 + (s >> 6 & 7);
    if (levels > 0 && kind >= 6) {
        Shape* left = build(s, levels - 1);
        Shape* right = build(s, levels - 1);
        return new Group(left, right);
    }
    if (kind & 1)
        return new Prism(a, b, c);
    return new Box(a, b);
}

typedef int (*Visitor)(const Shape*);
__device__ int visitArea(const Shape* s) { return s->area(); }
__device__ int visitCorners(const Shape* s) { return s->corners(); }
__device__ int visitDepth(const Shape* s) { return s->depth(); }
__device__ Visitor visitors[3] = { visitArea, visitCorners, visitDepth };

__global__ void create(Shape** shapes, int n, unsigned seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned s = seed + 7919u * (unsigned)i;
        shapes[i] = build(s, 3);
    }
}
__global__ void visit(Shape** shapes, int n, int* results)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < 3; ++k)
            results[3 * i + k] = visitors[(k + i) % 3](shapes[i]);
}
__global__ void destroy(Shape** shapes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        delete shapes[i];
        shapes[i] = nullptr;
    }
}

// The same tree without objects.
struct Facts { int area, corners, depth; };
static Facts plain(unsigned& s, int levels)
{
    s = s * 1664525u + 1013904223u;
    const unsigned kind = s >> 28;
    const int a = 1 + (s >> 20 & 7), b = 1 + (s >> 12 & 7), c = 1 + (s >> 6 & 7);
    if (levels > 0 && kind >= 6) {
        const Facts l = plain(s, levels - 1), r = plain(s, levels - 1);
        return { l.area + r.area, l.corners + r.corners, 1 + (l.depth > r.depth ? l.depth : r.depth) };
    }
    if (kind & 1) return { 2 * (a * b + a * c + b * c), 8, 1 };
    return { a * b, 4, 1 };
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 150;
    const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 9u;
    if (n < 1) return 1;
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    Shape** shapes;
    int* results;
    CHECK(cudaMalloc(&shapes, n * sizeof(Shape*)));
    CHECK(cudaMalloc(&results, 3 * n * sizeof(int)));
    const int block = 64, grid = (n + block - 1) / block;
    create<<<grid, block>>>(shapes, n, seed);
    visit<<<grid, block>>>(shapes, n, results);
    destroy<<<grid, block>>>(shapes, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<int> r(3 * n);
    std::vector<Shape*> left(n);
    CHECK(cudaMemcpy(r.data(), results, r.size() * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(left.data(), shapes, n * sizeof(Shape*), cudaMemcpyDeviceToHost));
    long long totals[3] = {0, 0, 0};
    int wrong = 0, depths[6] = {0};
    for (int i = 0; i < n; ++i) {
        int got[3];
        for (int k = 0; k < 3; ++k) got[(k + i) % 3] = r[3 * i + k];
        unsigned s = seed + 7919u * (unsigned)i;
        const Facts f = plain(s, 3);
        wrong += got[0] != f.area || got[1] != f.corners || got[2] != f.depth || left[i] != nullptr;
        for (int k = 0; k < 3; ++k) totals[k] += (long long)got[k] * (i % 4 + 1);
        depths[got[2] < 6 ? got[2] : 5]++;
    }
    printf("shapes %d\narea %lld corners %lld depth %lld\n", n, totals[0], totals[1], totals[2]);
    for (int d = 1; d < 5; ++d) printf("depth %d: %d\n", d, depths[d]);
    printf("wrong %d\n", wrong);
    CHECK(cudaFree(shapes));
    CHECK(cudaFree(results));
    return wrong ? 1 : 0;
}
