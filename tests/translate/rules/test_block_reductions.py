"""Reductions over a block or a warp some of whose threads have ended: CUDA counts the others.

By the CUDA C++ Programming Guide and the PTX ISA: barriers, votes, matches and reductions are among
the threads that have not exited. Expected values are counted over these, thread by thread.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cass_ray.translate.protocol import Context
from cass_ray.translate.rules import RulesTranslator
from cass_ray.translate.rules.reverse import HipToCudaTranslator
from tests.translate.programs import output_of

SOURCE = r"""
#include <cstdio>
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

// Threads before `first` end, and with `holes` every first one of a warp.
__device__ bool ends(int first, bool holes) {
  const int t = threadIdx.x + blockDim.x * threadIdx.y;
  return t < first || (holes && t % 32 == 0);
}
__global__ void once(int first, bool holes, unsigned* out) {
  if (ends(first, holes)) return;
  const int t = threadIdx.x + blockDim.x * threadIdx.y;
  unsigned mine = __syncthreads_count(t % 3);
  mine = 2 * mine + (__syncthreads_and(t >= first) != 0);
  mine = 2 * mine + (__syncthreads_and(t != 99) != 0);
  mine = 2 * mine + (__syncthreads_or(t < first) != 0);
  out[t] = 2 * mine + (__syncthreads_or(t == 99) != 0);
}
__device__ unsigned counted(int divisor) {
  return __syncthreads_count((threadIdx.x + blockDim.x * threadIdx.y) % divisor == 0);
}
// Fewer threads in each round; what another one has written before is there behind the barrier.
__global__ void rounds(unsigned* out) {
  __shared__ unsigned before[192];
  const unsigned t = threadIdx.x + blockDim.x * threadIdx.y;
  unsigned mine = 0;
  for (unsigned round = 1; round <= 6; ++round) {
    if (t < 20 * (round - 1)) return;
    before[t] = round;
    mine = mine * 7 + counted(round);
    mine += before[191];
    mine = (mine * 3 + counted(2) + before[t ^ 1]) % 100003;
    out[t] = mine;
  }
}
__global__ void whole(unsigned* out) {
  out[threadIdx.x + blockDim.x * threadIdx.y] = __syncthreads_count(threadIdx.x % 5 == 0);
}
__global__ void warp(int first, int* out) {
  const int lane = threadIdx.x % 32;
  if (lane < first || lane == 20) return;
  int equal, differs;
  const unsigned all = __match_all_sync(~0u, 7, &equal);
  const unsigned none = __match_all_sync(~0u, lane / 31, &differs);
  int* mine = out + threadIdx.x * 10;
  mine[0] = all; mine[1] = equal; mine[2] = none + differs;
  mine[3] = __match_any_sync(~0u, lane & 8);
  mine[4] = __reduce_add_sync(~0u, lane);
  mine[5] = __reduce_min_sync(~0u, lane + 100);
  mine[6] = __reduce_max_sync(~0u, -lane - 1);
  mine[7] = __reduce_and_sync(~0u, 0x1f0u | lane);
  mine[8] = __reduce_or_sync(~0u, 1u << lane);
  mine[9] = __all_sync(~0u, lane != 20);
}
__global__ void tile(unsigned* out) {
  auto eight = cg::tiled_partition<8>(cg::this_thread_block());
  if (threadIdx.x % 8 == 2) return;
  out[threadIdx.x] = eight.match_any(threadIdx.x / 4 % 2);
}
int main() {
  unsigned* out;
  cudaMallocManaged(&out, 640 * sizeof *out);
  auto show = [&](const char* name, int count, int from = 0) {
    cudaDeviceSynchronize();
    printf("%s:", name);
    for (int i = from; i < from + count; ++i) printf(" %d", (int)out[i]);
    printf("\n");
    cudaMemset(out, 0, 640 * sizeof *out);
  };
  for (int first : {0, 1, 33, 70, 130}) {
    for (int holes : {0, 1}) {
      once<<<1, dim3(64, 3)>>>(first, holes, out);
      char name[32];
      snprintf(name, sizeof name, "once %d %d", first, holes);
      show(name, 192);
      once<<<1, 100>>>(first, holes, out);
      snprintf(name, sizeof name, "part %d %d", first, holes);
      show(name, 100);
    }
  }
  rounds<<<1, dim3(64, 3)>>>(out); show("rounds", 192);
  whole<<<1, dim3(64, 3)>>>(out); show("whole", 192);
  tile<<<1, 64>>>(out); show("tile", 64);
  for (int first : {0, 1, 9}) {
    warp<<<1, 64>>>(first, (int*)out);
    char name[32];
    snprintf(name, sizeof name, "warp %d", first);
    show(name, 10, 630);
  }
  printf("status: %s\n", cudaGetErrorString(cudaGetLastError()));
}
"""


@pytest.fixture(scope="module", params=["gfx1100", "gfx942"])
def output(request: pytest.FixtureRequest) -> dict[str, str]:
    said = output_of(SOURCE, architecture=request.param)
    assert said["status"] == "no error"
    return said


def values(text: str) -> list[int]:
    return [int(item) for item in text.split()]


@pytest.mark.amd
@pytest.mark.parametrize("holes", [0, 1])
@pytest.mark.parametrize("first", [0, 1, 33, 70, 130])
@pytest.mark.parametrize(("name", "threads"), [("once", 192), ("part", 100)])
def test_a_block_some_of_whose_threads_have_ended(
    output: dict[str, str], name: str, threads: int, first: int, holes: int
) -> None:
    there = [t for t in range(first, threads) if not (holes and t % 32 == 0)]
    result = sum(t % 3 != 0 for t in there) * 16 + 8 + 4 * (99 not in there) + (99 in there)
    expected = [result if t in there else 0 for t in range(threads)]
    assert values(output[f"{name} {first} {holes}"]) == expected


@pytest.mark.amd
def test_in_a_loop_and_a_function(output: dict[str, str]) -> None:
    mine, expected = [0] * 192, [0] * 192
    for number in range(1, 7):
        there = range(20 * (number - 1), 192)
        multiples = sum(t % number == 0 for t in there)
        even = sum(t % 2 == 0 for t in there)
        for t in there:
            mine[t] = ((mine[t] * 7 + multiples + number) * 3 + even + number) % 100003
            expected[t] = mine[t]
    assert values(output["rounds"]) == expected


@pytest.mark.amd
def test_a_kernel_that_all_threads_are_in(output: dict[str, str]) -> None:
    # 0, 5, …, 60 in each of three rows.
    assert values(output["whole"]) == [39] * 192


@pytest.mark.amd
@pytest.mark.parametrize("first", [0, 1, 9])
def test_a_warp_some_of_whose_lanes_have_ended(output: dict[str, str], first: int) -> None:
    there = [lane for lane in range(first, 32) if lane != 20]
    lanes = sum(1 << lane for lane in there) - (1 << 32)  # bit 31 is the sign
    like_31 = sum(1 << lane for lane in there if lane & 8) - (1 << 32)
    expected = [
        *(lanes, 1, 0, like_31),
        *(sum(there), first + 100, -first - 1, 0x1F0, lanes, 1),
    ]
    assert values(output[f"warp {first}"]) == expected


@pytest.mark.amd
def test_a_tile_some_of_whose_threads_have_ended(output: dict[str, str]) -> None:
    # Of each eight, ranks 0, 1 and 3 have one value and 4 to 7 another; rank 2 is no more.
    assert values(output["tile"]) == [0b1011, 0b1011, 0, 0b1011, *[0b11110000] * 4] * 8


def translated(source: str, filename: str = "a.cu", context: Context | None = None) -> str:
    engine = RulesTranslator()
    result = engine.translate(source, filename=filename, context=context or Context())
    assert not result.findings
    return result.source


KERNEL = "__global__ void k(int* p) {{ {} *p = __syncthreads_or(*p); }}\n"
PLAIN = KERNEL.format("if (*p) *p = 2;")


@pytest.mark.parametrize(
    "source",
    [
        PLAIN,
        f"#include <cuda_runtime.h>\n#include <cstdio>\n#include <math.h>\n{PLAIN}",
        # Other functions return.
        f"int f() {{ return 1; }}\n{PLAIN}int g() {{ return 2; }}\n",
        f"#define SQUARE(x) ((x) * (x)) // return\n{PLAIN}",
        KERNEL.format('/* return */ printf("return");'),
    ],
)
def test_hips_function_stays_where_no_thread_can_have_ended(source: str) -> None:
    code = translated(source)
    assert "__syncthreads_or(*p)" in code
    assert "cass::" not in code


@pytest.mark.parametrize(
    "source",
    [
        KERNEL.format("if (*p) return;"),
        # In a loop a thread may have ended in a round before.
        "__global__ void k(int* p) { for (;;) { *p = __syncthreads_or(*p); if (*p) return; } }\n",
        f"#define QUIT(x) if (x) return\n{KERNEL.format('QUIT(*p);')}",
        f"#define QUIT(x) \\\n  if (x) \\\n    return\n{KERNEL.format('QUIT(*p);')}",
        # Macros of other files, and callers.
        f'#include "quit.h"\n{PLAIN}',
        f"#include <quit.h>\n{PLAIN}",
        f"#include QUIT\n{PLAIN}",
        f"#include_next <math.h>\n#include_next <quit.h>\n{PLAIN}",
        "__device__ int f(int* p) { return __syncthreads_or(*p); }\n",
        "template <class T> __device__ void f(T* p) { *p = __syncthreads_or(*p); }\n",
        "#define ANY(p) __syncthreads_or(*p)\n",
        "#define KERNEL __global__\nKERNEL void k(int* p) { *p = __syncthreads_or(*p); }\n",
        "#define KERNEL(n) \\\n __global__ n\n"
        "__device__ int f(int* p) { return __syncthreads_or(*p); }\n",
    ],
)
def test_a_snippet_where_threads_may_have_ended(source: str) -> None:
    code = translated(source)
    assert "cass::syncthreads_or(*p)" in code
    assert code.count("#define CASS_BLOCK_REDUCTIONS\n") == 1


def test_headers_get_macros_from_files_that_include_them() -> None:
    assert "cass::syncthreads_or(*p)" in translated(PLAIN, "a.cuh")


def test_a_header_of_the_project_may_be_called_as_one_of_c() -> None:
    context = Context(files=frozenset({"math.h"}))
    source = f'#include "math.h"\n{PLAIN}'
    assert "cass::syncthreads_or(*p)" in translated(source, context=context)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # Names without underscores.
        ("__global__ void k(int* p) { *p = syncthreads_and(*p); }\n", "= __syncthreads_and(*p)"),
        ("__device__ void f(int* p) { *p = syncthreads_and(*p); }\n", "= cass::syncthreads_and("),
        (
            "__device__ int f(int p) { return ::__syncthreads_or(p); }\n",
            "::cass::syncthreads_or(p)",
        ),
        # The program's own.
        (
            "__device__ int syncthreads_or(int);\n"
            "__device__ int f(int p) { return syncthreads_or(p); }\n",
            "return syncthreads_or(p)",
        ),
        ("__device__ int f(block b) { return b.__syncthreads_or(1); }\n", "b.__syncthreads_or(1)"),
        (
            "#include <hip/hip_runtime.h>\n"
            "__device__ int f(int p) { return __syncthreads_or(p); }\n",
            "return __syncthreads_or(p)",
        ),
    ],
)
def test_names(source: str, expected: str) -> None:
    assert expected in translated(source)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("make", [KERNEL.format, lambda _: PLAIN])
def test_the_way_back(newline: str, make: Callable[[str], str]) -> None:
    source = f"#include <cuda_runtime.h>\n{make('if (*p) return;')}".replace("\n", newline)
    hip = RulesTranslator().translate(source, filename="a.cu").source
    result = HipToCudaTranslator().translate(hip, filename="a.hip")
    assert result.source == source
    assert not result.findings


def test_a_snippet_that_another_one_uses_stays_and_is_reported() -> None:
    hip = translated("__device__ int f(int p) { return __syncthreads_or(p); }\n")
    hip += "namespace cass { __device__ int any(int p) { return syncthreads_or(p); } }\n"
    result = HipToCudaTranslator().translate(hip, filename="a.hip")
    assert "#define CASS_BLOCK_REDUCTIONS" in result.source
    assert "__hip_atomic_store" in {finding.construct for finding in result.findings}
