"""What CUDA 13 took away from the interfaces of the runtime and the driver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.unit import CompileFailure, Unit
from tests.toolchain.nvidia.test_texture_references import nvidia, unit

__all__ = ["nvidia"]

KERNEL = "__global__ void k(int* p) { *p = 1; }\n"
DRIVER = "#include <cuda.h>\n"
VALUES = {"INCOMPLETE_PARAMETER_LIST": 10, "PARSE_ERROR": 12, "LICENSE_ERROR": 15}
RUNTIME_FLAG, DRIVER_FLAG = "-include cass_removed_runtime.h", "-include cass_removed_driver.h"


@pytest.mark.parametrize(
    ("source", "call", "flag"),
    [
        # "CUDA 13.0 Release Notes", removed members of cudaDeviceProp: ask for the attribute.
        ("int f() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); return p.clockRate; }",
         "cudaDeviceGetAttribute", RUNTIME_FLAG),
        ("int f() { struct cudaDeviceProp p = {0}; cudaGetDeviceProperties(&p, 0);"
         " return p.name[0] + p.memoryClockRate; }", "cudaDeviceGetAttribute", RUNTIME_FLAG),
        ("struct cudaDeviceProp; int g(const cudaDeviceProp&);"
         "int g(const cudaDeviceProp& p) { return p.computeMode == cudaComputeModeProhibited; }\n"
         "int f() { static cudaDeviceProp p[2]; int d; cudaGetDeviceProperties(&p[1], 1);"
         " return g(p[1]) + cudaChooseDevice(&d, p); }", "cudaDeviceGetAttribute", RUNTIME_FLAG),
        ("int f(cudaDeviceProp* p) { cudaGetDeviceProperties(p, 0);"
         " return p->deviceOverlap + p->kernelExecTimeoutEnabled; }", "cudaDeviceGetAttribute",
         RUNTIME_FLAG),
        ("int f(cudaDeviceProp* p) { cudaGetDeviceProperties(p, 0);"
         " return p->cooperativeMultiDeviceLaunch; }", "cudaGetDeviceProperties", RUNTIME_FLAG),
        ("int f(int* p, cudaStream_t s) { return cudaMemPrefetchAsync(p, 4, 0, s); }",
         "cudaMemPrefetchAsync", RUNTIME_FLAG),
        ("int f(int* p) { return cudaMemPrefetchAsync(p, 4, cudaCpuDeviceId); }",
         "cudaMemPrefetchAsync", RUNTIME_FLAG),
        ("int f(int* p, int d) {"
         " return cudaMemAdvise(p, 4, cudaMemAdviseSetPreferredLocation, d); }",
         "cudaMemAdvise", RUNTIME_FLAG),
        (f"{DRIVER}int f(CUcontext* c, CUdevice d) {{ return cuCtxCreate(c, 0, d); }}",
         "cuCtxCreate_v4", DRIVER_FLAG),
        (f"{DRIVER}int f(CUcontext* c, CUdevice d) {{"
         " return cuCtxCreate(c, CU_CTX_SCHED_AUTO, d); }", "cuCtxCreate_v4", DRIVER_FLAG),
        (f"{DRIVER}int f(CUdeviceptr p, CUdevice d) {{ return cuMemPrefetchAsync(p, 4, d, 0); }}",
         "cuMemPrefetchAsync_v2", DRIVER_FLAG),
        (f"{DRIVER}int f(CUdeviceptr p) {{"
         " return cuMemAdvise(p, 4, CU_MEM_ADVISE_SET_READ_MOSTLY, CU_DEVICE_CPU); }",
         "cuMemAdvise_v2", DRIVER_FLAG),
    ],
)  # fmt: skip
def test_a_call_of_cuda_12_is_one_of_cuda_13(
    nvidia: NvidiaToolchain, tmp_path: Path, source: str, call: str, flag: str
) -> None:
    made = nvidia.compile(unit(tmp_path, f"{source}\n{KERNEL}"))
    assert call in made.host_assembly
    assert made.flags.endswith(flag)


@pytest.mark.parametrize(
    "call",
    [
        "cudaGraphAddDependencies(g, a, a + 1, 1)",
        "cudaGraphRemoveDependencies(g, a, a + 1, 1)",
        "cudaGraphGetEdges(g, nullptr, nullptr, &n)",
        "cudaGraphNodeGetDependencies(*a, nullptr, &n)",
        "cudaStreamUpdateCaptureDependencies(s, a, 1)",
        "cudaStreamGetCaptureInfo(s, &t, &id, &g, &d, &n)",
    ],
)
def test_functions_of_graphs_go_without_data_of_edges(
    nvidia: NvidiaToolchain, tmp_path: Path, call: str
) -> None:
    variables = "size_t n; cudaStreamCaptureStatus t; const cudaGraphNode_t* d;"
    of_graph = "int f(cudaGraph_t g, cudaGraphNode_t* a, cudaStream_t s, unsigned long long id)"
    made = nvidia.compile(unit(tmp_path, f"{of_graph} {{ {variables} return {call}; }}\n{KERNEL}"))
    assert made.flags.endswith("-include cass_removed_graphs.h")


def test_a_unit_is_given_all_that_it_needs(nvidia: NvidiaToolchain, tmp_path: Path) -> None:
    source = (
        f"{DRIVER}texture<int> t;\n"
        "__global__ void k(int* p) { *p = tex1Dfetch(t, 1); }\n"
        "int f(CUcontext* c) { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);"
        " return cuCtxCreate(c, 0, 0) + p.clockRate; }\n"
    )
    flags = nvidia.compile(unit(tmp_path, source)).flags
    names = ("cass_removed.h", "cass_removed_runtime.h", "cass_removed_driver.h")
    assert all(f"-include {name}" in flags for name in names)


def test_a_program_of_cuda_13_is_compiled_as_it_is(nvidia: NvidiaToolchain, tmp_path: Path) -> None:
    source = (
        "int f(int* p) { cudaDeviceProp q; cudaGetDeviceProperties(&q, 0);"
        " cudaMemLocation l = {}; return cudaMemPrefetchAsync(p, 4, l, 0) + q.major; }\n"
    )
    made = nvidia.compile(unit(tmp_path, source + KERNEL))
    assert "cass_removed" not in made.flags


@pytest.mark.parametrize(
    "source",
    [
        "int f() { cudaDeviceProp p; return p.noSuchMember; }\n",
        "int f() { cudaDeviceProp p; return p.clockRate + p.noSuchMember; }\n",
        "struct P { int major; }; int f() { P p; return p.clockRate; }\n",
        "int f(void* p) { return cudaMemPrefetchAsync(p); }\n",
        f"{DRIVER}int f(CUcontext* c) {{ return cuCtxCreate(c); }}\n",
    ],
)
def test_what_no_release_had_is_the_compilers_error(
    nvidia: NvidiaToolchain, tmp_path: Path, source: str
) -> None:
    with pytest.raises(CompileFailure) as failed:
        nvidia.compile(unit(tmp_path, source + KERNEL))
    assert failed.value.reason is Reason.COMPILE_ERROR


@pytest.mark.parametrize("form", ["<nvToolsExt.h>", '"nvToolsExt.h"', "<nvtx.h>"])
def test_the_header_of_nvtx_2_is_that_of_nvtx_3(
    nvidia: NvidiaToolchain, tmp_path: Path, form: str
) -> None:
    """Also from a header of the tree."""
    (tmp_path / "given" / "nvtx3").mkdir(parents=True)
    (tmp_path / "given" / "nvtx3" / "nvToolsExt.h").write_text("int nvtxRangePushA(const char*);\n")
    (tmp_path / "given" / "nvtx.h").write_text("#include <nvToolsExt.h>\n")
    source = f'#include {form}\nint f() {{ return nvtxRangePushA("f"); }}\n'
    given = replace(unit(tmp_path, source + KERNEL), system_directories=(tmp_path / "given",))
    made = nvidia.compile(given)
    assert "nvtxRangePushA" in made.host_assembly
    assert made.flags.endswith("-include cass_removed_nvtx.h")


def test_results_of_cufft_that_were_taken_away_have_their_old_values(
    nvidia: NvidiaToolchain, tmp_path: Path
) -> None:
    """Of a header that stands for CUDA 13's, which has none of them ("cuFFT API Reference" of CUDA
    12, cufftResult: 10, 12 and 15)."""
    (tmp_path / "cufft.h").write_text(
        "#pragma once\nenum cufftResult { CUFFT_SUCCESS, CUFFT_NO_WORKSPACE = 13 };\n"
    )
    cases = " ".join(f'case CUFFT_{name}: return "old";' for name in VALUES)
    values = "".join(
        f'static_assert(CUFFT_{name} == CUFFT_NO_WORKSPACE + {value - 13}, "");\n'
        for name, value in VALUES.items()
    )
    source = "#include <cufft.h>\n"
    source += f"const char* f(cufftResult r) {{ switch (r) {{ {cases} default: return 0; }} }}\n"
    given = replace(unit(tmp_path, source + values + KERNEL), system_directories=(tmp_path,))
    assert nvidia.compile(given).flags.endswith("-include cass_removed_cufft.h")


@pytest.mark.parametrize(
    ("expression", "instruction"),
    [
        ("__shfl(p[0], 3)", "shfl.sync.idx.b32"),
        ("__shfl_up(p[0], 1, 16)", "shfl.sync.up.b32"),
        ("__shfl_down((float)p[0], 1)", "shfl.sync.down.b32"),
        ("__shfl_xor((double)p[0], 2)", "shfl.sync.bfly.b32"),
        ("__any(p[0] > 1)", "vote.sync.any.pred"),
        ("__all(p[0] > 1)", "vote.sync.all.pred"),
        ("__popc(__ballot(p[0] > 1))", "vote.sync.ballot.b32"),
    ],
)
def test_warp_functions_without_a_mask_are_of_the_active_threads(
    nvidia: NvidiaToolchain, tmp_path: Path, expression: str, instruction: str
) -> None:
    source = f"__global__ void k(int* p) {{ if (p[1]) p[threadIdx.x] = {expression}; }}\n"
    made = nvidia.compile(unit(tmp_path, source), want_ptx=True)
    text = made.ptx["sm_80"]
    assert instruction in text and "activemask.b32" in text
    assert made.flags.endswith("-include cass_removed_warp.h")


def test_votes_without_a_mask_stand_beside_libcu(nvidia: NvidiaToolchain, tmp_path: Path) -> None:
    """Its ``<functional>`` has a class ``__any`` with a constructor that takes ``...``."""
    source = "#include <cuda/std/functional>\n"
    source += "__global__ void k(int* p) { p[threadIdx.x] = __any(p[0] > 1); }\n"
    made = nvidia.compile(unit(tmp_path, source), want_ptx=True)
    assert "vote.sync.any.pred" in made.ptx["sm_80"]


INLINE = """__global__ void k(int* p) {
  int r = p[threadIdx.x];
  asm volatile("{ .reg .s32 t; .reg .pred q; shfl.up.b32 t|q, %1, 1, 0; @q add.s32 %0, t, %1; }"
               : "+r"(r) : "r"(r));
  p[threadIdx.x] = r;
}
"""


def test_inline_shuffles_without_a_mask_are_of_the_active_threads(
    nvidia: NvidiaToolchain, tmp_path: Path
) -> None:
    made = nvidia.compile(unit(tmp_path, INLINE), want_ptx=True)
    assert "shfl.sync.up.b32 t|q, %r1, 1, 0, cass_active;" in made.ptx["sm_80"]
    assert made.flags.endswith("-include cass_removed_masks.h")
    assert made.cubins["sm_80"]


def test_an_inline_shuffle_under_a_condition_is_refused_as_it_is(
    nvidia: NvidiaToolchain, tmp_path: Path
) -> None:
    under = "mov.u32 t, 0; setp.ne.u32 q, %1, 0; @q shfl.up.b32 t, %1"
    source = INLINE.replace("shfl.up.b32 t|q, %1", under)
    with pytest.raises(CompileFailure, match=r"Instruction 'shfl' without '\.sync'"):
        nvidia.compile(unit(tmp_path, source))


@pytest.mark.parametrize(
    ("included", "call"),
    [
        ("device_vector", "thrust::stable_sort_by_key(v.begin(), v.end(), v.begin());"),
        ("device_vector", "thrust::exclusive_scan(v.begin(), v.end(), v.begin());"),
        ("device_vector", "return *thrust::max_element(v.begin(), v.end());"),
        ("device_vector", "return *thrust::make_counting_iterator(3);"),
        ("device_vector", "return thrust::inner_product(v.begin(), v.end(), v.begin(), 0);"),
        ("device_vector", "thrust::sort(thrust::seq, &v[0], &v[0] + 1);"),
    ],
)
def test_a_header_of_thrust_that_others_included(
    nvidia: NvidiaToolchain, tmp_path: Path, included: str, call: str
) -> None:
    body = f"int f(thrust::{included}<int>& v) {{ {call} return 0; }}"
    made = nvidia.compile(unit(tmp_path, f"#include <thrust/{included}.h>\n{body}\n{KERNEL}"))
    assert made.cubins["sm_80"]


@pytest.mark.parametrize(
    "source",
    [
        "__global__ void k(int* p) { assert(blockDim.x == 32); *p = 1; }",
        f"uint32_t f(uint8_t a) {{ return a; }}\n{KERNEL}",
        f"template <class T, uint32_t N> struct S {{ T t[N]; }};\n{KERNEL}",
        f"int f(int* p) {{ return std::accumulate(p, p + 2, 0); }}\n{KERNEL}",
        f"int f(std::vector<std::string>& v) {{ return v[0].size(); }}\n{KERNEL}",
        f'void f() {{ std::cout << std::string("x") << std::endl; }}\n{KERNEL}',
        f'void f() {{ throw std::runtime_error("x"); }}\n{KERNEL}',
        f"float f() {{ return FLT_MAX; }}\n{KERNEL}",
    ],
)
def test_a_header_of_the_standard_library_that_others_included(
    nvidia: NvidiaToolchain, tmp_path: Path, source: str
) -> None:
    made = nvidia.compile(unit(tmp_path, f"{source}\n"))
    assert made.cubins["sm_80"]
    assert made.flags.endswith("-include cass_standard.h")


@pytest.mark.parametrize(
    "source",
    ["int f() { return undeclared_t(1); }", "int f() { return std::no_such(1); }",
     "struct string; string f() { return string(); }"],
)  # fmt: skip
def test_other_names_are_not_looked_for(
    nvidia: NvidiaToolchain, tmp_path: Path, source: str
) -> None:
    with pytest.raises(CompileFailure) as failed:
        nvidia.compile(unit(tmp_path, f"{source}\n{KERNEL}"))
    assert failed.value.reason is Reason.COMPILE_ERROR


def test_a_name_that_thrust_never_had_is_an_error(nvidia: NvidiaToolchain, tmp_path: Path) -> None:
    text = f"#include <thrust/tuple.h>\nint f() {{ return thrust::no_such(1); }}\n{KERNEL}"
    with pytest.raises(CompileFailure, match="no_such"):
        nvidia.compile(unit(tmp_path, text))


PINNED = "thrust/system/cuda/experimental/pinned_allocator.h"
TRIVIAL = "thrust/detail/type_traits/has_trivial_assign.h"


@pytest.mark.parametrize(
    "source",
    [
        f"#include <{PINNED}>\n#include <thrust/host_vector.h>\n"
        "using A = thrust::system::cuda::experimental::pinned_allocator<float>;\n"
        "int f() { thrust::host_vector<float, A> v(3); v.push_back(1); return v.size(); }\n",
        f"#include <thrust/device_vector.h>\n#include <thrust/host_vector.h>\n#include <{PINNED}>\n"
        "typedef thrust::cuda::experimental::pinned_allocator<int> A;\n"
        "void f(thrust::device_vector<int>& d) { thrust::host_vector<int, A> v = d; d = v; }\n",
        f"#include <vector>\n#include <{PINNED}>\n"
        "void f(std::vector<int, thrust::cuda::experimental::pinned_allocator<int>>& v)"
        " { v.resize(9); }\n",
        # Thrust 1.12's documentation of its traits: numbers are trivial, what has a constructor
        # of its own for assignments is not.
        f"#include <{TRIVIAL}>\nstruct S {{ S& operator=(const S&); }};\n"
        "static_assert(thrust::detail::has_trivial_assign<int>::value, \"\");\n"
        "static_assert(!thrust::detail::has_trivial_assign<S>::value, \"\");\n"
        "static_assert(!thrust::detail::has_trivial_assign<const int>::value, \"\");\n",
        "#include <thrust/detail/config/host_device.h>\n__host__ __device__ int f();\n",
        "#include <thrust/detail/cstdint.h>\nthrust::detail::uint16_t f();\n",
        '#include "thrust/detail/config/host_device.h"\n#include <thrust/tuple.h>\n'
        "__host__ __device__ int f() { return thrust::get<0>(thrust::make_tuple(1, 2)); }\n",
    ],
)  # fmt: skip
def test_headers_of_older_thrust(nvidia: NvidiaToolchain, tmp_path: Path, source: str) -> None:
    made = nvidia.compile(unit(tmp_path, source + KERNEL))
    assert made.flags.endswith("-include cass_removed_thrust_headers.h")


def test_policies_of_thrust_without_their_header(nvidia: NvidiaToolchain, tmp_path: Path) -> None:
    source = (
        "#include <thrust/for_each.h>\n#include <thrust/iterator/counting_iterator.h>\n"
        "struct F { __device__ void operator()(int) const {} };\n"
        "void f(cudaStream_t s) { thrust::for_each_n(thrust::cuda::par.on(s),"
        " thrust::counting_iterator<int>(0), 4, F()); }\n"
    )
    made = nvidia.compile(unit(tmp_path, source))
    assert made.flags.endswith("-include cass_removed_thrust.h")


def test_a_header_that_thrust_never_had_is_missing(nvidia: NvidiaToolchain, tmp_path: Path) -> None:
    with pytest.raises(CompileFailure) as failed:
        nvidia.compile(unit(tmp_path, f"#include <thrust/detail/none.h>\n{KERNEL}"))
    assert failed.value.reason is Reason.MISSING_HEADER


@pytest.mark.parametrize("name", ["nvToolsExtCudaRt", "nvToolsExtCuda", "nvToolsExtSync"])
def test_further_headers_of_nvtx_2(nvidia: NvidiaToolchain, tmp_path: Path, name: str) -> None:
    (tmp_path / "given" / "nvtx3").mkdir(parents=True)
    (tmp_path / "given" / "nvtx3" / f"{name}.h").write_text("// where the toolkit has none\n")
    source = f"#include <{name}.h>\n"
    given = replace(unit(tmp_path, source + KERNEL), system_directories=(tmp_path / "given",))
    assert nvidia.compile(given).flags.endswith("-include cass_removed_nvtx.h")


# As Catch's single header has them; glibc 2.34 made both numbers calls of sysconf.
STACKS = [
    "#include <signal.h>\nstatic constexpr unsigned long s = 32768 >= MINSIGSTKSZ ? 32768 :"
    " MINSIGSTKSZ;\n",
    "#include <csignal>\nstruct H { static constexpr unsigned long s = SIGSTKSZ; char c[s]; };\n",
    "#include <signal.h>\n#include <unistd.h>\nconstexpr long s = SIGSTKSZ > MINSIGSTKSZ;\n",
    "#include <vector>\n#include <signal.h>\nenum { size = SIGSTKSZ };\nconstexpr long s = size;\n",
    "#include <signal.h>\ntemplate <long N> struct S { static const long s = N; };\n"
    "constexpr long s = S<MINSIGSTKSZ>::s;\n",
]


@pytest.mark.parametrize("source", STACKS)
def test_sizes_of_signal_stacks_are_constants(
    nvidia: NvidiaToolchain, tmp_path: Path, source: str
) -> None:
    text = "#define _GNU_SOURCE 1\n" + source
    made = nvidia.compile(unit(tmp_path, text + KERNEL))
    assert made.flags.endswith("-include cass_stacks.h")


@pytest.mark.amd
@pytest.mark.parametrize("source", STACKS)
def test_sizes_of_signal_stacks_are_constants_on_the_amd_side(tmp_path: Path, source: str) -> None:
    (tmp_path / "a.hip").write_text(source + KERNEL)
    made = find_amd().compile(Unit(tmp_path, PurePosixPath("a.hip")))
    assert "-include cass_stacks.h" in made.flags


# What helper_math.h of Nvidia's samples has, with C++20, whose <math.h> says `using std::lerp`.
LERP = """#include <math.h>
inline __host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }
inline __host__ __device__ float2 lerp(float2 a, float2 b, float t) {
  return {lerp(a.x, b.x, t), lerp(a.y, b.y, t)};
}
__global__ void between(float *x, float2 *y) {
  *x = lerp(x[0], x[1], x[2]);
  *y = lerp(y[0], y[1], *x);
}
double of_the_library(double x) { return std::lerp(x, 2.0, 0.5); }
"""


def test_a_function_that_the_standard_library_has_since(
    nvidia: NvidiaToolchain, tmp_path: Path
) -> None:
    made = nvidia.compile(replace(unit(tmp_path, LERP), standard="c++20"))
    assert made.flags.endswith("-include cass_lerp.h")


@pytest.mark.amd
def test_a_function_that_the_standard_library_has_since_on_the_amd_side(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(LERP)
    made = find_amd().compile(Unit(tmp_path, PurePosixPath("a.hip"), standard="c++20"))
    assert "-include cass_lerp.h" in made.flags


@pytest.mark.amd
@pytest.mark.parametrize(
    "source",
    [
        "int f(int* p) { return std::accumulate(p, p + 2, 0); }",
        "std::function<int(int)> f;",
        'void f() { std::cout << std::string("x") << std::endl; }',
    ],
)
def test_a_header_of_the_standard_library_on_the_amd_side(tmp_path: Path, source: str) -> None:
    (tmp_path / "a.hip").write_text(f"{source}\n{KERNEL}")
    made = find_amd().compile(Unit(tmp_path, PurePosixPath("a.hip")))
    assert "-include cass_standard.h" in made.flags


WINDOWS = """
extern "C" __declspec(dllexport) int twice(int x);
class __declspec(dllimport) Scene;
struct Pair { __declspec(align(32)) float x; };
static_assert(alignof(Pair) == 32, "");
__declspec(noinline) int twice(int x) { return 2 * x; }
"""


def test_words_of_windows_compilers(nvidia: NvidiaToolchain, tmp_path: Path) -> None:
    made = nvidia.compile(unit(tmp_path, WINDOWS + KERNEL))
    assert made.flags.endswith("-include cass_declspec.h")
    with pytest.raises(CompileFailure):
        nvidia.compile(unit(tmp_path, f"__declspec(naked) int f();\n{KERNEL}"))


@pytest.mark.amd
def test_clang_knows_words_of_windows_compilers(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(WINDOWS + KERNEL)
    assert find_amd().compile(Unit(tmp_path, PurePosixPath("a.hip"))).host_assembly


PYTORCH = {
    "ATen/ceil_div.h": "namespace at { template <class T> constexpr T ceil_div(T a, T b)"
    " { return (a + b - 1) / b; } }",
    "ATen/core/DeprecatedTypeProperties.h": "namespace at { enum class ScalarType { Float = 6 };"
    " struct DeprecatedTypeProperties { ScalarType scalarType() const { return {}; } }; }",
    "ATen/cuda/CUDAContext.h": "namespace at::cuda { cudaStream_t getCurrentCUDAStream(); }",
    "c10/cuda/CUDACachingAllocator.h": "namespace c10::cuda::CUDACachingAllocator"
    " { void* raw_alloc(size_t); void raw_delete(void*); }",
    "c10/cuda/CUDAException.h": "#define C10_CUDA_CHECK(call) checked(call)\nvoid checked(int);",
    "c10/util/Exception.h": "#define TORCH_CHECK(...) checked(__VA_ARGS__)",
}


@pytest.mark.parametrize(
    ("source", "called"),
    [
        ("#include <THC/THC.h>\ncudaStream_t f(THCState* s) { return"
         " THCState_getCurrentStream(s); }", "getCurrentCUDAStream"),
        ("#include <c10/util/Exception.h>\nvoid checked(bool, const char*);"
         'void f(bool b) { AT_CHECK(b, "text"); }', "checked"),
        ("#include <ATen/core/DeprecatedTypeProperties.h>\nnamespace detail {"
         " inline at::ScalarType scalar_type(at::ScalarType s) { return s; } }\n"
         "void done(at::ScalarType);"
         "void f(const at::DeprecatedTypeProperties& t) { done(t); }", None),
        ("#include <ATen/core/DeprecatedTypeProperties.h>\nnamespace detail {"
         " inline at::ScalarType scalar_type(at::ScalarType s) { return s; } }\n"
         "void done(at::ScalarType);"
         "void f(const at::DeprecatedTypeProperties& t) { done(::detail::scalar_type(t)); }",
         "done"),
    ],
)  # fmt: skip
def test_what_extensions_of_old_pytorch_name(
    nvidia: NvidiaToolchain, tmp_path: Path, source: str, called: str | None
) -> None:
    for path, text in PYTORCH.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"#pragma once\n{text}\n")
    given = replace(unit(tmp_path, f"{source}\n{KERNEL}"), system_directories=(tmp_path,))
    if called is None:
        with pytest.raises(CompileFailure):
            nvidia.compile(given)
        return
    made = nvidia.compile(given)
    assert called in made.host_assembly
    assert made.flags.endswith("-include cass_removed_torch.h")


@pytest.mark.parametrize(
    "condition", ["is_same<T, int>::value", "and_<is_integral<T>, not_<is_pointer<T>>>::value"]
)
def test_traits_that_thrust_had(nvidia: NvidiaToolchain, tmp_path: Path, condition: str) -> None:
    """``thrust::detail`` of CUDA 12.3 has them (thrust/detail/type_traits.h)."""
    source = (
        "#include <thrust/detail/type_traits.h>\nnamespace thrust { namespace detail {"
        f" template <class T> constexpr bool fits = {condition}; }} }}\n"
        "template <class T> typename thrust::detail::enable_if<thrust::detail::fits<T>, T>::type"
        " one(T t) { return t; }\nint f() { return one(1); }\n"
    )
    made = nvidia.compile(unit(tmp_path, source + KERNEL))
    assert made.flags.endswith("-include cass_removed_thrust_traits.h")
