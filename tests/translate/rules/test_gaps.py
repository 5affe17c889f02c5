"""Constructs that programs of others had and the rules did not know, as text."""

from __future__ import annotations

import pytest

from cass_ray.translate.declared import declared_names
from cass_ray.translate.protocol import Context, Severity
from cass_ray.translate.rules import RulesTranslator

ENGINE = RulesTranslator()


def hip(source: str, **context: frozenset[str]) -> str:
    return ENGINE.translate(source, filename="a.cuh", context=Context(**context)).source


@pytest.mark.parametrize(
    ("cuda", "translated"),
    [
        (  # The macro keeps its parameters, its calls keep their arguments.
            "#define __shfl_down(v, d) __shfl_down_sync(~0u, v, d)\nx = __shfl_down(x, 1);\n",
            "#define __shfl_down(v, d) __shfl_down(v, d, 32)\nx = __shfl_down(x, 1);\n",
        ),
        (
            "#define __shfl_xor_sync(m, v, l) __shfl_xor(v, l)\n",
            "#define __shfl_xor_sync(m, v, l) __shfl_xor(v, l, 32)\n",
        ),
        ("x = __shfl_down(x, 1);\n", "x = __shfl_down(x, 1, 32);\n"),
        ("if (a) b(); else __shfl(x, 1);\n", "if (a) b(); else __shfl(x, 1, 32);\n"),
    ],
)
def test_widths_stay_out_of_macros(cuda: str, translated: str) -> None:
    assert hip(cuda) == translated


def test_a_macro_of_another_file_keeps_its_arguments() -> None:
    declared = declared_names(["#define __shfl_down(v, d) __shfl_down_sync(~0u, v, d)\n"])
    assert declared == {"__shfl_down"}
    assert hip("x = __shfl_down(x, 1);\n", declared=declared) == "x = __shfl_down(x, 1);\n"


@pytest.mark.parametrize(
    "declaration",
    [
        "#define cudaCheck(call) check(call)\n",
        "inline void cudaCheck(int status) {}\n",
        "struct cudaCheck {\n  int a;\n};\n",
        "int* cudaCheck = nullptr;\n",
        "void *cudaCheck(int);\n",
        "#  define cudaCheck check_of_ours\n",
        "#define cudaCheck\\\n    check_of_ours\n",
    ],
)
def test_names_of_the_projects_own_headers_are_not_reported(declaration: str) -> None:
    source = "void f() { cudaCheck(1); }\n"
    assert [item.construct for item in ENGINE.translate(source).findings] == ["cudaCheck"]
    declared = declared_names([declaration])
    assert not ENGINE.translate(source, context=Context(declared=declared)).findings


@pytest.mark.parametrize(
    "written",
    ["CUDA_R_8F_E4M3", "cudaDataType::CUDA_R_8F_E4M3", "cudaDataType_t :: CUDA_R_8F_E4M3"],
)
def test_enumerators_that_hip_lacks_are_casts_without_a_scope(written: str) -> None:
    """CUDA's library_types.h, and HIP's from ROCm 6.3 on, say 28."""
    assert hip(f"f({written});\n") == "f((hipDataType)28 /* CUDA_R_8F_E4M3 */);\n"


@pytest.mark.parametrize("word", ["return ", "case ", "throw ", "else "])
def test_a_keyword_before_a_global_enumerator_is_no_scope(word: str) -> None:
    made = hip(f"{word}::CUDA_R_8F_E4M3;\n")
    assert made == f"{word}(hipDataType)28 /* CUDA_R_8F_E4M3 */;\n"


def test_an_enumerator_of_a_type_that_a_snippet_gives_loses_its_scope() -> None:
    source = "f(__nv_fp8_interpretation_t::__NV_E4M3, __NV_E5M2, own::__NV_E4M3);\n"
    assert "f(cass::FP8_E4M3, cass::FP8_E5M2, own::__NV_E4M3);\n" in hip(source)


@pytest.mark.parametrize(
    ("cuda", "translated"),
    [
        ("__shared__ alignas(32) float a[4];\n", "alignas(32) __shared__ float a[4];\n"),
        (
            "extern __shared__ alignas(float4) char b[];\n",
            "alignas(float4) extern __shared__ char b[];\n",
        ),
        (
            "static __device__ const alignas(sizeof(T) * 2) T c = 0;\n",
            "alignas(sizeof(T) * 2) static __device__ const T c = 0;\n",
        ),
        ("alignas(16) __shared__ int d;\n", "alignas(16) __shared__ int d;\n"),
        ("struct alignas(16) S { alignas(8) int a; };\n",) * 2,
        ("static const alignas(8) int e = 0;\n",) * 2,
    ],
)
def test_alignments_stand_first(cuda: str, translated: str) -> None:
    """[dcl.attr.grammar]: an attribute of what is declared stands at the beginning."""
    assert hip(cuda).endswith(translated)


def test_the_result_of_a_lambda_is_no_declaration() -> None:
    source = "auto f = [](float x) -> __nv_fp8_e4m3 { return __nv_fp8_e4m3(x); };\n"
    assert "auto f = [](float x) -> cass::fp8_e4m3 { return cass::fp8_e4m3(x); };" in hip(source)


def test_macros_that_configure_or_cmake_write_are_the_projects() -> None:
    template = "#cmakedefine CUDA_TEST_DEVICE 0\n# undef CUDA_FOUND\n#cmakedefine01 CUB_SHIPPED\n"
    assert declared_names([template]) == {"CUDA_TEST_DEVICE", "CUDA_FOUND", "CUB_SHIPPED"}
    assert not declared_names(["#undef __shfl_down\n#ifdef CUDA_FOUND\n#endif\n"])


def test_a_macro_with_the_name_of_a_function_of_cudas_keeps_it_from_no_translation() -> None:
    declared = declared_names(["#define cudaMalloc hipMalloc\n"])
    assert hip("cudaMalloc(&p, 4);\n", declared=declared) == "hipMalloc(&p, 4);\n"


@pytest.mark.parametrize("use", ["return cudaCheck(1);", "else cudaCheck(1);", "x = cudaCheck;"])
def test_uses_are_no_declarations(use: str) -> None:
    assert not declared_names([use])


@pytest.mark.parametrize(
    "said",
    [
        "// the width for cudaMalloc3DArray, in elements\n",
        "/* what cudaFree (of HIP) needs;\n   the cudaMemcpy, too */",
        'puts("failed cudaMalloc, twice");',
        "char c = '\"'; // int cudaCheck = 1;\nchar d = '\"';",
        "x = 1; // continued \\\n int cudaCheck = 1;\n",
        "/* int cudaCheck = 1;",
    ],
)
def test_comments_and_strings_are_no_declarations(said: str) -> None:
    assert not declared_names([said])
    assert declared_names([said + "*/\nint cudaOwn = 1;\n"]) == {"cudaOwn"}


def test_a_comment_keeps_no_array_from_the_software_that_its_surface_is_of() -> None:
    source = (
        "// for cudaMalloc3DArray, in elements\n"
        "e = cudaMalloc3DArray(&a, &d, x, 2);\ne = cudaCreateSurfaceObject(&s, &r);\n"
    )
    both = hip(source, declared=declared_names([source]))
    assert "cass::malloc_3d_array(&a" in both
    assert "cass::create_surface_object(&s" in both


@pytest.mark.parametrize(
    ("cuda", "translated"),
    [
        (
            "cudaGraphAddDependencies(g, &a, &b, nullptr, 1);",
            "hipGraphAddDependencies(g, &a, &b, 1);",
        ),
        ("cudaGraphAddNode(&n, g, d, NULL, 2, &p);", "hipGraphAddNode(&n, g, d, 2, &p);"),
        ("cudaGraphNodeGetDependencies(n, d, 0, &c);", "hipGraphNodeGetDependencies(n, d, &c);"),
        ("cuCtxCreate(&c, nullptr, 0, device);", "hipCtxCreate(&c, 0, device);"),
        ("cudaMemPrefetchAsync(p, n, device, s);", "hipMemPrefetchAsync(p, n, device, s);"),
    ],
)
def test_forms_of_cuda_13(cuda: str, translated: str) -> None:
    result = ENGINE.translate(cuda, filename="a.cuh")
    assert result.source == translated
    assert not result.errors


def test_edge_data_that_says_something_is_an_error() -> None:
    (error,) = ENGINE.translate("cudaGraphAddDependencies(g, &a, &b, edges, 1);").errors
    assert "edge data" in error.message


def test_locations_choose_an_overload() -> None:
    source = "cudaMemLocation l;\ncudaMemAdvise(p, 4, advice, l);\ncudaMemPrefetchAsync(p, 4, 0);\n"
    text = hip(source)
    assert "cass::mem_advise(p, 4, advice, l);\ncass::mem_prefetch_async(p, 4, 0);" in text
    assert "cass" not in hip("cudaMemAdvise(p, 4, advice, 0);\n")


LOOP = "{ int old = *(int*)a; old = atomicCAS((int*)a, old, f(v)); return old; }"


@pytest.mark.parametrize(
    ("definition", "severity"),
    [
        (f"__device__ float atomicMin(float* a, float v) {LOOP}\n", Severity.NOTE),
        (f"__device__ static double atomicMax(double *a, double v) {LOOP}\n", Severity.NOTE),
        (f"__device__ static double atomicAdd(double *a, double v) {LOOP}\n", Severity.NOTE),
        (f"__device__ static float2 atomicAdd(float2 *a, float2 v) {LOOP}\n", None),
        ("__device__ static float atomicMin(float* a, float v);\n", Severity.NOTE),
        ("__device__ double __shfl_down(double v, unsigned d) { return g(v, d); }", Severity.ERROR),
        ("__device__ float atomicMin(float* a, float v) { *a = v; return v; }\n", Severity.ERROR),
        (f"__device__ long atomicMin(long* a, long v) {LOOP}\n", None),
        (f"template <int N> __device__ float atomicMin(float* a, float v) {LOOP}\n", None),
        (f"namespace own {{ __device__ float atomicMin(float* a, float v) {LOOP} }}\n", None),
    ],
)
def test_functions_that_hip_defines_itself(definition: str, severity: Severity | None) -> None:
    result = ENGINE.translate(definition)
    assert [item.severity for item in result.findings] == ([severity] if severity else [])
    assert ("#ifndef __HIP_PLATFORM_AMD__" in result.source) == (severity is Severity.NOTE)


@pytest.mark.parametrize(
    ("source", "is_added"),
    [
        ("__half f(__half a, __half b) { return a + b; }\n", True),
        ("__host__ __device__ __half f(__half a, __half b) { return a + b; }\n", True),
        ("int main() { __half a = 1.0f; a = a + a; }\n", True),
        ("__device__ __half f(__half a, __half b) { return a + b; }\n", False),
        ("__global__ void k(__half* p) { __half a = p[0]; p[1] = a + a; }\n", False),
        ("int main() { __half* p = new __half[4 * 2]; }\n", False),
        ("struct S { __half a; int b = 1 + 2; };\n", False),
    ],
)
def test_operators_of_half_in_host_code(source: str, is_added: bool) -> None:
    assert ("CASS_HALF_OPERATORS" in hip(source)) == is_added


@pytest.mark.parametrize(
    ("cuda", "translated"),
    [
        (
            "__shared__ cuda::barrier<cuda::thread_scope::thread_scope_block> b;",
            "__shared__ cass::barrier<cass::thread_scope::thread_scope_block> b;",
        ),
        (
            "cuda::memcpy_async(to, from, cuda::aligned_size_t<4>(4), b);",
            "cass::memcpy_async(to, from, cass::aligned_size_t<4>(4), b);",
        ),
        ("auto p = cuda::make_pipeline();", "auto p = cass::make_pipeline();"),
        (
            "__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> s;",
            "__shared__ cass::pipeline_shared_state<cass::thread_scope_block, 2> s;",
        ),
    ],
)
def test_barriers_and_pipelines_of_libcuxx(cuda: str, translated: str) -> None:
    assert hip(cuda).endswith(translated)


def test_a_pipeline_of_threads_with_roles_is_an_error() -> None:
    (error,) = ENGINE.translate("auto p = cuda::make_pipeline(block, &state, role);").errors
    assert error.construct == "cuda::make_pipeline"


def test_the_launch_of_cuda_3() -> None:
    text = hip("cuParamSetv(f, 0, &p, 8); cuFuncSetBlockShape(f, 8, 8, 1); cuLaunchGrid(f, 1, 1);")
    assert "cass::param_setv(f, 0, &p, 8); cass::func_set_block_shape(f, 8, 8, 1);" in text
    assert "cass::launch_grid(f, 1, 1);" in text


@pytest.mark.parametrize(
    ("cuda", "translated"),
    [
        ("sum << <1, 32 >> > (p);", "sum <<<1, 32 >>> (p);"),
        ("sum<float> << <\n  grid, block >>> (p);", "sum<float> <<<\n  grid, block >>> (p);"),
        ("sum<<<grid, f<g<int>>(1) >> >(p);", "sum<<<grid, f<g<int>>(1) >>>(p);"),
        ("sum<<<1, 32>>>(p);", "sum<<<1, 32>>>(p);"),
        ("x << y; a<b<c<int>> > (z);", "x << y; a<b<c<int>> > (z);"),
        ("// sum << <1, 2 >> >(p)\n", "// sum << <1, 2 >> >(p)\n"),
    ],
)
def test_blanks_inside_the_brackets_of_a_launch(cuda: str, translated: str) -> None:
    """nvcc reads them (13.0), clang does not."""
    assert hip(cuda) == translated


def test_votes_of_a_group_that_comes_as_a_parameter() -> None:
    source = (
        "template <class G> __device__ int f(G g, int x) { g.shfl(x, 0); return g.ballot(x); }\n"
    )
    assert "return cass::group_ballot(g, x);" in hip(source)
    assert "g.any(x)" in hip(source.replace("ballot", "any"))
    assert "cass" not in hip("auto f(Set s, int x) { return s.ballot(x); }\n")


def test_shuffles_of_a_group_take_any_type() -> None:
    source = "template <class G, class T> __device__ T f(G g, T x) { return g.shfl_up(x, 1); }\n"
    assert "return cass::group_shfl_up(g, x, 1); }" in hip(source)
    for number in ("int", "float", "std::uint32_t"):
        kept = source.replace("T x", f"{number} x")
        assert "return g.shfl_up(x, 1); }" in hip(kept)
    assert "g.shfl_up(2, 1)" in hip(source.replace("(x,", "(2,"))
    assert "g.shfl_up(x, 1)" in hip(source.replace("template <class G, class T> ", ""))


def test_events_of_nvtx_keep_their_message() -> None:
    source = (
        "#include <nvToolsExt.h>\nvoid f() {\n  nvtxEventAttributes_t e = {0};\n"
        "  e.version = NVTX_VERSION;\n  e.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;\n"
        '  e.messageType = NVTX_MESSAGE_TYPE_ASCII;\n  e.message.ascii = "x";\n'
        "  nvtxRangePushEx(&e);\n  nvtxRangePop();\n}\n"
    )
    text = hip(source)
    assert "cass::nvtx_range_push(&e);\n  roctxRangePop();" in text
    assert "e.size = sizeof(cass::nvtx_attributes);" in text
    assert not ENGINE.translate(source).errors


def test_cached_loads_that_a_class_has_itself_are_its_own() -> None:
    member = (
        "template <class T> struct Span {\n  T* data;\n"
        "  __device__ T& operator[](int i) { return __ldca(&data[i]); }\n"
        "  __device__ T& __ldca(T* p) { return *p; }\n};\n"
    )
    assert hip(member) == member
    overload = (
        "struct Pair { int a, b; };\n__device__ Pair __ldca(const Pair* p) { return *p; }\n"
        "__device__ int f(const int* p, const Pair* q) { return __ldca(p) + __ldca(q).a; }\n"
    )
    assert "cass::ldca(p)" in hip(overload)


def test_a_constant_that_is_called_as_a_type_of_cudas_is_the_programs() -> None:
    source = (
        "namespace own { enum E { success = 0, cudaError = 1 }; }\n"
        "int f() { return own::cudaError; }\n"
    )
    assert hip(source) == source
    own = (
        "struct R { cudaError_t cudaError = cudaSuccess; bool bad() { return cudaError != 0; }\n"
        "  void take(const R& o) { cudaError = o.cudaError; check(cudaError); } };\n"
        "cudaError last(const cudaError& e, std::vector<cudaError> all) {\n"
        "  cudaError f = e; return f; }\n"
    )
    made = hip(own)
    assert "hipError_t cudaError = hipSuccess; bool bad() { return cudaError != 0; }" in made
    assert "{ cudaError = o.cudaError; check(cudaError); }" in made
    assert "hipError_t last(const hipError_t& e, std::vector<hipError_t> all)" in made
    assert "  hipError_t f = e; return f; }" in made
    assert hip("enum cudaError e; f(a, cudaError(1));\n") == "hipError_t e; f(a, hipError_t(1));\n"


def test_overloads_of_other_files_keep_their_name() -> None:
    source = "__device__ void f(Angles a, float* p) { sincos(a, p, p + 1); }\n"
    assert "cass::sincos(a, p" in hip(source)
    assert hip(source, declared=frozenset({"sincos"})) == source


def test_reciprocal_roots_are_replaced_in_host_code_alone() -> None:
    assert "cass" not in hip("__device__ float f(float x) { return rsqrtf(x); }\n")
    assert "return cass::rsqrtf(x); }" in hip("float f(float x) { return rsqrtf(x); }\n")
    assert "at::rsqrt(x)" in hip("Tensor f(Tensor x) { return at::rsqrt(x); }\n")


@pytest.mark.parametrize(
    "source",
    [
        # ATen/core/aten_interned_strings.h lists PyTorch's operators so.
        "#define ALL(_) \\\n_(aten, abs) \\\n_(aten, rsqrt) \\\n_(aten, rcbrt)\n",
        "#define X(n) k_##n,\nenum E { X(rsqrt) X(rcbrtf) last };\n",
        "namespace n { enum class Q { abs, rcbrt }; }\n",
        "enum Q { rcbrt = 1 };\n",
        'const char* names[] = {"rsqrt", NAME_OF(rsqrtf)};\n',
        "auto op = n::ops().find<rcbrt_op>(rcbrt);\n",
    ],
)
def test_a_root_that_is_not_called_may_be_any_word(source: str) -> None:
    assert "cass::" not in hip(source)


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("float f(float x) { return rsqrtf (x); }\n", "cass::rsqrtf (x)"),
        (
            "#define ROOT(x) rsqrt(x)\nfloat f(float x) { return ROOT(x); }\n",
            "cass::rsqrt(x)",
        ),
    ],
)
def test_a_root_that_a_host_uses_is_given(source: str, used: str) -> None:
    assert used in hip(source)


@pytest.mark.parametrize(
    ("cuda", "translated"),
    [
        # nvcc 13 compiles these, and clang 19 without the word.
        ("void f(const __restrict__ u8 x[4]);", "void f(const u8 x[4]);"),
        ("void f(__restrict__ const float x[]);", "void f(const float x[]);"),
        ("void f(const __restrict std::uint8_t x[N + 1]);", "void f(const std::uint8_t x[N + 1]);"),
        ("void f(__restrict__ unsigned int x[4][4]);", "void f(unsigned int x[4][4]);"),
        ("void f(const __restrict__ Vec<T, 4> x[2]);", "void f(const Vec<T, 4> x[2]);"),
        ("void f(float* __restrict__ x, int y[4]);", "void f(float* __restrict__ x, int y[4]);"),
        ("void f(float* const __restrict__ x);", "void f(float* const __restrict__ x);"),
        ("void f(float (&__restrict__ x)[4]);", "void f(float (&__restrict__ x)[4]);"),
        ("void f(float x[__restrict__ 4]);", "void f(float x[__restrict__ 4]);"),
        ("void f(ptr __restrict__ x);", "void f(ptr __restrict__ x);"),
    ],
)
def test_elements_of_arrays_are_not_restricted(cuda: str, translated: str) -> None:
    assert hip(cuda + "\n") == translated + "\n"


@pytest.mark.parametrize(
    ("cuda", "translated"),
    [
        # cublas_v2.h: #define cublasCreate cublasCreate_v2, and so on.
        ("cublasCreate_v2(&h);", "hipblasCreate(&h);"),
        ("cublasDaxpy_v2(h, n, &a, x, 1, y, 1);", "hipblasDaxpy(h, n, &a, x, 1, y, 1);"),
        ("auto f = &cublasSgemm_v2;", "auto f = &hipblasSgemm;"),
    ],
)
def test_second_names_of_cublas(cuda: str, translated: str) -> None:
    source = f"#include <cublas_v2.h>\nvoid f() {{ {cuda} }}\n"
    assert hip(source).endswith(f"void f() {{ {translated} }}\n")


def test_a_second_name_that_no_function_has_is_unknown() -> None:
    source = "#include <cublas_v2.h>\nint f() { return cublasNoSuch_v2(); }\n"
    assert ENGINE.translate(source).errors


@pytest.mark.parametrize(
    ("cuda", "translated"),
    [
        ("k<<<{2, 2}, 32>>>(p);", "k<<<dim3(2, 2), 32>>>(p);"),
        ("k<<<grid, {x, y, 1}, 0, s>>>(p);", "k<<<grid, dim3(x, y, 1), 0, s>>>(p);"),
        ("k<N, M><<<{f(a, b)}, {b[1]}>>>(p);", "k<N, M><<<dim3(f(a, b)), dim3(b[1])>>>(p);"),
        ("k<<< g(1, 2),\n  {32, 1} >>>(p);", "k<<< g(1, 2),\n  dim3(32, 1) >>>(p);"),
        ("k<<<dim3{2, 2}, block, 0, {}>>>(p);", "k<<<dim3{2, 2}, block, 0, {}>>>(p);"),
        ("k<<<1, 2>>>({3, 4});", "k<<<1, 2>>>({3, 4});"),
        ("k<<<n, {{ k.block }}>>>(p);", "k<<<n, {{ k.block }}>>>(p);"),
        ("k << <{2}, 32 >> > (p);", "k <<<dim3(2), 32 >>> (p);"),
    ],
)
def test_braces_of_a_launch_are_dimensions(cuda: str, translated: str) -> None:
    source = f"__global__ void k(int* p);\nvoid f() {{ {cuda} }}\n"
    assert hip(source).endswith(f"void f() {{ {translated} }}\n")


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        # cublasMigrateComputeType of cublas_api.h, without pedantic mathematics.
        ("CUDA_R_32F", "HIPBLAS_COMPUTE_32F"),
        ("CUDA_R_16F", "HIPBLAS_COMPUTE_16F"),
        ("CUDA_R_64F", "HIPBLAS_COMPUTE_64F"),
        ("CUDA_R_32I", "HIPBLAS_COMPUTE_32I"),
        ("CUBLAS_COMPUTE_32F", "HIPBLAS_COMPUTE_32F"),
        ("type", "cass::compute_type(type)"),
        ("other", "other"),
    ],
)
def test_data_types_are_compute_types_where_products_ask_for_one(given: str, taken: str) -> None:
    arguments = ", ".join(["h", *("x" for _ in range(16)), given, "CUBLAS_GEMM_DEFAULT"])
    source = f"void f(cudaDataType_t type, int other) {{ cublasGemmEx({arguments}); }}\n"
    assert hip(source).rstrip().endswith(f", {taken}, HIPBLAS_GEMM_DEFAULT); }}")


def test_a_data_type_among_others_of_one_declaration() -> None:
    arguments = ", ".join(["h", *("x" for _ in range(16)), "type", "CUBLAS_GEMM_DEFAULT"])
    types = "cudaDataType_t a = CUDA_R_16F, type = CUDA_R_32F;"
    source = f"void f() {{ {types} cublasGemmEx({arguments}); }}"
    assert "cass::compute_type(type), HIPBLAS_GEMM_DEFAULT" in hip(source)


@pytest.mark.parametrize(
    ("header", "given", "taken"),
    [
        ("struct E { const cudaDataType_t type = T::type; };", "type", "cass::compute_type(type)"),
        ("struct E { cudaDataType type; };", "this->type", "cass::compute_type(this->type)"),
        ("void g(int a, cudaDataType_t type);", "e.o->type", "cass::compute_type(e.o->type)"),
        ("struct E { static constexpr cudaDataType_t type{CUDA_R_32F}; };", "E::type",
         "cass::compute_type(E::type)"),
        ("struct E { cublasComputeType_t type; };", "type", "type"),
        ("struct E { cudaDataType_t other; };", "type", "type"),
    ],
)  # fmt: skip
def test_data_types_of_other_files(header: str, given: str, taken: str) -> None:
    """lightseq keeps it in a member of a header."""
    arguments = ", ".join(["h", *("x" for _ in range(16)), given, "CUBLAS_GEMM_DEFAULT"])
    source = f"void f() {{ cublasGemmEx({arguments}); }}\n"
    context = Context(declared=declared_names([header]))
    made = ENGINE.translate(source, filename="a.cu", context=context).source
    assert made.rstrip().endswith(f", {taken}, HIPBLAS_GEMM_DEFAULT); }}")


@pytest.mark.parametrize(
    "word",
    ["__thrust_exec_check_disable__", "__thrust_hd_warning_disable__", "_CCCL_EXEC_CHECK_DISABLE"],
)
def test_what_quiets_nvcc_is_dropped(word: str) -> None:
    """Macros of Thrust's configuration, which programs use in classes of their own."""
    source = f"struct Twice {{\n  {word}\n  template <class T> T operator()(T x);\n}};\n"
    made = ENGINE.translate(source, filename="a.cuh")
    assert word not in made.source
    assert not made.findings


@pytest.mark.parametrize(
    ("cuda", "last"),
    [
        ("MAX_ULP(sincospi, 1, 2);", "MAX_ULP(sincospi, 1, 2);"),
        ("_(aten, tgamma)", "_(aten, tgamma)"),
        ('table["x"] = info::remquo::value;', 'table["x"] = info::remquo::value;'),
        ("enum { ilogb, other };", "enum { ilogb, other };"),
        ("sincospi (x, &s, &c);", "cass::sincospi (x, &s, &c);"),
        (
            "__device__ double f(double x) { return tgamma(x); }",
            "__device__ double f(double x) { return cass::tgamma(x); }",
        ),
        ("y = __saturatef(x);", "y = cass::saturatef(x);"),
    ],
)
def test_functions_of_plain_names_are_those_that_are_called(cuda: str, last: str) -> None:
    assert hip(f"{cuda}\n").splitlines()[-1] == last
