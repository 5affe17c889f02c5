// SPDX-License-Identifier: MIT
// Connected components of a binary picture by label propagation: labels start as pixel indices,
// fall to the neighbourhood minimum and follow their own label, until nothing changes.
#include "../include/image.cuh"
#include "../include/pattern.cuh"

#include <cstdlib>
#include <map>

using imagekit::DeviceImage;
using imagekit::View;

__global__ void start(View<unsigned char> image, View<int> label, int threshold)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < image.size())
        label.data[i] = image.data[i] > threshold ? i : -1;
}

__global__ void propagate(View<int> label, int* changed)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (!label.contains(x, y) || label.at(x, y) < 0)
        return;
    const int own = label.at(x, y);
    int least = own;
    const int dx[4] = {-1, 1, 0, 0}, dy[4] = {0, 0, -1, 1};
    for (int k = 0; k < 4; ++k)
        if (label.contains(x + dx[k], y + dy[k])) {
            const int other = label.at(x + dx[k], y + dy[k]);
            if (other >= 0 && other < least)
                least = other;
        }
    if (least < own) {
        atomicMin(&label.data[own], least);  // also lowers the pixel that gave this label
        atomicMin(&label.at(x, y), least);
        *changed = 1;
    }
}

__global__ void follow(View<int> label)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= label.size() || label.data[i] < 0)
        return;
    int root = label.data[i];
    while (label.data[root] < root)
        root = label.data[root];
    label.data[i] = root;
}

int main(int argc, char** argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 96, height = argc > 2 ? atoi(argv[2]) : 64;
    const unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 3u;
    if (width < 1 || height < 1)
        return 2;
    const int threshold = 110;
    const std::vector<unsigned char> picture = imagekit::discs(width, height, 14, 30, seed);
    DeviceImage<unsigned char> image(picture, width, height);
    DeviceImage<int> label(width, height);
    int *changed, again = 1, rounds = 0;
    IMAGEKIT_CHECK(cudaMalloc(&changed, sizeof(int)));
    const int pixels = width * height;
    const dim3 block(16, 8), grid = imagekit::tiles(width, height, block);
    start<<<(pixels + 127) / 128, 128>>>(image.view(), label.view(), threshold);
    while (again && rounds < pixels) {
        IMAGEKIT_CHECK(cudaMemset(changed, 0, sizeof(int)));
        propagate<<<grid, block>>>(label.view(), changed);
        follow<<<(pixels + 127) / 128, 128>>>(label.view());
        IMAGEKIT_CHECK(cudaGetLastError());
        IMAGEKIT_CHECK(cudaMemcpy(&again, changed, sizeof(int), cudaMemcpyDeviceToHost));
        ++rounds;
    }
    IMAGEKIT_CHECK(cudaFree(changed));
    const std::vector<int> labels = label.download();

    // Flood fill in index order gives each component its smallest index.
    std::vector<int> expected(pixels, -1), stack;
    for (int s = 0; s < pixels; ++s) {
        if (picture[s] <= threshold || expected[s] >= 0)
            continue;
        stack.assign(1, s);
        expected[s] = s;
        while (!stack.empty()) {
            const int p = stack.back();
            stack.pop_back();
            const int x = p % width, near[4] = {x > 0 ? p - 1 : -1, x + 1 < width ? p + 1 : -1, p - width, p + width};
            for (int q : near)
                if (q >= 0 && q < pixels && picture[q] > threshold && expected[q] < 0) {
                    expected[q] = s;
                    stack.push_back(q);
                }
        }
    }
    std::map<int, int> area;
    for (int l : labels)
        if (l >= 0)
            ++area[l];
    int largest = 0;
    for (const auto& entry : area)
        largest = entry.second > largest ? entry.second : largest;
    printf("image %dx%d, %d components, largest has %d pixels\n", width, height, (int)area.size(), largest);
    return imagekit::report(labels == expected);
}
