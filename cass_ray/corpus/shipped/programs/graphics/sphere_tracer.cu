// SPDX-License-Identifier: MIT
// Whitted-style ray tracer for spheres above a checkered floor, with shadows and mirror
// reflections by recursion on the device. A few edge pixels may differ by rounding; the check
// bounds their share.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_TRY(expr)                                                              \
    do {                                                                            \
        const cudaError_t result = (expr);                                          \
        if (result != cudaSuccess) {                                                \
            fprintf(stderr, "%s failed with %s\n", #expr, cudaGetErrorString(result)); \
            exit(2);                                                                \
        }                                                                           \
    } while (0)

struct Vec {
    float x, y, z;
};
__host__ __device__ inline Vec operator+(Vec a, Vec b) { return Vec{a.x + b.x, a.y + b.y, a.z + b.z}; }
__host__ __device__ inline Vec operator-(Vec a, Vec b) { return Vec{a.x - b.x, a.y - b.y, a.z - b.z}; }
__host__ __device__ inline Vec operator*(float s, Vec a) { return Vec{s * a.x, s * a.y, s * a.z}; }
__host__ __device__ inline float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__host__ __device__ inline Vec unit(Vec a) { return (1.0f / sqrtf(dot(a, a))) * a; }

struct Sphere {
    Vec centre;
    float radius, grey, mirror;
};

constexpr int kMaxSpheres = 16;

struct Scene {
    Sphere sphere[kMaxSpheres];
    int count;
    Vec light;
};

__constant__ Scene cScene;

// Nearest hit along the ray: sphere index, kMaxSpheres for the floor, -1 for the sky.
__host__ __device__ inline int nearestHit(const Scene& scene, Vec origin, Vec direction, float& distance)
{
    int hit = -1;
    distance = 1e20f;
    for (int i = 0; i < scene.count; ++i) {
        const Vec oc = origin - scene.sphere[i].centre;
        const float b = dot(oc, direction), c = dot(oc, oc) - scene.sphere[i].radius * scene.sphere[i].radius;
        const float discriminant = b * b - c;
        if (discriminant <= 0.0f)
            continue;
        const float t = -b - sqrtf(discriminant);
        if (t > 1e-3f && t < distance) {
            distance = t;
            hit = i;
        }
    }
    if (direction.y < -1e-4f) {
        const float t = -origin.y / direction.y;
        if (t > 1e-3f && t < distance) {
            distance = t;
            hit = kMaxSpheres;
        }
    }
    return hit;
}

__host__ __device__ float trace(const Scene& scene, Vec origin, Vec direction, int depth)
{
    float distance;
    const int hit = nearestHit(scene, origin, direction, distance);
    if (hit < 0)
        return 0.6f + 0.3f * direction.y;
    const Vec p = origin + distance * direction;
    Vec normal = Vec{0.0f, 1.0f, 0.0f};
    float grey, mirror = 0.1f;
    if (hit == kMaxSpheres) {
        grey = ((int)floorf(p.x) + (int)floorf(p.z)) & 1 ? 0.25f : 0.75f;
    } else {
        normal = (1.0f / scene.sphere[hit].radius) * (p - scene.sphere[hit].centre);
        grey = scene.sphere[hit].grey;
        mirror = scene.sphere[hit].mirror;
    }
    const Vec toLight = unit(scene.light - p);
    float ignored;
    const bool shadow = nearestHit(scene, p, toLight, ignored) >= 0;
    const float diffuse = shadow ? 0.0f : fmaxf(dot(normal, toLight), 0.0f);
    float shade = grey * (0.15f + 0.85f * diffuse);
    if (depth > 0 && mirror > 0.0f) {
        const Vec reflected = direction - 2.0f * dot(direction, normal) * normal;
        shade = (1.0f - mirror) * shade + mirror * trace(scene, p, reflected, depth - 1);
    }
    return shade;
}

__host__ __device__ inline float pixel(const Scene& scene, int x, int y, int width, int height, int depth)
{
    const Vec eye = Vec{0.0f, 1.6f, -4.0f};
    const Vec direction = unit(Vec{(x + 0.5f - 0.5f * width) / height, (0.5f * height - y - 0.5f) / height - 0.15f, 1.0f});
    return trace(scene, eye, direction, depth);
}

__global__ void renderKernel(float* image, int width, int height, int depth)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        image[y * width + x] = pixel(cScene, x, y, width, height, depth);
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 80;
    const int height = argc > 2 ? atoi(argv[2]) : 60;
    const int depth = argc > 3 ? atoi(argv[3]) : 2;
    if (width < 1 || height < 1 || depth < 0 || depth > 6)
        return 2;
    Scene scene;
    scene.count = 5;
    scene.light = Vec{-4.0f, 8.0f, -6.0f};
    for (int i = 0; i < scene.count; ++i)
        scene.sphere[i] = Sphere{Vec{1.3f * (i - 2), 0.5f + 0.12f * i, 0.7f * (i % 3)}, 0.5f + 0.06f * i, 0.3f + 0.15f * i, 0.2f * (i % 3)};
    CUDA_TRY(cudaMemcpyToSymbol(cScene, &scene, sizeof scene));
    CUDA_TRY(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    float* image;
    CUDA_TRY(cudaMalloc(&image, width * height * sizeof(float)));
    renderKernel<<<dim3((width + 7) / 8, (height + 7) / 8), dim3(8, 8)>>>(image, width, height, depth);
    CUDA_TRY(cudaGetLastError());
    std::vector<float> host(width * height);
    CUDA_TRY(cudaMemcpy(host.data(), image, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_TRY(cudaFree(image));

    double mean = 0.0;
    int different = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            mean += host[y * width + x];
            different += fabsf(host[y * width + x] - pixel(scene, x, y, width, height, depth)) > 2e-3f;
        }
    // Rounding moves silhouettes by a pixel, and each moved pixel differs a lot.
    const bool ok = different <= width * height / 50;
    printf("image %dx%d, %d reflections\n", width, height, depth);
    printf("mean luminance %.2f\n", mean / host.size());
    printf("sky %.3f centre %.2f floor %.2f\n", host[0], host[height / 2 * width + width / 2], host[(height - 1) * width + width / 2]);
    printf("verify: %s\n", ok ? "OK" : "MISMATCH");
    return ok ? 0 : 1;
}
