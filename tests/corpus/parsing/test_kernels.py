import pytest

from cass_ray.corpus.parsing.kernels import IN_MACRO, find_kernels, kernel_definitions, only_prints


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("__global__ void k(int *a) { a[0] = 1; }", ["k"]),
        ("__global__ void k(int *a);", []),
        ("__global__ void k(int *a);\n__global__ void k(int *a) {}", ["k"]),
        ("__global__ __launch_bounds__(256, 2) void k() {}", ["k"]),
        ("__global__ void __launch_bounds__((1 << 8)) k() {}", ["k"]),
        ("void __global__ k() {}", ["k"]),
        ("template <typename T> __global__ void k(T (*f)(int)) {}", ["k"]),
        ("template <> __global__ void k<float, (1 > 0)>(float *) {}", ["k"]),
        ('extern "C" __global__ void k() {} __global__ void j() {}', ["k", "j"]),
        ('__global__ void k() { /* } */ s = "}"; } int x;', ["k"]),
        ("// __global__ void k() {}\n/* __global__ */ int x;", []),
        ('s = "__global__ void k() {}";', []),
        ("my__global__ void k() {}", []),
        ("#define K(n) __global__ void n() {}\nK(a)", [IN_MACRO]),
        ("#define KERNEL __global__ void\nKERNEL k() {}", [IN_MACRO]),
        ("__global__ void\n#ifdef A\nk(int a)\n#else\nk(float a)\n#endif\n{}", ["k"]),
        ("__global__ friend void k(int);\nvoid f() {}", []),
    ],
)
def test_definitions(source: str, names: list[str]) -> None:
    assert kernel_definitions(source) == names


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", True),
        ('printf("Hello\\n");', True),
        ('int i = threadIdx.x; if (i < 4) { printf("%d", i); }', True),
        ('a[0] = 1; printf("x");', False),
        ('*a = 1; printf("x");', False),
        ('p->x += 1; printf("x");', False),
        ('a[0]++; printf("x");', False),
        ('atomicAdd(a, 1); printf("x");', False),
        ('body<int>(a); printf("x");', False),
        ('asm("trap;"); printf("x");', False),
        ("while (a[0] < 1) {}", False),
    ],
)
def test_only_prints(body: str, expected: bool) -> None:
    (kernel,) = find_kernels(f"__global__ void k(int *a) {{ {body} }}")
    assert only_prints(kernel) is expected
