"""Defects that were planted are named at their line; programs known to be right are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from cass_ray.translate.defects import defects
from cass_ray.translate.defects.syntax import MAXIMUM_BYTES
from cass_ray.translate.diagnostics import OTHER, diagnostic_of
from cass_ray.translate.protocol import Finding
from cass_ray.translate.rules.widths import width_findings

SEEDED = Path(__file__).parent / "seeded"
PLANTED = yaml.safe_load((SEEDED / "seeded.yaml").read_text())


def found_in(path: Path) -> list[Finding]:
    source = path.read_text()
    widths = width_findings(source) if path.suffix == ".hip" else ()
    return [*defects(source), *widths]


def test_every_planted_file_is_listed() -> None:
    files = {path.name for path in SEEDED.iterdir() if path.suffix in (".cu", ".hip")}
    assert files == {each["file"] for each in PLANTED}
    assert len(files) == 31


@pytest.mark.parametrize("planted", PLANTED, ids=lambda each: each["file"])
def test_a_planted_defect_is_found_and_nothing_else(planted: dict[str, str]) -> None:
    found = found_in(SEEDED / planted["file"])
    assert [(item.line, planted["says"] in item.message) for item in found] == [
        (planted["line"], True)
    ]
    assert diagnostic_of(found[0]) is not OTHER


CORRECT = """\
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void sum(float *data, int n) {{
    __shared__ float part[256];
    {kernel}
}}
int main(int argc, char **argv) {{
    int n = atoi(argv[1]);
    std::vector<float> values(n);
    float *device = nullptr, *pinned;
    {host}
    return cudaGetLastError() != cudaSuccess;
}}
"""


@pytest.mark.parametrize(
    "kernel",
    [
        # A tree with its barriers.
        """part[threadIdx.x] = data[threadIdx.x]; __syncthreads();
        for (int w = 128; w > 0; w /= 2) {
            if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
            __syncthreads();
        }
        if (threadIdx.x == 0) data[0] = part[0];""",
        # Each thread has a row of its own.
        """int t = threadIdx.x * 4;
        for (int i = 0; i < 4; ++i) part[t + i] = data[t + i];
        for (int i = 0; i < 4; ++i) data[t + i] = part[t + 3 - i];""",
        # Each thread has a column of its own.
        """int t = threadIdx.x;
        for (int i = 0; i < 4; ++i) part[i * 64 + t] = data[i];
        for (int i = 0; i < 4; ++i) data[i] = part[(3 - i) * 64 + t];""",
        # One thread does it all, then all read.
        """if (threadIdx.x == 0) { part[0] = data[0]; part[1] = part[0] + 1; }
        __syncthreads();
        data[threadIdx.x] = part[1];""",
        # A condition that is the same for all threads.
        "if (blockIdx.x < n) { part[threadIdx.x] = 1; __syncthreads(); data[0] = part[n]; }",
        # An elimination: below the row r and right of the column c one writes, in and left of them
        # one reads.
        """int t = threadIdx.x;
        for (int c = 0; c < n; ++c) {
            __syncthreads();
            for (int r = c + 1 + threadIdx.y; r < n; r += blockDim.y)
                for (int k = c + 1 + t; k < n; k += blockDim.x)
                    part[r * n + k] -= part[r * n + c] * part[c * n + k];
        }""",
        # Members are places of their own; thread 0 reads what it wrote.
        """__shared__ float2 both[64]; int t = threadIdx.x; both[t].x = 1; both[t].y = 1;
        __syncthreads();
        if (t < 32) { both[t].x += both[t + 32].x; both[t].y += both[t + 32].y; }
        if (t == 0) data[0] = both[0].x;""",
        # A ring of two stages.
        """int t = threadIdx.x; __shared__ int stages[2][64];
        for (int i = 0; i < n; ++i) {
            const int next = (i + 1) % 2; const int now = i % 2;
            stages[next][t] = i;
            data[t] = stages[now][63 - t];
            __syncthreads();
        }""",
        # As many rounds for all threads, whose number is a multiple of the step.
        """int most = (1 + n / 64) * 64;
        for (int i = threadIdx.x; i < most; i += 64) { __syncthreads(); }""",
        # The y of a grid is no variable y; only one of two j is a thread's own.
        """int y = threadIdx.y; if (gridDim.y > 1) __syncthreads();
        for (int j = threadIdx.x; j < n; j += 64) data[j + y] = 0;
        for (int j = 32; j > 0; j /= 2) __syncthreads();""",
        # What a lambda returns from is itself.
        """if (threadIdx.x < 64) { auto twice = [](int v) { return 2 * v; }; data[0] = twice(n); }
        __syncthreads();""",
        # A blockwise algorithm waits for all.
        """__shared__ int chosen;
        for (int i = 0; i < n; ++i) {
            int best = BlockReduce(storage).Reduce(data[i], cub::Max());
            if (threadIdx.x == 0) chosen = best;
            __syncthreads();
            data[threadIdx.x] = chosen;
        }""",
        # Sums by atomics.
        """part[threadIdx.x] = 0; __syncthreads();
        atomicAdd(&part[n % 256], 1.0f); atomicAdd(&part[threadIdx.x], 1.0f); __syncthreads();
        data[threadIdx.x] = part[threadIdx.x];""",
    ],
)
def test_correct_kernels_are_left_alone(kernel: str) -> None:
    assert defects(CORRECT.format(kernel=kernel, host="")) == ()


@pytest.mark.parametrize(
    "host",
    [
        # Between two devices, and from the host.
        """cudaMalloc(&device, 4); cudaMemcpy(device, values.data(), 4, cudaMemcpyHostToDevice);
        cudaMemcpy(device + 1, device, 4, cudaMemcpyDeviceToDevice);""",
        # An array of device pointers is host memory, what is in it is not.
        """float *parts[4]; cudaMalloc(&parts[0], 4);
        cudaMemcpy(parts[0], values.data(), 4, cudaMemcpyHostToDevice);
        cudaMemcpy(&n, parts[0], 4, cudaMemcpyDeviceToHost);""",
        # A pointer that is freed and gets a value again.
        "cudaMalloc(&device, 4); cudaFree(device); cudaMalloc(&device, 8); cudaFree(device);",
        "cudaMalloc(&device, 4); cudaFree(device); device = nullptr; cudaFree(device);",
        # Freed on one way, and on the other one.
        "if (n) { cudaFree(device); return 1; } cudaFree(device);",
        # Addresses and sizes are no reads.
        """cudaMalloc(&device, sizeof(*device));
        cudaMemcpy(&device[n], &n, 4, cudaMemcpyHostToDevice);""",
        # Pinned memory is read by kernels.
        "cudaMallocHost(&pinned, 4); sum<<<1, 1>>>(pinned, 1); cudaDeviceSynchronize();",
        # An asynchronous copy that is awaited.
        """cudaMallocHost(&pinned, 4); cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost);
        cudaStreamSynchronize(0); printf("%g", pinned[0]);""",
        # All bytes of these are the same.
        "cudaMalloc(&device, 4); cudaMemset(device, 0, 4); cudaMemset(device, 0xff, 4);",
        # A device lambda.
        "cudaMalloc(&device, 4); each<<<1, 1>>>([=] __device__(int i) { device[i] = 1; });",
        # A launch that shall fail: what it says is looked at, and the program goes on.
        """sum<<<1, 4096>>>(pinned, 1);  // too many
        const cudaError_t peeked = cudaPeekAtLastError(); // the first to ask
        printf("%s", peeked == cudaSuccess ? "?" : cudaGetErrorString(peeked));""",
        # Zero, however it is written.
        "int *p; cudaMalloc(&p, 4); cudaMemset(p, 0x0, 4);",
        # A name that two places declare differently is not known.
        "{ float *p = new float[4]; } { float *p; cudaMalloc(&p, 4); sum<<<1, 1>>>(p, 1); }",
    ],
)
def test_correct_hosts_are_left_alone(host: str) -> None:
    assert defects(CORRECT.format(kernel="", host=host)) == ()


@pytest.mark.parametrize(
    "after",
    [
        'cudaError_t e = cudaGetLastError(); if (e != cudaSuccess) { printf("failed"); exit(1); }',
        "cudaError_t e = cudaGetLastError(); checkErrors(e);",
        "checkErrors(cudaGetLastError());",
    ],
)
def test_a_launch_that_cannot_run_is_named_where_its_error_ends_the_program(after: str) -> None:
    found = defects(CORRECT.format(kernel="", host=f"sum<<<1, 2048>>>(pinned, 1); {after}"))
    assert [diagnostic_of(item).code for item in found] == ["CASS1022"]


@pytest.mark.parametrize(
    ("source", "number"),
    [
        # The grammar takes this vector for the declaration of a function.
        ("template <typename T> void in(T *to, size_t count) { std::vector<T> from(count); "
         "cudaMemcpy(from.data(), to, count, cudaMemcpyHostToDevice); }", "CASS1018"),
        ("void in(int *to) { int one = 1; cudaMemcpy(to, &one, 4, cudaMemcpyDeviceToHost); }",
         "CASS1018"),
        ("__device__ void all() { if (threadIdx.x < 7) __syncthreads(); }", "CASS1025"),
        ("__device__ int next(int v) { __shared__ int s[65]; s[threadIdx.x] = v; "
         "return s[threadIdx.x + 1]; }", "CASS1026"),
        ("__global__ void count(int k) { __shared__ int s[64]; s[threadIdx.x] = 0; "
         "atomicAdd(&s[k], 1); }", "CASS1026"),
        ("__global__ void f(int *p, int n) { int i = threadIdx.x; int v = i < n ? p[i] : 0; }\n"
         "void g(std::vector<int> &v, int *p) { int n = v.size(); f<<<n / 256, 256>>>(p, n); "
         "check(cudaGetLastError()); }", "CASS1022"),
    ],
)  # fmt: skip
def test_what_edits_of_right_programs_showed(source: str, number: str) -> None:
    assert [diagnostic_of(item).code for item in defects(source)] == [number]


def test_a_part_of_a_program_is_not_asked_for_its_check_of_launches() -> None:
    part = "__global__ void f() {}\nvoid g() { f<<<1, 1>>>(); }\n"
    assert defects(part) == ()
    assert len(defects(part + "int main() { g(); }")) == 1


def test_a_grid_of_a_number_that_is_a_multiple_is_left_alone() -> None:
    source = """__global__ void f(int *p, int n) { int i = threadIdx.x; if (i < n) p[i] = 0; }
    void g(int *p, int b) { int n = b * 256; f<<<n / 256, 256>>>(p, n); check(cudaGetLastError()); }
    """
    assert defects(source) == ()


def test_a_flat_matrix_without_its_barrier_is_named() -> None:
    kernel = """int t = threadIdx.x;
    part[n * 32 + t] = data[t];
    data[t] = part[n * 32 + t + 1];"""
    found = defects(CORRECT.format(kernel=kernel, host=""))
    assert [diagnostic_of(item).code for item in found] == ["CASS1026"]


def test_broken_and_huge_sources_end() -> None:
    assert defects("__global__ void f( {{{{ <<<") == ()
    assert defects("int x;" * (MAXIMUM_BYTES // 6 + 1)) == ()
    deep = "__global__ void f(int *p) { __shared__ int s[4]; s[0] = " + "(" * 3000 + "1"
    assert defects(deep + ")" * 3000 + "; }") == ()
    loops = "for (;;) {" * 200
    assert (
        defects(f"__global__ void f() {{ __shared__ int s[4]; {loops} s[0]++; {'}' * 200} }}") == ()
    )
