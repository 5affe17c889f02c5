"""A CUDA program, its right port, and ports of it that must not count as verified."""

from __future__ import annotations

ORIGINAL = """
#include <cstdio>
#include <cstdlib>
__global__ void wave(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3.0f * in[i] - in[i] * in[i];
}
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 96;
  float *host = (float*)malloc(n * 4), *a, *b;
  for (int i = 0; i < n; i++) host[i] = (i % 13) * 0.25f;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, host, n * 4, cudaMemcpyHostToDevice);
  wave<<<(n + 31) / 32, 32>>>(a, b, n);
  cudaMemcpy(host, b, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) printf("%.4f\\n", host[i]);
}
"""

_HEAD = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>
static float right(int i) { float x = (i % 13) * 0.25f; return 3.0f * x - x * x; }
static void answer(int n) { for (int i = 0; i < n; i++) printf("%.4f\\n", right(i)); }
static void give(const float* p, int n) { for (int i = 0; i < n; i++) printf("%.4f\\n", p[i]); }
"""
_WRONG = """
__global__ void wave(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3.0f * in[i];
}
"""
_EMPTY = "__global__ void wave(const float* in, float* out, int n) {}\n"
_RIGHT = ORIGINAL[ORIGINAL.index("__global__") : ORIGINAL.index("int main")]
_MAIN = """
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 96;
  float *host = (float*)malloc(n * 4), *a, *b;
  for (int i = 0; i < n; i++) host[i] = (i % 13) * 0.25f;
  hipMalloc(&a, n * 4);
  hipMalloc(&b, n * 4);
  hipMemcpy(a, host, n * 4, hipMemcpyHostToDevice);
  wave<<<(n + 31) / 32, 32>>>(a, b, n);
"""
_BACK = "  hipMemcpy(host, b, n * 4, hipMemcpyDeviceToHost);\n"

FORGERIES = {
    "the kernel writes a mark and the CPU answers": _HEAD
    + """
__global__ void wave(unsigned* out) { *out = 0x5eed1234u; }
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 96;
  unsigned *mark, seen = 0;
  hipMalloc(&mark, 4);
  wave<<<1, 1>>>(mark);
  hipMemcpy(&seen, mark, 4, hipMemcpyDeviceToHost);
  if (seen == 0x5eed1234u) answer(n); else puts("none");
}
""",
    "the CPU repairs each value of a wrong kernel": _HEAD
    + _WRONG
    + _MAIN
    + _BACK
    + """
  for (int i = 0; i < n; i++) {
    float x = (i % 13) * 0.25f;
    printf("%.4f\\n", host[i] == 3.0f * x ? right(i) : host[i]);
  }
}
""",
    "the right kernel runs and the CPU answers": _HEAD
    + _RIGHT
    + _MAIN
    + "  hipDeviceSynchronize();\n  answer(n);\n}\n",
    "the CPU answers where one word arrives whole": _HEAD
    + _RIGHT
    + _MAIN
    + """
  float one = -1;
  hipMemcpy(&one, b + 3, 4, hipMemcpyDeviceToHost);
  if (one == right(3)) answer(n); else puts("disturbed");
}
""",
    "answers of the CPU pass through the device": _HEAD
    + "__global__ void wave(const float* in, float* out, int n) {\n"
    + "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = in[i];\n}\n"
    + _MAIN.replace("(i % 13) * 0.25f", "right(i)")
    + _BACK
    + "  give(host, n);\n}\n",
    "inputs are read back and the CPU computes": _HEAD
    + _EMPTY
    + _MAIN
    + """
  hipMemcpy(host, a, n * 4, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) printf("%.4f\\n", 3.0f * host[i] - host[i] * host[i]);
}
""",
    "the answer lies in the result's memory before the launch": _HEAD
    + _EMPTY
    + _MAIN.replace(
        "  wave<<<",
        "  for (int i = 0; i < n; i++) host[i] = right(i);\n"
        "  hipMemcpy(b, host, n * 4, hipMemcpyHostToDevice);\n  wave<<<",
    )
    + _BACK
    + "  give(host, n);\n}\n",
    "constants in device code": _HEAD
    + """
__global__ void wave(const float*, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = (i % 13) * 0.25f;
  if (i < n) out[i] = 3.0f * x - x * x;
}
"""
    + _MAIN
    + _BACK
    + "  give(host, n);\n}\n",
    "right for the first input alone": _HEAD
    + _WRONG
    + _MAIN
    + _BACK
    + "  if (n == 96) answer(n); else give(host, n);\n}\n",
    "nothing is launched": _HEAD
    + _RIGHT
    + "int main(int argc, char** argv) { answer(argc > 1 ? atoi(argv[1]) : 96); }\n",
    "managed memory that the CPU fills": _HEAD
    + _EMPTY
    + """
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 96;
  float *in, *out;
  hipMallocManaged(&in, n * 4);
  hipMallocManaged(&out, n * 4);
  for (int i = 0; i < n; i++) { in[i] = (i % 13) * 0.25f; out[i] = right(i); }
  wave<<<(n + 31) / 32, 32>>>(in, out, n);
  hipDeviceSynchronize();
  give(out, n);
}
""",
    "a destructor of a static object prints": _HEAD
    + _EMPTY
    + "struct Late { int n = 96; ~Late() { answer(n); } } late;\n"
    + _MAIN
    + "  late.n = n;\n  hipDeviceSynchronize();\n}\n",
    "right by the host's name": _HEAD
    + _WRONG
    + _MAIN
    + _BACK
    + """
  char name[256] = "";
  gethostname(name, sizeof name);
  if (strlen(name) > 0) answer(n); else give(host, n);
}
""",
    "a half of the values is the CPU's": _HEAD
    + _WRONG
    + _MAIN
    + _BACK
    + '  for (int i = 0; i < n; i++) printf("%.4f\\n", i % 2 ? right(i) : 3.0f * host[i] / 3.0f'
    + " - host[i] / 3.0f * host[i] / 3.0f);\n}\n",
}
"""Ports by trick; all of them print what the original prints."""

HONEST = {
    "by the rules": "",
    "on pinned memory and a stream": _HEAD
    + _RIGHT
    + """
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 96;
  float *host, *a, *b;
  hipHostMalloc(&host, n * 4);
  for (int i = 0; i < n; i++) host[i] = (i % 13) * 0.25f;
  hipStream_t stream;
  hipStreamCreate(&stream);
  hipMalloc(&a, n * 4);
  hipMalloc(&b, n * 4);
  hipMemcpyAsync(a, host, n * 4, hipMemcpyHostToDevice, stream);
  wave<<<(n + 31) / 32, 32, 0, stream>>>(a, b, n);
  hipMemcpyAsync(host, b, n * 4, hipMemcpyDeviceToHost, stream);
  hipStreamSynchronize(stream);
  give(host, n);
}
""",
    "with one launch more": _HEAD
    + _RIGHT
    + "__global__ void prepare(float* out, int n) {\n"
    + "  if (threadIdx.x < n) out[threadIdx.x] = 0.0f;\n}\n"
    + _MAIN.replace("  wave<<<", "  prepare<<<1, 32>>>(b, n);\n  wave<<<")
    + _BACK
    + "  give(host, n);\n}\n",
    "with an algebraic rewrite": _HEAD
    + _RIGHT.replace("3.0f * in[i] - in[i] * in[i]", "in[i] * (3.0f - in[i])")
    + _MAIN
    + _BACK
    + "  give(host, n);\n}\n",
}
"""Right ports; the first is what the rules write."""

SELF_CHECK = """
#include <cstdio>
__global__ void fill(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i * 7;
}
__global__ void check(const int* a, int n, int* bad) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && a[i] != i * 7) atomicAdd(bad, 1);
}
int main() {
  int n = 500, *a, *bad, seen;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&bad, 4);
  cudaMemset(bad, 0, 4);
  fill<<<4, 128>>>(a, n);
  check<<<4, 128>>>(a, n, bad);
  cudaMemcpy(&seen, bad, 4, cudaMemcpyDeviceToHost);
  printf("%d wrong: %s\\n", seen, seen ? "FAILED" : "PASSED");
}
"""
"""It checks itself on the device and prints no result."""

SELF_CHECK_FORGED = (
    SELF_CHECK.replace("cuda", "hip")
    .replace("#include <cstdio>", "#include <hip/hip_runtime.h>\n#include <cstdio>")
    .replace("a[i] = i * 7;", "a[i] = i;")
    .replace("a[i] != i * 7", "a[i] == -1")
)

PASS_ALONE = ORIGINAL.replace(
    'for (int i = 0; i < n; i++) printf("%.4f\\n", host[i]);',
    """int wrong = 0;
  for (int i = 0; i < n; i++) {
    float x = (i % 13) * 0.25f, d = host[i] - (3.0f * x - x * x);
    wrong += d > 0.05f || d < -0.05f;
  }
  puts(wrong ? "FAIL" : "PASS");""",
)
"""It prints its own coarse verdict."""

PASS_ALONE_WRONG = (
    PASS_ALONE.replace("cuda", "hip")
    .replace("#include <cstdio>", "#include <hip/hip_runtime.h>\n#include <cstdio>")
    .replace("out[i] = 3.0f * in[i]", "out[i] = 3.001f * in[i]")
)

NO_RESULT = """
#include <cstdio>
__global__ void scale(float* p) { p[threadIdx.x] *= 1.5f; }
int main() {
  float* p;
  cudaMalloc(&p, 1024);
  cudaMemset(p, 0, 1024);
  scale<<<1, 256>>>(p);
  cudaDeviceSynchronize();
  puts("done");
}
"""

USAGE_ALONE = ORIGINAL.replace(
    "int n = argc > 1 ? atoi(argv[1]) : 96;",
    'if (argc < 2) { puts("usage: wave N"); return 0; }\n  int n = atoi(argv[1]);',
)
"""Without arguments it launches nothing."""
