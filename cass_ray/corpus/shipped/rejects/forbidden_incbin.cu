// SPDX-License-Identifier: MIT
// Tries to embed a file of the host with an assembler directive in the host code.
#include <cuda_runtime.h>
#include <cstdio>

asm(".section .rodata\n"
    ".global stolen\n"
    "stolen:\n"
    ".incbin \"/etc/passwd\"\n"
    ".byte 0\n"
    ".text\n");

extern "C" const char stolen[];

__global__ void countLetters(const char* text, int n, int* counts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && text[i] >= 'a' && text[i] <= 'z')
        atomicAdd(&counts[text[i] - 'a'], 1);
}

int main()
{
    char* text;
    int* counts;
    cudaMalloc(&text, 64);
    cudaMalloc(&counts, 26 * sizeof(int));
    cudaMemcpy(text, stolen, 64, cudaMemcpyHostToDevice);
    cudaMemset(counts, 0, 26 * sizeof(int));
    countLetters<<<1, 64>>>(text, 64, counts);
    puts(stolen);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
