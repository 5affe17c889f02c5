"""The ``rules`` engine, construct by construct."""

from __future__ import annotations

import re

import pytest

from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.protocol import Context, Finding, Severity, Translation, Translator
from cass_ray.translate.rules import RulesTranslator, tables

ENGINE = RulesTranslator()


def translate(source: str, filename: str = "a.cuh", files: tuple[str, ...] = ()) -> Translation:
    return ENGINE.translate(source, filename=filename, context=Context(files=frozenset(files)))


def errors(source: str, filename: str = "a.cuh") -> list[Finding]:
    return list(translate(source, filename).errors)


def test_it_is_a_translator() -> None:
    assert isinstance(ENGINE, Translator)
    assert ENGINE.name == "rules"
    assert ENGINE.version == tables.fingerprint()


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("cudaMalloc(&p, n);", "hipMalloc(&p, n);"),
        ("cudaError_t e = cudaSuccess;", "hipError_t e = hipSuccess;"),
        (
            "cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);",
            "hipMemcpy(d, h, n, hipMemcpyHostToDevice);",
        ),
        (
            "cudaHostAlloc(&p, n, cudaHostAllocMapped);",
            "hipHostMalloc(&p, n, hipHostMallocMapped);",
        ),
        ("cudaThreadSynchronize();", "hipDeviceSynchronize();"),
        ("CUdevice d; cuDeviceGet(&d, 0);", "hipDevice_t d; hipDeviceGet(&d, 0);"),
        (
            "cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);",
            "hipStreamCreateWithFlags(&s, hipStreamNonBlocking);",
        ),
        ("CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory"),
        ("cublasSgemm(h, CUBLAS_OP_N);", "hipblasSgemm(h, HIPBLAS_OP_N);"),
        (
            "curandState s; skipahead(3, &s);",
            "hiprandState_t s; skipahead(3, &s);",
        ),
        ("cufftExecC2C(p, a, b, CUFFT_FORWARD);", "hipfftExecC2C(p, a, b, HIPFFT_FORWARD);"),
        ("cub::BlockReduce<int, 4> r;", "hipcub::BlockReduce<int, 4> r;"),
        ("using namespace cub;", "using namespace hipcub;"),
        ("own::cub::BlockReduce<int, 4> r;", "hipcub::BlockReduce<int, 4> r;"),
        ("RUN(::own::cub::DeviceScan::Sum, d);", "RUN(::hipcub::DeviceScan::Sum, d);"),
        (
            "RUN(NO_ROCM(own)::cub::DeviceScan::Sum, d);",
            "RUN(NO_ROCM(own)::hipcub::DeviceScan::Sum, d);",
        ),
        (
            "static_assert( \\\n  __nv_is_extended_host_device_lambda_closure_type(T), 1)",
            "static_assert( \\\n  __is_class(T), 1)",
        ),
        ("using namespace own::cub;", "using namespace hipcub;"),
        ("namespace c = ::own::cub;", "namespace c = ::hipcub;"),
        ("namespace cub = ::own::cub;\ncub::X x;", "\nhipcub::X x;"),
        ("at::cuda::cub::sort(cub::X());", "at::cuda::cub::sort(hipcub::X());"),
        (
            "namespace own::cub { int f(cub::X); }\nint x = own::cub::f(y);",
            "namespace own::cub { int f(hipcub::X); }\nint x = own::cub::f(y);",
        ),
        (
            "namespace own { namespace cub { int f(); } }\nint x = own::cub::f();",
            "namespace own { namespace hipcub { int f(); } }\nint x = own::hipcub::f();",
        ),
        (
            "__device__ H __shfl_up_sync(unsigned m, H v, int d) {\n"
            "  return __shfl_up_sync(m, v.x, d);\n}",
            "__device__ H __shfl_up(H v, int d, int) {\n  return __shfl_up(v.x, d, 32);\n}",
        ),
        ("namespace cub = hipcub;\ncub::X x;", "\nhipcub::X x;"),
        ("puts(cublasGetStatusString(s));", "puts(hipblasStatusToString(s));"),
        ("  #define U #pragma unroll 4\n", '  #define U _Pragma("unroll 4")\n'),
        ("#define C(call) check(cuda##call)\n", "#define C(call) check(hip##call)\n"),
        ("#define B(t) cublas ## t ## gemm\n", "#define B(t) hipblas ## t ## gemm\n"),
        ("#define A(t) cublasI##t##amax\n", "#define A(t) hipblasI##t##amax\n"),
        ("thrust::cuda::par.on(s)", "thrust::hip::par.on(s)"),
        ("thrust::cuda_cub::stream(policy)", "thrust::hip_rocprim::stream(policy)"),
        ("thrust::cuda_cub::execute_on_stream e;", "thrust::hip_rocprim::execute_on_stream e;"),
        ("__nv_bfloat16 x;", "__hip_bfloat16 x;"),
        ("cuMemsetD32Async(p, 1, 2, s);", "hipMemsetD32Async(p, 1, 2, s);"),
        ("__global__ void k(const __grid_constant__ P p);", "__global__ void k(const P p);"),
        ("#define CALLED void CUDART_CB called()", "#define CALLED void called()"),
    ],
)
def test_names(cuda: str, hip: str) -> None:
    result = translate(cuda)
    assert result.source == hip
    assert not result.findings
    assert result.counts.converted > 0


def test_the_beginning_of_no_name_of_cudas_stays_in_a_macro() -> None:
    assert translate("#define A(t) cudaOwn##t\n").source == "#define A(t) cudaOwn##t\n"


def test_pytorchs_own_namespace_stays() -> None:
    made = translate("namespace at { int x = cuda::cub::sort(cub::X()); }")
    assert made.source == "namespace at { int x = cuda::cub::sort(hipcub::X()); }"


@pytest.mark.parametrize(
    "source",
    [
        "// cudaMalloc\n",
        "/* cudaMalloc\n cudaFree */",
        'const char* s = "cudaMalloc __shfl_sync warpSize";',
        'const char* s = R"(cudaMalloc\n#include <cuda.h>\n)";',
        "int mycudaMalloc, cudaMalloc2, x_cudaFree;",
        "kernel<<<grid, block, 0, stream>>>(a, b);",
        "y = std::exp(x) + std::min(a, b);",
    ],
)
def test_what_is_not_cuda_stays(source: str) -> None:
    assert translate(source).source == source


def test_every_row_of_the_table_is_applied() -> None:
    names = [cuda for cuda, hip in tables.names().items() if cuda != hip]
    source = "\n".join(names)
    assert translate(source).source.split("\n") == [tables.names()[name] for name in names]


def test_no_hip_name_is_a_cuda_name() -> None:
    assert not (set(tables.names().values()) & tables.unsupported())


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("#include <cuda_fp16.h>\n", "#include <hip/hip_fp16.h>\n"),
        ('#include "cuda_runtime.h"\n', '#include "hip/hip_runtime.h"\n'),
        ("#  include <curand_kernel.h> // x\n", "#  include <hiprand/hiprand_kernel.h> // x\n"),
        ("#include <cub/device/device_scan.cuh>\n", "#include <hipcub/hipcub.hpp>\n"),
        ("#include <device_launch_parameters.h>\nint x;\n", "int x;\n"),
        (
            "#include <cuda.h>\n#include <cuda_runtime.h>\nint x;\n",
            "#include <hip/hip_runtime.h>\nint x;\n",
        ),
        ("#include <thrust/sort.h>\n", "#include <thrust/sort.h>\n"),
        ('#include "helper_cuda.h"\n', '#include "helper_cuda.h"\n'),
    ],
)
def test_headers(cuda: str, hip: str) -> None:
    assert translate(cuda).source == hip


def test_headers_of_thrust_that_a_file_uses() -> None:
    """rocThrust's device_vector.h brings functional.h and reduce.h, sequence.h and sort.h not."""
    source = (
        "// #include <thrust/sort.h>\n#include <thrust/device_vector.h>\n"
        "#include <thrust/count.h>\n"
        "int main() { thrust::sequence(a, b); thrust::sort_by_key(a, b, c);"
        " thrust::reduce(a, b, 0, thrust::plus<int>()); thrust::count_if(a, b, f); }\n"
    )
    added = "#include <thrust/sequence.h>\n#include <thrust/sort.h>\n"
    place = "#include <thrust/device_vector.h>\n"
    assert translate(source).source.count("#include <thrust/sort.h>") == 2
    assert place + added in translate(source).source
    assert "sequence.h" not in translate("void f() { thrust::sequence(a, b); }\n").source


def test_a_project_header_keeps_its_name() -> None:
    source = '#include "cuda.h"\n'
    assert translate(source, "src/a.cuh", files=("src/cuda.h",)).source == source


def test_a_header_without_counterpart_is_an_error() -> None:
    (error,) = errors("int x;\n#include <cudnn.h>\n")
    assert (error.line, error.column, error.construct) == (2, 1, "cudnn.h")
    assert "MIOpen" in error.advice


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("// c\nint x;\n", "// c\n#include <hip/hip_runtime.h>\nint x;\n"),
        (
            '#include <stdio.h>\n#include "k.cuh"\n',
            '#include <hip/hip_runtime.h>\n#include <stdio.h>\n#include "k.cuh"\n',
        ),
        (
            '#include <stdio.h>\n#include <cuda_runtime.h>\n#include "k.cuh"\n',
            '#include <stdio.h>\n#include <hip/hip_runtime.h>\n#include "k.cuh"\n',
        ),
        ("// only a comment", "// only a comment"),
    ],
)
def test_nvccs_implicit_header_becomes_explicit(cuda: str, hip: str) -> None:
    assert translate(cuda, "a.cu").source == hip


_BOTH = "#ifdef __HIPCC__\n#include <hip/hip_runtime.h>\n#endif\n"


@pytest.mark.parametrize(
    ("name", "cuda", "added"),
    [
        # A source that nvcc compiles by another name, and a header that it includes there.
        ("a.cpp", "#ifdef __CUDACC__\nint x;\n#endif\n", True),
        ("a.h", "#ifdef __CUDACC__\ntypedef cudaStream_t S;\n#endif\n", True),
        ("a.h", "#ifdef __CUDACC__\n#define HD __host__ __device__\n#endif\n", False),
        ("a.h", "#ifdef __CUDACC__\n#include <cuda_runtime.h>\ncudaStream_t s;\n#endif\n", False),
        ("a.cpp", "int x;\n", False),
    ],
)
def test_files_for_both_compilers_get_nvccs_implicit_header(
    name: str, cuda: str, added: bool
) -> None:
    assert translate(cuda, name).source.startswith(_BOTH) is added


def test_the_driver_copies_from_memory_that_is_not_const() -> None:
    result = translate("cuMemcpyHtoDAsync(p, host + 1, n, s);\n", "a.cpp").source
    assert result == "hipMemcpyHtoDAsync(p, (void*)(host + 1), n, s);\n"


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("__shfl_down_sync(0xffffffff, v, 16)", "__shfl_down(v, 16, 32)"),
        ("__shfl_sync(m, v, lane, 8)", "__shfl(v, lane, 8)"),
        ("__shfl_xor_sync(f(a, b), g(v, w), 1)", "__shfl_xor(g(v, w), 1, 32)"),
        (
            "__shfl_up_sync(m, __shfl_down_sync(m, v, 1), 2)",
            "__shfl_up(__shfl_down(v, 1, 32), 2, 32)",
        ),
        ("__shfl(v, 3)", "__shfl(v, 3, 32)"),
        ("threadIdx.x % warpSize", "threadIdx.x % 32"),
        ("blockIdx.x * warpSize", "blockIdx.x * 32"),
        ("a[i] = b & (warpSize - 1) | c & warpSize", "a[i] = b & (32 - 1) | c & 32"),
        ("sizeof(int) * warpSize + 2*warpSize", "sizeof(int) * 32 + 2*32"),
        ("int* warpSize = p; x = 2 * warpSize[0]", "int* warpSize = p; x = 2 * warpSize[0]"),
        ("void f(const int& warpSize) { g(2 * warpSize); }",) * 2,
        ("constexpr int x = C10_WARP_SIZE;", "constexpr int x = 32;"),
        ("int t = ::at::cuda::warp_size() * 4;", "int t = 32 * 4;"),
        ("#ifndef C10_WARP_SIZE\n#define C10_WARP_SIZE 32\n#endif\n",) * 2,
        ("prop.warpSize", "prop.warpSize"),
        ("const int warpSize = 32; x / warpSize", "const int warpSize = 32; x / warpSize"),
    ],
)
def test_shuffles_keep_warps_of_32_lanes(cuda: str, hip: str) -> None:
    assert translate(cuda).source == hip


def test_the_host_counts_warps_as_the_device_does() -> None:
    source = (
        "cudaDeviceProp p[2], *q; int a = p[0].warpSize * 2 + q->warpSize;"
        " p[1].warpSize = 7; int* r = &p[0].warpSize; own().warpSize;\n"
    )
    assert translate(source).source == (
        "hipDeviceProp_t p[2], *q; int a = 32 * 2 + 32;"
        " p[1].warpSize = 7; int* r = &p[0].warpSize; own().warpSize;\n"
    )
    (warning,) = translate("f(&n, cudaDevAttrWarpSize, 0);").findings
    assert warning.severity == "warning" and "64 on CDNA" in warning.message


def test_the_attribute_of_a_warps_width_is_that_of_its_kernels() -> None:
    asked = "cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0);"
    both = translate(asked)
    assert both.findings == ()
    assert both.source.endswith("cass::device_attribute(&n, hipDeviceAttributeWarpSize, 0);")
    assert both.source.count("#define CASS_ATTRIBUTE\n") == 1
    narrow = RulesTranslator().translate(asked, context=Context(wavefronts=(32,))).source
    assert narrow.endswith("\nhipDeviceGetAttribute(&n, hipDeviceAttributeWarpSize, 0);")
    other = "cudaDeviceGetAttribute(&n, cudaDevAttrMaxThreadsPerBlock, 0);"
    assert "cass::" not in translate(other).source


def test_wavefronts_of_32_lanes_only_keep_the_width() -> None:
    source = "cudaDeviceProp p; int a = p.warpSize + warpSize;\n"
    context = Context(wavefronts=(32,))
    result = RulesTranslator().translate(source, filename="a.cuh", context=context)
    assert result.source == source.replace("cudaDeviceProp", "hipDeviceProp_t")


def test_snippets_come_with_what_they_need() -> None:
    result = translate("unsigned m = __match_any_sync(~0u, v); __syncwarp();").source
    assert result.endswith("unsigned m = cass::match_any(~0u, v); cass::syncwarp();")
    assert "#include <hip/hip_runtime.h>" in result
    for name in ("CASS_BALLOT", "CASS_MATCH", "CASS_SYNCWARP"):
        assert result.count(f"#define {name}\n") == 1
    assert result.index("CASS_BALLOT") < result.index("CASS_MATCH")


def test_a_header_with_builtins_of_amd_alone_is_hip() -> None:
    """``__half_raw`` of HIP has a member ``data``, CUDA's has none."""
    body = "__half f(__half x) { return __half_raw{__builtin_amdgcn_rcph(__half_raw(x).data)}; }\n"
    assert "return __half_raw{" in translate(body).source
    assert "cass::half_raw" in translate(f"#ifdef USE_ROCM\n{body}#endif\n__half_raw r;\n").source


def test_hip_sources_stay() -> None:
    source = "#include <hip/hip_runtime.h>\nint f() { return __shfl(v, 1) + warpSize; }\n"
    assert translate(source, "a.hip").source == source
    assert translate(source, "a.cu").source == source


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("#ifdef __CUDA_ARCH__\n#endif", "#ifdef __HIP_DEVICE_COMPILE__\n#endif"),
        ("#if defined(__CUDA_ARCH__)\n#endif", "#if defined(__HIP_DEVICE_COMPILE__)\n#endif"),
        # Attributes for both of clang's passes: its host pass looks into kernels.
        (
            "#if defined(__CUDA_ARCH__)\n#define D __host__ __device__\n#else\n#define D\n#endif",
            "#if defined(__HIPCC__)\n#define D __host__ __device__\n#else\n#define D\n#endif",
        ),
        (
            "#ifdef __CUDA_ARCH__\n#define HD __device__\nint x;\n#endif",
            "#ifdef __HIP_DEVICE_COMPILE__\n#define HD __device__\nint x;\n#endif",
        ),
        # Kaldi's: nothing is defined here, in the other branch a function.
        (
            "#if !defined(__CUDA_ARCH__)\n// native\n\n#else\nint f();\n#endif",
            "#if !defined(__HIP_DEVICE_COMPILE__)\n// native\n\n#else\nint f();\n#endif",
        ),
        ("#ifdef __CUDA_ARCH__\n\n#endif", "#ifdef __HIP_DEVICE_COMPILE__\n\n#endif"),
        (
            "#ifdef __CUDA_ARCH__\n\n#define D __device__\n\n#endif",
            "#ifdef __HIPCC__\n\n#define D __device__\n\n#endif",
        ),
        ("#if __CUDA_ARCH__ >= 600\n#endif", "#if (__HIP_DEVICE_COMPILE__ * 900) >= 600\n#endif"),
        ("#ifdef __CUDACC__\n#endif", "#ifdef __HIPCC__\n#endif"),
        ("#if CUDART_VERSION < 9000\n#endif", "#if 11080 /* CUDART_VERSION */ < 9000\n#endif"),
        # Components of CUDA 11.8, by its release notes: cuBLAS 11.11.3, cuSPARSE 11.7.5,
        # cuSOLVER 11.4.1, cuFFT 10.9.0.
        (
            "#if CUBLAS_VERSION >= 12000\n#endif",
            "#if 111103 /* CUBLAS_VERSION */ >= 12000\n#endif",
        ),
        (
            "#if CUBLAS_VER_MAJOR > 11 || CUBLAS_VER_MINOR > 4\n#endif",
            "#if 11 /* CUBLAS_VER_MAJOR */ > 11 || 11 /* CUBLAS_VER_MINOR */ > 4\n#endif",
        ),
        (
            "#if CUSPARSE_VERSION < 11600\n#endif",
            "#if 11705 /* CUSPARSE_VERSION */ < 11600\n#endif",
        ),
        (
            "#if CUSOLVER_VER_MAJOR < 12\n#endif",
            "#if 11 /* CUSOLVER_VER_MAJOR */ < 12\n#endif",
        ),
        ("int v = CUFFT_VERSION;", "int v = 10900 /* CUFFT_VERSION */;"),
        ("#ifndef CUDA_VERSION\n#endif", "#if 0 /* CUDA_VERSION */\n#endif"),
        # What the host reads of a kernel is what the kernel read.
        ("int a = attr.ptxVersion;", "int a = 90 /* attr.ptxVersion */;"),
        ("p->binaryVersion = 0;", "p->binaryVersion = 0;"),
        ("int a = __CUDA_ARCH__;", "int a = 900 /* __CUDA_ARCH__ */;"),
    ],
)
def test_guards(cuda: str, hip: str) -> None:
    assert translate(cuda).source == hip


def test_an_architecture_that_refuses_the_older_is_respected() -> None:
    source = "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 1000\n#error too old\n#endif\n"
    assert "__HIP_DEVICE_COMPILE__ * 1000) < 1000" in translate(source).source


GUARDED = """__device__ void f(unsigned* r) {{
#if __CUDA_ARCH__ >= {newer}
  asm volatile("{code};" ::: "memory");
#else
  r[0] = 1;
#endif
}}
"""


@pytest.mark.parametrize(
    ("newer", "code", "taken"),
    [
        # What sm_80 brought is translated; so the newest architecture is taken.
        (800, "cp.async.commit_group", 900),
        (800, "cp.async.wait_group 0", 900),
        # What sm_90 brought is not: the newest one before it.
        (900, "wgmma.fence.sync.aligned", 890),
        (900, "fence.proxy.async", 890),
        (900, "cp.async.bulk.commit_group", 890),
        (890, "some.thing.of.it", 800),
        (800, "some.thing.of.it", 700),
        # Nothing is without errors: what sm_80 brought mostly has a translation.
        (600, "some.thing.of.it", 800),
    ],
)
def test_the_newest_architecture_whose_code_has_a_translation(
    newer: int, code: str, taken: int
) -> None:
    source = translate(GUARDED.format(newer=newer, code=code)).source
    assert f"(__HIP_DEVICE_COMPILE__ * {taken}) >= {newer}" in source


@pytest.mark.parametrize(
    ("line", "construct"),
    [
        ("#if __CUDA_ARCH__ >= 1000", "__CUDA_ARCH__"),
        ("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 1000", "__CUDA_ARCH__"),
        ("#if (__CUDA_ARCH__ > 900)", "__CUDA_ARCH__"),
        ("#if __CUDA_ARCH__ == 1200", "__CUDA_ARCH__"),
        ("#if CUDART_VERSION >= 12000", "CUDART_VERSION"),
        ("#if defined(CUDA_VERSION) && CUDA_VERSION < 12040", "CUDA_VERSION"),
        ("#if __CUDACC_VER_MAJOR__ >= 12", "__CUDACC_VER_MAJOR__"),
        ("#ifdef __CUDA_ARCH_FEAT_SM90_ALL", "__CUDA_ARCH_FEAT_SM90_ALL"),
        ("#if defined(__CUDA_ARCH_FEAT_SM100_ALL)", "__CUDA_ARCH_FEAT_SM100_ALL"),
        ("#if __CUDA_ARCH_SPECIFIC__ == 900", "__CUDA_ARCH_SPECIFIC__"),
    ],
)
def test_a_guard_that_no_value_satisfies_is_reported(line: str, construct: str) -> None:
    (finding,) = (
        item
        for item in translate(f"{line}\n#endif\n").findings
        if diagnostic_of(item).code == "CASS1031"
    )
    assert finding.construct == construct


@pytest.mark.parametrize(
    "line",
    [
        "#if __CUDA_ARCH__ >= 900",
        "#if __CUDA_ARCH__ < 800",
        "#if CUDART_VERSION >= 11000",
        "#if __CUDACC_VER_MAJOR__ > 11 || __CUDACC_VER_MINOR__ >= 5",
    ],
)
def test_a_guard_that_the_port_satisfies_is_not(line: str) -> None:
    findings = translate(f"{line}\n#endif\n").findings
    assert "CASS1031" not in {diagnostic_of(item).code for item in findings}


def test_an_architecture_in_a_macro_is_none_for_the_host() -> None:
    source = translate("#define AT_LEAST(n) (__CUDA_ARCH__ >= n)\nint archs = __CUDA_ARCH_LIST__;")
    assert source.source.splitlines()[-2:] == [
        "#define AT_LEAST(n) (CASS_CUDA_ARCH >= n)",
        "int archs = 900 /* __CUDA_ARCH_LIST__ */;",
    ]
    assert "#define CASS_CUDA_ARCH 0\n" in source.source


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        (
            "cudaFuncSetAttribute(k<int, 2>, a, v);",
            "hipFuncSetAttribute(reinterpret_cast<const void*>(k<int, 2>), a, v);",
        ),
        ("cudaFuncSetAttribute((void*)k, a, v);", "hipFuncSetAttribute((void*)k, a, v);"),
        (
            "cudaFuncSetAttribute(static_cast<const void*>(k), a, v);",
            "hipFuncSetAttribute(static_cast<const void*>(k), a, v);",
        ),
        (
            "cudaFuncSetAttribute(reinterpret_cast<type>(k), a, v);",
            "hipFuncSetAttribute(reinterpret_cast<const void*>(reinterpret_cast<type>(k)), a, v);",
        ),
        (
            "cudaMallocPitch(&p, &n, w, h);",
            "hipMallocPitch((void**)(&p), &n, w, h);",
        ),
    ],
)
def test_arguments_that_cuda_overloads_are_cast(cuda: str, hip: str) -> None:
    assert translate(cuda).source == hip


@pytest.mark.parametrize(
    ("source", "construct"),
    [
        ("x = 1;\n  cudaGraphConditionalHandleCreate(&h, g);", "cudaGraphConditionalHandleCreate"),
        ("x = 1;\n  nvcuda::exp::x f;", "nvcuda::"),
        ("x = 1;\n  cuda::barrier<cuda::thread_scope_device> a;", "cuda::barrier"),
        ("x = 1;\n  cuda::std::latch a;", "cuda::std::latch"),
        ("x = 1;\n  cuda::pipeline a;", "cuda::pipeline"),
        ("x = 1;\n  cuda::ptx::fence();", "cuda::ptx"),
        ("x = 1;\n  cudnnCreate(&h);", "cudnnCreate"),
        ("x = 1;\n  nvmlInit();", "nvmlInit"),
    ],
)
def test_leftovers_are_errors_with_their_place(source: str, construct: str) -> None:
    result = translate(source)
    assert result.source == source
    (error,) = result.errors
    assert (error.line, error.column, error.construct) == (2, 3, construct)
    assert result.counts.unsupported == 1
    assert error.format("f.cu").startswith("f.cu:2:3: error: ")


def test_a_name_of_the_programs_own_is_no_finding() -> None:
    assert not translate("void cudaCheck(int e); int f() { cudaCheck(1); }").findings
    assert not translate("#define cuAssert(x) x\nint y = cuAssert(1);").findings


def test_an_unknown_cuda_like_name_is_a_warning() -> None:
    (finding,) = translate("int f() { return cudaFooBar(1); }").findings
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("cudaEventCreate(&e, f);", "hipEventCreateWithFlags(&e, f);"),
        ("cudaEventCreate(&e);", "hipEventCreate(&e);"),
        ("cudaGraphInstantiate(&e, g, 0);", "hipGraphInstantiateWithFlags(&e, g, 0);"),
    ],
)
def test_forms_of_a_call_that_hip_lacks(cuda: str, hip: str) -> None:
    assert translate(cuda).source == hip


def test_error_codes_that_hip_never_returns_keep_cudas_number() -> None:
    assert translate("case cudaErrorNotPermitted: f();").source == (
        "case (hipError_t)800 /* cudaErrorNotPermitted */: f();"
    )


def test_types_lose_the_struct_that_hip_does_not_have() -> None:
    source = "struct cudaGraphicsResource *r; struct cudaDeviceProp p;"
    assert translate(source).source == "hipGraphicsResource *r; hipDeviceProp_t p;"


OPERATOR = "float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x, a.y * b.y); }"


def test_operators_that_hip_has_are_guarded() -> None:
    guarded = translate(f"inline {OPERATOR}\nint x;\n").source
    assert guarded == (
        "#if defined(CASS_PLAIN_VECTORS) || !defined(__HIP_PLATFORM_AMD__)"
        "  // HIP's vector types have this operator\n"
        f"inline {OPERATOR}\n#endif\nint x;\n"
    )
    scaled = "float2 operator*(float2 a, float s) { return make_float2(a.x * s, a.y * s); }"
    assert translate(scaled).source == scaled


@pytest.mark.parametrize(
    "body",
    [
        "float2 r = {a.x * b.x, a.y * b.y}; return r;",
        "float2 r{a.x * b.x, a.y * b.y}; return r;",
        "float2 r; r.x = a.x * b.x; r.y = a.y * b.y; return r;",
    ],
)
def test_a_variable_may_hold_the_elements(body: str) -> None:
    operator = f"float2 operator*(float2 a, float2 b) {{ {body} }}"
    result = translate(f"#include <torch/extension.h>\n{operator}\n")
    assert "#if defined(CASS_PLAIN_VECTORS)" in result.source
    assert not result.errors


def test_an_operator_with_another_meaning_keeps_it() -> None:
    source = OPERATOR.replace("a.y * b.y", "a.x * b.y")
    result = translate(source)
    assert result.source == source
    assert not result.errors


def test_it_is_an_error_where_hips_vector_types_stay() -> None:
    source = OPERATOR.replace("a.y * b.y", "a.x * b.y")
    result = translate(f"#include <torch/extension.h>\n{source}")
    assert source in result.source
    assert "element-wise" in result.errors[0].message


@pytest.mark.parametrize(
    ("code", "plain"),
    [
        ("float4 v;", True),
        ("auto v = make_int2(1, 2);", True),
        ("#include <cuComplex.h>\ncuFloatComplex z;", True),
        ("dim3 grid(1);", False),
        ("// float4\nint x;", False),
        ("#include <ATen/ATen.h>\nfloat4 v;", False),
        ("#include <hip/hip_runtime.h>\nfloat4 v;", False),
    ],
)
def test_vector_types_are_cudas_before_any_header_of_hip(code: str, plain: bool) -> None:
    source = RulesTranslator().translate(code, filename="a.cu").source
    assert source.startswith("#if !defined(CASS_VECTORS)") == plain


def test_all_files_of_a_tree_have_the_same_vector_types() -> None:
    context = Context(plain_vectors=True)
    header = '#pragma once\n#include <vector>\n#include "cuda_runtime.h"\nvoid f();\n'
    source = RulesTranslator().translate(header, filename="a.h", context=context).source
    assert source.index("#include <vector>") < source.index("CASS_VECTORS")
    assert source.index("CASS_VECTORS") < source.index('#include "hip/hip_runtime.h"')
    other = RulesTranslator().translate("void f();\n", filename="b.h", context=context).source
    assert other == "void f();\n"


def test_two_error_types_become_one() -> None:
    driver = "void check(CUresult e) { }"
    source = f"void check(cudaError_t e) {{ }}\n{driver}\nvoid f() {{ check(cudaFree(0)); }}\n"
    result = translate(source).source
    assert "#ifndef __HIP_PLATFORM_AMD__  // the same as for hipError_t\nvoid check(" in result
    assert result.count("#endif") == 1


@pytest.mark.parametrize(("before", "guarded"), [("const char* f, ", True), ("int l, ", False)])
def test_two_error_types_become_one_behind_equal_parameters(before: str, guarded: bool) -> None:
    source = f"void check(const char* f, cudaError_t e) {{ }}\nvoid check({before}CUresult e) {{ }}"
    assert ("#ifndef __HIP_PLATFORM_AMD__" in translate(source).source) == guarded


def test_votes_of_a_tile_become_functions() -> None:
    source = "namespace cg = cooperative_groups; bool f(T t) { return t.any(x > 0); }"
    result = translate(source).source
    assert result.endswith("return cass::group_any(t, x > 0); }")
    assert "CASS_GROUP_VOTES" in result


def test_kernel_launches_on_the_device_are_errors() -> None:
    (error,) = translate(
        "__global__ void k() { j<<<1, 1>>>(); }\nvoid h() { k<<<1, 1>>>(); }"
    ).errors
    assert (error.line, error.construct) == (1, "<<<>>>")


@pytest.mark.parametrize(
    ("defined", "errors"),
    [
        ("#define KERNEL __global__", 0),  # the next function is not the macro's
        ("#define KERNEL __global__ void\n#define BOTH \\\n  __host__ __device__", 0),
        ("#define KERNEL static __global__\nKERNEL", 1),
        ("#define BODY __device__ void f(int* p) { k<<<1, 1>>>(p); }", 1),
    ],
)
def test_words_for_the_device_in_macros(defined: str, errors: int) -> None:
    result = translate(f"{defined}\nvoid run(int* p) {{ k<<<1, 1>>>(p); }}\n")
    assert len(result.errors) == errors


@pytest.mark.parametrize(
    ("guard", "is_dead"),
    [
        ("#if __CUDA_ARCH__ >= 800", True),
        ("#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900)", True),
        ("#if 0", True),
        ("#if __CUDA_ARCH__ >= 600\n#else", True),
        ("#if __CUDA_ARCH__ >= 600", False),
        ("#if __CUDA_ARCH__ < 800", False),
        ("#ifdef USE_PTX", False),
    ],
)
def test_branches_that_are_not_compiled_hold_no_errors(guard: str, is_dead: bool) -> None:
    result = translate(f'{guard}\nasm("wgmma.fence;");\n#endif\n')
    assert (not result.errors) == is_dead
    assert any(finding.construct == "asm" for finding in result.findings)


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("#include <mma.h>\n", "#include <hip/hip_fp16.h>\n"),
        ("nvcuda::wmma::fill_fragment(f, 0);", "cass::wmma::fill_fragment(f, 0);"),
        ("using namespace nvcuda;", "namespace wmma = cass::wmma;"),
        ("using namespace nvcuda::wmma;", "using namespace cass::wmma;"),
    ],
)
def test_matrix_functions_become_rocwmma(cuda: str, hip: str) -> None:
    result = translate(cuda)
    assert result.source.endswith(hip)
    assert not result.errors
    assert ("namespace wmma = ::rocwmma;" in result.source) == ("nvcuda" in cuda)


def test_groups_that_hip_lacks_are_errors() -> None:
    source = "namespace cg = cooperative_groups;\nauto g = cg::this_cluster();"
    (error,) = errors(source)
    assert (error.line, error.construct) == (2, "this_cluster")


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("cub::WarpReduce<int> r;", "cass::WarpReduce<int> r;"),
        ("using namespace cub;\nWarpScan<int> r;", "cass::WarpScan<int> r;"),
        ("namespace c = cub;\nc::WarpLoad<int, 2> r;", "cass::WarpLoad<int, 2> r;"),
        ("using cub::WarpStore;", "using cass::WarpStore;"),
        ("cub::BlockExchange<int, 64, 2> e;", "cass::BlockExchange<int, 64, 2> e;"),
        ("int n = CUB_PTX_WARP_THREADS + CUB_WARP_THREADS(0); cub::Sum s;", "int n = 32 + 32; hip"),
        ("at::cuda::cub::WarpReduce<int> r;", "at::cuda::cub::WarpReduce<int> r;"),
        ("#define QUALIFIER ::cub::", "#define QUALIFIER ::hipcub::"),
        ("return ::cub::Max();", "return ::hipcub::Max();"),
        ("const ::cub::Max& p;", "const ::hipcub::Max& p;"),
        ("typename ::cub::B<int>::T t;", "typename ::hipcub::B<int>::T t;"),
        ("typedef ::cub::X Y;", "typedef ::hipcub::X Y;"),
        ("struct WarpReduce {}; WarpReduce r; cub::Sum s;", "struct WarpReduce {}; WarpReduce r;"),
    ],
)
def test_cub_has_warps_of_32_lanes(cuda: str, hip: str) -> None:
    assert hip in translate(cuda).source


@pytest.mark.parametrize(
    "source",
    [
        "#define CUDARTAPI",
        "#  define CUDAAPI __stdcall",
        "#ifndef CUDART_CB\n#endif",
        "#undef CUDARTAPI",
        "#if defined(CUFFTAPI)\n#endif",
    ],
)
def test_a_word_that_means_nothing_to_hip_stays_in_directives_about_it(source: str) -> None:
    assert translate(source).source == source


GEMM = (
    "cublasGemmEx(h, n, t, 2, 3, 4, &x, a, CUDA_R_16F, 2, b, CUDA_R_16F, 3, &y, c, CUDA_R_32F, 2,"
    " CUDA_R_32F, g);"
)


@pytest.mark.parametrize(
    ("before", "named"),
    [("", True), ("s = ", True), ("::", True), ("w.", False), ("w->", False), ("(*w).", False)],
)
def test_a_wrapper_of_the_programs_own_takes_what_it_takes(before: str, named: bool) -> None:
    """TensorRT's ``CublasWrapper`` has methods of cuBLAS' names, which take data types."""
    made = translate(f"void f() {{ {before}{GEMM} }}").source
    assert ("HIPBLAS_COMPUTE_32F" in made) is named


@pytest.mark.parametrize("filename", ["/a/b.cu", "../b.cu", "./b.cu", "/", "", "//x.cu"])
def test_any_file_name_is_fine(filename: str) -> None:
    assert translate('#include "x.h"\n#include <mma.h>\n', filename, files=("y",)).source


def test_a_struct_that_the_program_defines_keeps_its_keyword() -> None:
    source = "struct cuComplex { float r; };\nstruct cuComplex value;\n"
    result = RulesTranslator().translate(source, filename="a.h")
    assert result.source == "struct hipComplex { float r; };\nhipComplex value;\n"


def test_a_macro_of_the_program_is_no_left_over() -> None:
    result = RulesTranslator().translate("void f() { CUDA_CHECK(cudaFree(0)); }", filename="a.h")
    assert result.source == "void f() { CUDA_CHECK(hipFree(0)); }"
    assert not result.findings


@pytest.mark.parametrize(
    "source",
    [
        "#include <hip/hip_runtime.h>\n#include <cuda/std/tuple>\ncuda::std::tuple<int> t;\n",
        "cuda::atomic_ref<int, cuda::thread_scope_device> a(x);\n",
        "cuda::std::tuple<int> t;\ncuda::atomic_ref<int, cuda::thread_scope_device> a(x);\n",
        "#include <cuda/std/span>\ncuda::std::plus<int> add;\n",
        "namespace standard = cuda::std;\n",
    ],
)
def test_what_libhipcxx_has_stays(source: str) -> None:
    result = translate(source)
    assert result.source == source
    assert result.counts.unsupported == 0


def test_what_the_hosts_library_has_for_devices_is_taken_from_there() -> None:
    source = "#include <cuda/std/tuple>\n::cuda::std::tuple<int, cuda::std::plus<>> t;\n"
    result = translate(source)
    assert result.source == (
        "#include <hip/hip_runtime.h>\n#include <functional>\n"
        "#include <tuple>\n::std::tuple<int, std::plus<>> t;\n"
    )
    assert not result.findings


OLD_EXTENSION = """\
#include <ATen/ATen.h>
#include <THC/THC.h>
#include <THC/THCAtomics.cuh>
extern THCState* state;
void f(at::Tensor x) {
  AT_CHECK(x.is_cuda(), "no");
  float* p = (float*)THCudaMalloc(state, THCCeilDiv(n, 4));
  AT_DISPATCH_FLOATING_TYPES(x.type(), "f", ([&] {
    k<<<1, 1, 0, THCState_getCurrentStream(state)>>>(p);
  }));
  THCudaCheck(cudaGetLastError());
  THCudaFree(state, p);
}
"""
NEW_EXTENSION = """\
#include <hip/hip_runtime.h>
#include <ATen/ceil_div.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Atomic.cuh>
void f(at::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "no");
  float* p = (float*)c10::cuda::CUDACachingAllocator::raw_alloc(at::ceil_div(n, 4));
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", ([&] {
    k<<<1, 1, 0, at::cuda::getCurrentCUDAStream()>>>(p);
  }));
  C10_CUDA_CHECK(hipGetLastError());
  c10::cuda::CUDACachingAllocator::raw_delete(p);
}
"""


def test_what_pytorch_called_otherwise_before_1_11() -> None:
    result = translate(OLD_EXTENSION, "f.cu")
    assert result.source == NEW_EXTENSION
    assert not result.findings


@pytest.mark.parametrize("include", ['#include "utils.h"', "#include <torch/extension.h>"])
def test_a_tensors_type_is_dispatched_on_whichever_header_brings_pytorch(include: str) -> None:
    source = f'{include}\nvoid f(T x) {{ AT_DISPATCH_ALL_TYPES(x.type(), "f", [&] {{ }}); }}\n'
    assert "(x.scalar_type(), " in translate(source, "f.cpp").source


def test_headers_of_old_pytorch_are_replaced_once() -> None:
    old = "#include <THC/THC.h>\n#include <ATen/cuda/CUDAContext.h>\nint n = THCCeilDiv(a, b);\n"
    new = "#include <ATen/cuda/CUDAContext.h>\nint n = at::ceil_div(a, b);\n"
    assert translate(old, "f.cpp").source == "#include <ATen/ceil_div.h>\n" + new


def test_tensors_of_old_pytorch_are_errors() -> None:
    result = translate("#include <THC/THC.h>\nfloat* p = THCudaTensor_data(state, x);\n", "f.cpp")
    assert [(item.line, item.construct) for item in result.errors] == [(2, "THCudaTensor_data")]
    assert "1.10" in result.errors[0].message


def test_constants_that_begin_as_old_pytorch_are_the_programs_own() -> None:
    source = "#include <torch/extension.h>\nconst int THREADS_PER_WARP = 32, THCount = 2;\n"
    source += "int n = THREADS_PER_BLOCK + THREADS_PER_WARP * THCount;\n"
    result = translate(source, "f.cpp")
    assert result.source == source
    assert not result.findings


def test_names_of_old_pytorch_elsewhere_are_the_programs_own() -> None:
    source = "void THCudaCheck(int);\nvoid f() { AT_CHECK(1); }\n"
    assert translate(source).source == source


def test_headers_of_a_projects_own_folder_cuda_are_not_libcudacxx() -> None:
    source = '#include "cuda/x_cuda.h"\n'
    result = translate(source, "csrc/x.cu", files=("csrc/cuda/x_cuda.h",))
    assert not result.findings


def test_that_libhipcxx_is_needed_is_said_once() -> None:
    source = "#include <cuda/std/tuple>\n#include <cuda/atomic>\ncuda::std::tuple<int> t;\n"
    (finding,) = translate(source).findings
    assert (finding.line, finding.construct, finding.severity) == (
        1,
        "libhipcxx",
        Severity.WARNING,
    )


def test_libcuxx_comes_behind_the_runtime() -> None:
    source = "#include <cuda/atomic>\n#include <cuda_runtime.h>\nint x;\n"
    translated = translate(source, "a.cu").source
    assert translated.index("hip/hip_runtime.h") < translated.index("cuda/atomic")


def test_atomics_that_cub_brings_are_included() -> None:
    source = "#include <cub/cub.cuh>\nauto order = cuda::memory_order_relaxed;\n"
    assert translate(source, "a.cuh").source == (
        "#include <hip/hip_runtime.h>\n#include <cuda/atomic>\n#include <hipcub/hipcub.hpp>\n"
        "auto order = cuda::memory_order_relaxed;\n"
    )
    own = "#include <cuda/atomic>\n" + source
    assert translate(own, "a.cuh").source.count("cuda/atomic") == 1


@pytest.mark.parametrize(
    ("source", "headers"),
    [
        ("cuda::proclaim_return_type<int>(f);", ["cuda/functional"]),
        ("auto p = cuda::proclaim_return_type<int>(f); cuda::std::tuple<int> t;",
         ["cuda/functional", "cuda/std/tuple"]),
        ("cuda::std::optional<int> o; cuda::std::span<int> s;", ["cuda/std/optional"]),
        ("cuda::atomic_ref<int> a(x); ::cuda::std::less<int> l;",
         ["cuda/atomic", "cuda/std/functional"]),
        ("#include <cuda/std/span>\ncuda::std::span<int> s; cuda::std::pair<int, int> p;",
         ["cuda/std/utility"]),
        ("#include <cuda/functional>\nauto p = cuda::proclaim_return_type<int>(f);", []),
    ],
)  # fmt: skip
def test_what_thrust_brings_of_libcudacxx_is_included(source: str, headers: list[str]) -> None:
    translated = translate("#include <thrust/sort.h>\n" + source + "\n", "a.cuh").source
    before = set(re.findall("#include <(cuda/[^>]+)>", source))
    assert set(re.findall("#include <(cuda/[^>]+)>", translated)) == {*before, *headers}


@pytest.mark.parametrize(
    "qualifier", ["__device__ ", "const ", "return ", "inline ", "__host__ __device__ "]
)
def test_a_word_before_a_global_name_is_no_namespace(qualifier: str) -> None:
    source = f"#include <cuda/std/tuple>\n{qualifier}::cuda::std::tuple<int> f();\n"
    assert "::std::tuple<int>" in translate(source).source
    assert "cuda::" not in translate(source).source


@pytest.mark.parametrize(
    "header",
    ["cuda/std/barrier", "cuda/std/latch", "cuda/semaphore", "cuda/latch", "cuda/ptx"],
)
def test_headers_that_libhipcxx_lacks_are_errors(header: str) -> None:
    result = translate(f"#include <{header}>\nint x;\n")
    assert [(item.construct, item.severity) for item in result.findings] == [
        (header, Severity.ERROR)
    ]


@pytest.mark.parametrize(
    "source",
    [
        "cv::cuda::GpuMat m;\n",
        "namespace cuda { struct barrier {}; }\ncuda::barrier b;\n",
    ],
)
def test_other_namespaces_of_that_name_are_none_of_libcuxx(source: str) -> None:
    assert translate(source).findings == ()


@pytest.mark.parametrize(
    ("tag", "expected"), [("CUstream_st", "ihipStream_t"), ("cudaArray", "hipArray")]
)
def test_the_tag_of_a_struct_stays_a_tag(tag: str, expected: str) -> None:
    """Headers name the struct behind a handle to do without CUDA's own headers."""
    made = RulesTranslator().translate(f"typedef struct {tag}* Handle;", filename="a.h")
    assert made.source == f"typedef struct {expected}* Handle;"


def test_hipblas_is_told_to_declare_what_cublas_does() -> None:
    made = RulesTranslator().translate(
        "#include <cublas_v2.h>\n#include <cstdio>\n", filename="a.h"
    )
    assert made.source == (
        "#define HIPBLAS_V2 1\n#define ROCM_MATHLIBS_API_USE_HIP_COMPLEX 1\n"
        "#define HIPBLAS_USE_HIP_HALF 1\n#include <hipblas/hipblas.h>\n#include <cstdio>\n"
    )


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("<cublas_v2.h>", "<hipblas/hipblas.h>"),
        ('"cuda_bf16.h"', '"hip/hip_bf16.h"'),
        ("<device_launch_parameters.h>", "<hip/hip_runtime.h>"),
        ("<optional>", "<optional>"),
        ("<cupti_profiler_host.h>", "<cupti_profiler_host.h>"),
    ],
)
def test_a_condition_asks_for_the_header_that_is_included(asked: str, expected: str) -> None:
    source = "#if __has_include({0})\n#define FOUND\n#endif\n"
    made = RulesTranslator().translate(source.format(asked), filename="a.h")
    assert made.source == source.format(expected)
    assert made.counts.unsupported == 0


def test_a_condition_on_a_header_that_hip_lacks_is_said_to_be_false() -> None:
    made = RulesTranslator().translate("#if __has_include(<cudnn.h>)\n#endif\n", filename="a.h")
    assert [each.severity for each in made.findings] == [Severity.WARNING]
    assert "the condition is false" in made.findings[0].message


def test_the_include_guard_of_a_header_keeps_its_name() -> None:
    source = "#ifndef CUBLAS_COMMON_H\n#define CUBLAS_COMMON_H\ncublasHandle_t h;\n#endif\n"
    made = RulesTranslator().translate(source, filename="cublas_common.h").source
    assert made == source.replace("cublasHandle_t", "hipblasHandle_t")


def test_a_byte_order_mark_stays_the_first_character() -> None:
    source = "__global__ void k() {}\nint main() { cudaFree(0); }\n"
    plain = translate(source, "a.cu").source
    assert plain.startswith("#include")
    assert translate(f"\ufeff{source}", "a.cu").source == f"\ufeff{plain}"


@pytest.mark.parametrize("mode", ["CUBLAS_TENSOR_OP_MATH", "CUBLAS_TF32_TENSOR_OP_MATH"])
def test_math_modes_that_rocblas_refuses_are_its_default(mode: str) -> None:
    """hipBLAS answers HIPBLAS_STATUS_NOT_SUPPORTED to their namesakes."""
    made = translate(f"cublasSetMathMode(handle, {mode});").source
    assert made.endswith("hipblasSetMathMode(handle, HIPBLAS_DEFAULT_MATH);")


@pytest.mark.parametrize(
    ("call", "hip"),
    [
        ('r = printf("a\\n");', 'r = (printf("a\\n"), 0);'),
        ('r = std::printf("%d", f(1, 2));', 'r = (::printf("%d", f(1, 2)), 1);'),
        ('return printf("%d%d", a, b);', 'return (printf("%d%d", a, b), 2);'),
        ('if (printf("%s", s) > 0) r = 1;', 'if ((printf("%s", s), 1) > 0) r = 1;'),
        ('r = (int)printf("%d", a);', 'r = (int)(printf("%d", a), 1);'),
        ("r = printf(f, a, rest...);", "r = (printf(f, a, rest...), 1 + sizeof...(rest));"),
        # Nobody asks.
        ('printf("%d", a);', 'printf("%d", a);'),
        ('if (a) printf("%d", a); else printf("b");', 'if (a) printf("%d", a); else printf("b");'),
    ],
)
def test_printf_of_a_kernel_returns_the_number_of_arguments(call: str, hip: str) -> None:
    code = "__device__ int f(int r) {{ {} }}\n"
    assert translate(code.format(call)).source == code.format(hip)
    host = f"int f(int r) {{ {call} }}\n"
    assert translate(host).source == host


@pytest.mark.parametrize(
    "call",
    [
        "curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);",
        "curandCreateGeneratorHost(&g, CURAND_RNG_PSEUDO_MRG32K3A);",
        "unsigned n = curand_poisson(&s, 3.0);",
        "unsigned n = curand_discrete(&s, table);",
    ],
)
def test_random_numbers_that_are_rocrands_are_reported(call: str) -> None:
    (finding,) = translate(call).findings
    assert diagnostic_of(finding).code == "CASS1032"


@pytest.mark.parametrize(
    ("call", "hip"),
    [
        ("x = curand(&s);", "x = cass::random_bits(&s);"),
        ("curand_init(seed, id, 0, &s);", "cass::random_init(seed, id, 0, &s);"),
        ("x = curand_normal2_double(&s);", "x = cass::random_normal2_double(&s);"),
    ],
)
def test_random_numbers_of_kernels_are_curands(call: str, hip: str) -> None:
    result = translate(call)
    assert result.source.endswith(hip)
    assert not result.findings


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("struct float3 a;", "float3 a;"),
        ("typedef struct uint3 cell;", "typedef uint3 cell;"),
        ("void f(const struct double2 *p);", "void f(const double2 *p);"),
        ("struct float4;\nint x;", "\nint x;"),
        ("struct float4 { float x; };", "struct float4 { float x; };"),
        ("uint3 t = threadIdx;", "uint3 t = make_uint3(threadIdx.x, threadIdx.y, threadIdx.z);"),
        (
            "p = make_int3(threadIdx);",
            "p = make_int3(make_uint3(threadIdx.x, threadIdx.y, threadIdx.z));",
        ),
        (
            "f(make_float3( blockIdx ));",
            "f(make_float3( make_uint3(blockIdx.x, blockIdx.y, blockIdx.z) ));",
        ),
        (
            "make_uint3(blockDim)",
            "make_uint3(make_uint3(blockDim.x, blockDim.y, blockDim.z))",
        ),
        ("make_int2(threadIdx.x, 1)", "make_int2(threadIdx.x, 1)"),
        ("make_int3(threadIdx, 1)", "make_int3(threadIdx, 1)"),
        ("uint3 t(blockIdx);", "uint3 t(make_uint3(blockIdx.x, blockIdx.y, blockIdx.z));"),
        ("dim3 t = threadIdx;", "dim3 t = threadIdx;"),
    ],
)
def test_names_of_vector_types(cuda: str, hip: str) -> None:
    assert translate(cuda).source.endswith(hip)


@pytest.mark.parametrize(
    ("code", "codes"),
    [
        ("__device__ void f(const char* t, int a) { printf(t, a); }", {"CASS1033"}),
        ('__device__ void f(const char* t) { printf("%s", t); }', set()),
        ("__device__ void f(const char* t) { printf(t); }", set()),
        ("void f(const char* t, int a) { printf(t, a); }", set()),
    ],
)
def test_a_format_that_is_no_literal_is_reported(code: str, codes: set[str]) -> None:
    assert {diagnostic_of(item).code for item in translate(code).findings} == codes


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("#define __any(p) __any_sync(0xffu, p)", "#define __any(p) cass::any(0xffu, p)"),
        ("#undef __all", "#undef __all"),
        ("#define __all(p)\\\n __all_sync(m, p)", "#define __all(p)\\\n cass::all(m, p)"),
        ("#define __ballot_sync(m, p) f(p)", "#define __ballot_sync(m, p) f(p)"),
        ("#  define __syncwarp(m)", "#  define __syncwarp(m)"),
    ],
)
def test_a_macro_that_a_program_defines_keeps_its_name(cuda: str, hip: str) -> None:
    assert translate(f"{cuda}\nint i = __any(p);\n").source.endswith(
        f"{hip}\nint i = cass::any(0xffffffffu, p);\n"
    )


@pytest.mark.parametrize(
    ("source", "errors_in"),
    [
        ("nvcuda::wmma::fragment<nvcuda::wmma::experimental::precision::b1> f;", [1]),
        ("using namespace nvcuda;\nwmma::experimental::precision::u4 x;", [2]),
        ("#if __CUDA_ARCH__ >= 730\nwmma::experimental::precision::b1 x;\n#endif\n", []),
        ("namespace fs = std::experimental::filesystem;", []),
        ("namespace own { namespace experimental {} }", []),
    ],
)
def test_fragments_of_single_bits_are_errors(source: str, errors_in: list[int]) -> None:
    assert [each.line for each in errors(source)] == errors_in


def test_a_width_of_the_properties_that_is_written_as_32_is_a_note() -> None:
    """``cudaDeviceProp::warpSize``: HIP has 64 there on CDNA (HIP's documentation, "warpSize")."""
    text = "int f() {\n  cudaDeviceProp p;\n  cudaGetDeviceProperties(&p, 0);\n"
    text += "  return p.warpSize;\n}\n"
    made = RulesTranslator().translate(text)
    assert "return 32;" in made.source
    (note,) = made.findings
    assert (note.line, note.severity, diagnostic_of(note).code) == (4, Severity.NOTE, "CASS1005")
    narrow = RulesTranslator().translate(text, context=Context(wavefronts=(32,)))
    assert "return p.warpSize;" in narrow.source
    assert not narrow.findings


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("((::__ballot_sync(~0u, true) & 1) == 0)", "((::cass::ballot(~0u, true) & 1) == 0)"),
        ("return ::__any_sync(~0u, a);", "return ::cass::any(~0u, a);"),
        ("= ::__all_sync(~0u, a);", "= ::cass::all(~0u, a);"),
        ("own::__ballot_sync(~0u, true)", "own::__ballot_sync(~0u, true)"),
        ("own<int>::__ballot_sync(~0u, true)", "own<int>::__ballot_sync(~0u, true)"),
    ],
)
def test_votes_of_the_global_namespace(call: str, expected: str) -> None:
    source = f"__device__ void f(int a) {{ {call} }}\n"
    made = RulesTranslator().translate(source, filename="a.cu").source
    assert expected in made


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch::linalg::linalg_norm(x, {}, {})", "at::linalg_norm(x, {}, {})"),
        ("torch::linalg::svd(x, true)", "at::linalg_svd(x, true)"),
        ("::torch::linalg::inv(x)", "at::linalg_inv(x)"),
        ("torch::norm(x)", "torch::norm(x)"),
        ("own::torch_linalg::norm(x)", "own::torch_linalg::norm(x)"),
    ],
)
def test_linear_algebra_of_pytorch_is_atens(call: str, expected: str) -> None:
    source = f"#include <torch/extension.h>\nauto f(at::Tensor x) {{ return {call}; }}\n"
    made = RulesTranslator().translate(source, filename="a.cu").source
    assert f"return {expected};" in made


_FALLBACK = """#include <cuda_bf16.h>
__device__ __nv_bfloat162 least(__nv_bfloat162 v) {{ return __hmin2(v, make_bfloat162(1., 1.)); }}
{guard}
__device__ __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {{
  __nv_bfloat162 t; t.x = x; t.y = y; return t;
}}
#endif
"""


@pytest.mark.parametrize(
    ("guard", "is_own"),
    [
        ("#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800)", False),
        ("#if defined __CUDA_ARCH__ && __CUDA_ARCH__ <= 750", False),
        ("#if 0", False),
        ("#if __CUDA_ARCH__ < 800", True),  # of the host, which has no architecture
        ("#if __CUDA_ARCH__ >= 800", True),
        ("#if 1", True),
        ("#ifdef OWN_PAIRS", True),
        ("#if __CUDA_ARCH__ < 800 && OWN_PAIRS", True),
    ],
)
def test_a_name_that_is_declared_for_older_hardware_alone_is_cudas(
    guard: str, is_own: bool
) -> None:
    hip = translate(_FALLBACK.format(guard=guard)).source
    assert ("cass::make_bfloat162(1., 1.)" in hip) is not is_own
    assert "__hip_bfloat162 make_bfloat162(__hip_bfloat16 x" in hip


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("typedef struct __CUDA_ALIGN__(32) { float array[8]; } float8;", "__align__(32)"),
        ("struct __CUDA_ALIGN__(4) pair { short a, b; };", "__align__(4)"),
        ("struct __CUDA_ALIGN__(sizeof(int)) one { char c; };", "__align__(sizeof(int))"),
        ("__CUDA_ALIGN__(16) static float values[4];", "__align__(16)"),
        ("#define __CUDA_ALIGN__(n)\nstruct __CUDA_ALIGN__(8) own {};", "__CUDA_ALIGN__(8)"),
    ],
)
def test_alignment_as_cudas_headers_write_it(cuda: str, hip: str) -> None:
    made = translate(f"#include <cuda_fp16.h>\n{cuda}\n")
    assert hip in made.source
    assert not made.errors


@pytest.mark.parametrize(
    "condition",
    [
        "(defined(CUDART_VERSION) && CUDART_VERSION >= 11000)",
        "defined(CUDA_VERSION)",
        "defined CUDA_VERSION",
        "(!defined(CUDART_VERSION) || CUDART_VERSION < 9000)",
        "defined( CUSPARSE_VERSION ) && CUSPARSE_VERSION >= 11000",
    ],
)
def test_a_condition_in_a_definition_asks_for_no_number(condition: str) -> None:
    """``defined(11080)`` is no expression of the preprocessor."""
    translated = translate(f"#define HAS_IT {condition}\n").source
    assert "defined" not in translated
    assert " 1 /* CU" in f" {translated}" or "(1 /* CU" in translated or "!1 /* CU" in translated


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("__CUDA_BF16_H__", "HIP_INCLUDE_HIP_HIP_BF16_H"),
        ("__CUDA_BF16_TYPES_EXIST__", "HIP_INCLUDE_HIP_HIP_BF16_H"),
        ("__CUDA_FP16_TYPES_EXIST__", "HIP_INCLUDE_HIP_HIP_FP16_H"),
        ("__CUDA_FP8_TYPES_EXIST__", "HIP_INCLUDE_HIP_HIP_FP8_H"),
        ("__CUDA_FP16_H__", "HIP_INCLUDE_HIP_HIP_FP16_H"),
    ],
)
def test_a_test_for_a_header_of_cuda_is_one_for_hips(cuda: str, hip: str) -> None:
    """cuda_bf16.h and its kin define them; the guards are those of HIP's public headers."""
    source = f"#ifndef {cuda}\nstruct own {{}};\n#endif\n"
    assert translate(source).source == source.replace(cuda, hip)


def test_macros_of_a_copy_of_cub_keep_their_names() -> None:
    own = "#ifndef CUB_LOG_WARP_THREADS\n#define CUB_LOG_WARP_THREADS(arch) (5)\n#endif\n"
    assert translate(f"using namespace cub;\n{own}").source.endswith(own)
    assert translate("using namespace cub; int a = CUB_LOG_WARP_THREADS(0);").source.endswith(
        "= 5;"
    )
