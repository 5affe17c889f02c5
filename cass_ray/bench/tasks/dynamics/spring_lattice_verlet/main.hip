// cass-bench canary 5f2c1e7a-9d44-4b7e-8c0e-3a1f6be2d901
// Pinned lattice of springs and masses with position Verlet steps on shared tiles with halos.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void stopOnError(hipError_t status, const char* what, int line)
{
    if (status == hipSuccess)
        return;
    fprintf(stderr, "line %d: %s failed: %s\n", line, what, hipGetErrorString(status));
    exit(2);
}
#define GPU_OK(call) stopOnError((call), #call, __LINE__)

struct Random {
    unsigned counter;
    explicit Random(unsigned seed) : counter(seed * 7919u) {}
    unsigned next()
    {
        unsigned z = counter += 0x9e3779b9u;
        z = (z ^ (z >> 16)) * 0x21f0aaadu;
        z = (z ^ (z >> 15)) * 0x735a2d97u;
        return z ^ (z >> 15);
    }
    unsigned below(unsigned bound) { return (unsigned)(((unsigned long long)next() * bound) >> 32); }
};

static int argument(int argc, char** argv, int index, int fallback)
{
    return argc > index ? atoi(argv[index]) : fallback;
}

template <typename T>
static T* upload(const std::vector<T>& values)
{
    T* memory = nullptr;
    GPU_OK(hipMalloc(&memory, (values.empty() ? 1 : values.size()) * sizeof(T)));
    GPU_OK(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T>
static T* deviceZeros(size_t count)
{
    T* memory = nullptr;
    GPU_OK(hipMalloc(&memory, count * sizeof(T)));
    GPU_OK(hipMemset(memory, 0, count * sizeof(T)));
    return memory;
}

template <typename T>
static std::vector<T> download(const T* memory, size_t count)
{
    std::vector<T> values(count);
    GPU_OK(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

static int finish(bool right)
{
    GPU_OK(hipDeviceSynchronize());
    printf("verify: %s\n", right ? "OK" : "MISMATCH");
    return right ? 0 : 1;
}

#define TX 16
#define TY 8

struct Point {
    double x, y;
};

__host__ __device__ inline void pull(Point& force, const Point& a, const Point& b, double stiffness)
{
    const double dx = b.x - a.x, dy = b.y - a.y;
    const double length = sqrt(dx * dx + dy * dy);
    const double f = stiffness * (length - 1.0) / length;
    force.x += f * dx;
    force.y += f * dy;
}

__global__ void verlet(const Point* now, const Point* before, Point* next, int width, int height, double h)
{
    __shared__ Point tile[TY + 2][TX + 2];
    for (int i = threadIdx.y * TX + threadIdx.x; i < (TX + 2) * (TY + 2); i += TX * TY) {
        const int x = (int)blockIdx.x * TX + i % (TX + 2) - 1, y = (int)blockIdx.y * TY + i / (TX + 2) - 1;
        if (x >= 0 && x < width && y >= 0 && y < height)
            tile[i / (TX + 2)][i % (TX + 2)] = now[y * width + x];
    }
    __syncthreads();
    const int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int at = y * width + x, lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    const Point p = tile[ly][lx];
    if (y == 0) {
        next[at] = p;
        return;
    }
    Point force = {0.0, -0.05};
    if (x > 0)
        pull(force, p, tile[ly][lx - 1], 40.0);
    if (x + 1 < width)
        pull(force, p, tile[ly][lx + 1], 40.0);
    pull(force, p, tile[ly - 1][lx], 55.0);
    if (y + 1 < height)
        pull(force, p, tile[ly + 1][lx], 55.0);
    const Point q = before[at];
    next[at].x = p.x + 0.999 * (p.x - q.x) + h * h * force.x;
    next[at].y = p.y + 0.999 * (p.y - q.y) + h * h * force.y;
}

int main(int argc, char** argv)
{
    const int width = argument(argc, argv, 1, 33);
    const int height = argument(argc, argv, 2, 20);
    const int steps = argument(argc, argv, 3, 15);
    Random random((unsigned)argument(argc, argv, 4, 1));
    if (width < 2 || height < 2 || steps < 1)
        return 2;
    const double h = 0.05;
    std::vector<Point> start(width * height);
    for (int i = 0; i < width * height; ++i) {
        start[i].x = i % width + (random.below(2001) / 1000.0 - 1.0) * 0.2;
        start[i].y = -(i / width) + (random.below(2001) / 1000.0 - 1.0) * 0.2;
    }
    Point* dNow = upload(start);
    Point* dBefore = upload(start);
    Point* dNext = deviceZeros<Point>(width * height);
    const dim3 block(TX, TY), grid((width + TX - 1) / TX, (height + TY - 1) / TY);
    for (int s = 0; s < steps; ++s) {
        verlet<<<grid, block>>>(dNow, dBefore, dNext, width, height, h);
        Point* oldest = dBefore;
        dBefore = dNow;
        dNow = dNext;
        dNext = oldest;
    }
    GPU_OK(hipGetLastError());
    const std::vector<Point> end = download(dNow, width * height);
    std::vector<Point> now = start, before = start, next = start;
    for (int s = 0; s < steps; ++s) {
        for (int i = width; i < width * height; ++i) {
            Point force = {0.0, -0.05};
            if (i % width > 0)
                pull(force, now[i], now[i - 1], 40.0);
            if (i % width + 1 < width)
                pull(force, now[i], now[i + 1], 40.0);
            pull(force, now[i], now[i - width], 55.0);
            if (i + width < width * height)
                pull(force, now[i], now[i + width], 55.0);
            next[i].x = now[i].x + 0.999 * (now[i].x - before[i].x) + h * h * force.x;
            next[i].y = now[i].y + 0.999 * (now[i].y - before[i].y) + h * h * force.y;
        }
        before = now;
        now = next;
    }
    double worst = 0, sumX = 0, sumY = 0, moved = 0;
    for (int i = 0; i < width * height; ++i) {
        worst = std::max(worst, fabs(end[i].x - now[i].x) + fabs(end[i].y - now[i].y));
        sumX += (end[i].x - i % width) * (1 + i % 7);
        sumY += (end[i].y + i / width) * (1 + i % 5);
        moved += fabs(end[i].x - start[i].x) + fabs(end[i].y - start[i].y);
    }
    printf("%d x %d after %d steps: offsets %.6f %.6f, moved %.6f\n", width, height, steps, sumX, sumY, moved);
    for (int i = 0; i < width * height; i += width * height / 6 + 1)
        printf("point %d at %.6f %.6f\n", i, end[i].x, end[i].y);
    return finish(worst < 1e-9);
}
