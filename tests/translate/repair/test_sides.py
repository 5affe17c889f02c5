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
