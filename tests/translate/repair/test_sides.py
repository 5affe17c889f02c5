"""Declarations for one of clang's passes; the messages are clang 19's."""

from __future__ import annotations

import pytest

from cass_ray.translate.repair.loop import apply_fixes, at_declarations, diagnostics

LOG = """\
grid.h:9:3: error: no matching function for call to 'fail'
check.h:{line}:{column}: note: candidate function not viable: call to __host__ function from \
__device__ function
"""
BOTH = "#ifdef __HIPCC__\n__host__ __device__\n#endif\n"


@pytest.mark.parametrize(
    ("before", "declaration", "mended"),
    [
        ("#ifndef __HIP_DEVICE_COMPILE__\n", "extern void fail();", True),
        ("#ifndef __CUDA_ARCH__\n", "void fail(int line, const char* file);", True),
        ("#if !defined(__HIP_DEVICE_COMPILE__)\n", "int fail() noexcept;", True),
        ("#ifdef __HIP_DEVICE_COMPILE__\n#define F\n#else\n", "void fail();", True),
        ("#ifndef __HIP_DEVICE_COMPILE__\n#ifdef __linux__\n#endif\n", "void fail();", True),
        # The device's pass sees it as well: it would be called there, and be missing.
        ("", "void fail();", False),
        ("#ifndef __HIP_DEVICE_COMPILE__\n#endif\n", "void fail();", False),
        ("#ifdef __HIP_DEVICE_COMPILE__\n", "void fail();", False),
        ("#ifndef __HIP_DEVICE_COMPILE__\n#else\n", "void fail();", False),
        ("#ifndef CHECK_H\n#define CHECK_H\n", "void fail();", False),
        # Its body is the host's own.
        ("#ifndef __HIP_DEVICE_COMPILE__\n", "void fail() { throw 1; }", False),
    ],
)
def test_what_the_hosts_pass_alone_declares(before: str, declaration: str, mended: bool) -> None:
    line, column = before.count("\n") + 1, declaration.index("fail") + 1
    source = f"{before}{declaration}\n"
    (item,) = at_declarations(diagnostics(LOG.format(line=line, column=column)))
    assert (item.file, item.line, item.column) == ("check.h", line, column)
    made, fixes = apply_fixes(source, [item])
    assert made == (f"{before}{BOTH}{declaration}\n" if mended else source)
    assert len(fixes) == mended


CALLED = """\
run.cu:9:20: error: no matching constructor for initialization of 'const Loss'
./loss.h:1:{column}: note: candidate constructor not viable: call to __device__ function from \
__host__ function
"""


@pytest.mark.parametrize(
    ("constructor", "mended"),
    [
        ("__device__ inline Loss(float d) {}", True),
        ("__device__ Loss(float d) : d(d), e{d * d} { }", True),
        ("template <class T> __device__ Loss(T d) : Base<T>(d) {}", True),
        ("explicit DEVICE Loss(float d) : d(d) {}", True),
        # nvcc's host code has nothing of these bodies.
        ("__device__ Loss(float d) { this->d = d; }", False),
        ("__device__ Loss(float d) : e(d) { this->d = d; }", False),
        ("__device__ Loss(float d);", False),
    ],
)
def test_constructors_of_the_device_that_the_host_calls(constructor: str, mended: bool) -> None:
    source = f"struct Loss {{ {constructor} float d, e; }};\n"
    column = source.index("Loss(") + 1
    (item,) = at_declarations(diagnostics(CALLED.format(column=column)))
    assert (item.file, item.line, item.column) == ("./loss.h", 1, column)
    made, fixes = apply_fixes(source, [item])
    assert ("__host__ " in made, bool(fixes)) == (mended, mended), made
    assert made.replace("__host__ ", "").replace("__device__ ", "") == source.replace(
        "__device__ ", ""
    )
