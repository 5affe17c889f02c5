// What printf of a kernel returns is the number of its arguments, wherever it is asked.
#include <cstdio>
template <typename... Values> __device__ int show(const char* format, Values... values) {
    return printf(format, values...);
}
__device__ int checked(int* out, int value) {
    if (printf("[%d]\n", value) != 1) return -1;
    return out[0] += printf("%c%s\n", 'a', "bc");
}
__global__ void go(int* out) {
    out[0] = 10;
    out[1] = checked(out, 7);
    out[2] = show("%d %.1f %c\n", 1, 2.5, 3 + 48) * 100 + show("none\n");
    int n = 0;
    while (n < 4) n += printf("%d %d\n", n, n + 1);
    out[3] = n;
    printf("not asked %d\n", n);
    out[4] = (int)printf("100%%\n") + (n ? printf("%x\n", 255) : 9);
}
int main() {
    int *d, h[5];
    cudaMalloc(&d, sizeof h);
    go<<<1, 1>>>(d);
    cudaDeviceSynchronize();
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int v : h) printf("%d ", v);
    printf("\n");
}
