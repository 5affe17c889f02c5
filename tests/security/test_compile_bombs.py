"""Sources that a compiler would work on for ever, or without end of memory or of output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.amd.link import LinkTools, assemble
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.opencl.locate import find_opencl_amd
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.process import Limits
from cass_ray.toolchain.unit import CompileFailure, Unit

pytestmark = [
    pytest.mark.skipif(not isolation.available(), reason="no sandbox here"),
    pytest.mark.amd,
    pytest.mark.nvidia,
]

MIB = 1 << 20
LIMITS = Limits(
    cpu_seconds=1,
    wall_seconds=10,
    memory_bytes=600 * MIB,
    address_space_bytes=2048 * MIB,
    file_bytes=16 * MIB,
    output_bytes=8 * MIB,
)
ENDED = {
    Reason.TIME_LIMIT,
    Reason.MEMORY_LIMIT,
    Reason.OUTPUT_LIMIT,
    Reason.COMPILE_ERROR,
    Reason.COMPILER_CRASHED,
    Reason.MISSING_HEADER,
}
"""A compiler may know the bomb and refuse it."""

KERNEL = "__global__ void k(int *p) { *p = 1; }\n"
NEVER = KERNEL + "constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i; "
NEVER += "return s; }\n"

SOURCES = {
    "templates that recur": "template <int N> struct A { typename A<N + 1>::t x; };\nA<0> a;\n",
    "templates that fork": KERNEL
    + "template <int N, int M> struct A { A<N - 1, 2 * M> a; A<N - 1, 2 * M + 1> b; };\n"
    "template <int M> struct A<0, M> { int x; };\nA<24, 1> a;\n",
    "macros of macros": KERNEL
    + "#define A0 x x x x x x x x\n"
    + "".join(f"#define A{n} {f'A{n - 1} ' * 8}\n" for n in range(1, 12))
    + "int y = A11;\n",
    "strings of macros": KERNEL
    + '#define A0 "aaaaaaaaaaaaaaaa"\n'
    + "".join(f"#define A{n} {f'A{n - 1} ' * 8}\n" for n in range(1, 12))
    + "const char *y = A11;\n",
    "a file that includes itself": '#include "x.cu"\n',
    "a file that includes itself twice": '#if __INCLUDE_LEVEL__ < 60\n#include "x.cu"\n'
    '#include "x.cu"\n#endif\n',
    "a loop before running": NEVER + "constexpr long x = f(1L << 60);\n",
    "a recursion before running": KERNEL
    + "constexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
    + "constexpr long x = f(200);\n",
    "a terabyte of zeros": KERNEL + "char x[1L << 40];\nint main() { return x[5]; }\n",
    "a gigabyte that is no zero": KERNEL + "char x[1L << 30] = {1};\n",
    "parentheses in parentheses": KERNEL + f"int x = {'(' * 100_000}1{')' * 100_000};\n",
    "blocks in blocks": KERNEL + f"void f() {{ {'{' * 100_000}{'}' * 100_000} }}\n",
    "operators in operators": KERNEL + f"int x = {'-~' * 100_000}1;\n",
    "pointers to pointers": KERNEL + f"int {'*' * 200_000}x;\n",
    "conditions that never end": KERNEL + "#if 1\n" * 100_000,
    "a name of megabytes": KERNEL + f"int {'n' * 4 * MIB};\n",
    "a long line": KERNEL + "int x" + ", x" * MIB + ";\n",
    "switches of switches": "__global__ void k(int *p) { switch (*p) {"
    + "".join(f"case {n}: p[{n}] = p[{n * 7}] / {n + 1};" for n in range(60_000))
    + "} }\n",
    "loops to be unrolled": "__global__ void k(int *p) {\n"
    + "#pragma unroll\n"
    + "for (int i = 0; i < 4096; ++i)\n#pragma unroll\nfor (int j = 0; j < 4096; ++j) "
    + "p[i * j] = p[i] / (p[j] + 1);\n}\n",
    "a crash on demand": KERNEL + "#pragma clang __debug crash\n#error otherwise\n",
    "an overflow on demand": KERNEL + "#pragma clang __debug overflow_stack\n#error otherwise\n",
    "a fatal error on demand": KERNEL
    + "#pragma clang __debug llvm_fatal_error\n#error otherwise\n",
    "a plugin": KERNEL
    + "#pragma clang __debug load evil.so\n#pragma GCC plugin evil\n#error otherwise\n",
}

ASSEMBLY = {
    ".rept": ".rept 1000000000\n.quad 1\n.endr\n",
    ".rept of .rept": ".rept 100000\n.rept 100000\n.quad 1\n.endr\n.endr\n",
    ".fill": ".fill 0x7fffffff, 8, 1\n",
    ".zero of a terabyte": ".zero 1 << 40\n",
    ".org": ".org 0x7fffffffff\n.quad 1\n",
    ".balign": ".quad 1\n.balign 0x40000000\n.quad 1\n",
    "macros that recur": ".macro m\nm\nm\n.endm\nm\n",
    "macros that grow": ".macro m a:vararg\nm \\a, \\a\n.endm\nm 1, 2\n",
    ".irp in .irp": ".irp a,1,2,3,4,5,6,7,8,9\n" * 12 + ".quad 1\n" + ".endr\n" * 12,
    "expressions in expressions": f".quad {'(' * 200_000}1{')' * 200_000}\n",
    "symbols of symbols": "".join(f"a{n} = a{n + 1} + a{n + 1}\n" for n in range(64))
    + "a64 = 1\n.quad a0\n",
    "symbols in a circle": "a = b\nb = a\n.quad a\n",
    "a file that includes itself": '.include "device.s"\n.include "device.s"\n',
    "conditions in conditions": ".if 1\n" * 500_000,
    "sections": "".join(f'.section s{n},"a"\n.byte 1\n' for n in range(70_000)),
    "a bundle of itself": '.incbin "device.s"\n' * 200_000,
}


def ends(work: Callable[[], object]) -> None:
    try:
        work()
    except CompileFailure as failure:
        assert failure.reason in ENDED, failure
        assert failure.diagnostic
        assert len(failure.diagnostic) <= LIMITS.output_bytes


QUICK = [("CUDA", 1), ("HIP", 4), ("OpenCL", 0)]
"""Each attack against nvcc, every fourth against clang; the others under ``make test-full``."""
AGAINST_COMPILERS = [
    pytest.param(
        attack,
        compiler,
        marks=[] if every and number % every == 0 else pytest.mark.slow,
        id=f"{compiler}-{attack}",
    )
    for compiler, every in QUICK
    for number, attack in enumerate(SOURCES)
]


@pytest.mark.parametrize(("attack", "compiler"), AGAINST_COMPILERS)
def test_sources(attack: str, compiler: str, tmp_path: Path) -> None:
    name = "x.cl" if compiler == "OpenCL" else "x.cu"
    text = SOURCES[attack].replace("x.cu", name)
    if compiler == "OpenCL":
        text = text.replace("__global__ void k(int *p)", "__kernel void k(__global int *p)")
    (tmp_path / name).write_text(text)
    unit = Unit(tmp_path, PurePosixPath(name))
    compile_it: dict[str, Callable[[], object]] = {
        "HIP": lambda: find_amd().compile(unit, limits=LIMITS),
        "CUDA": lambda: find_nvidia().compile(unit, limits=LIMITS),
        "OpenCL": lambda: find_opencl_amd().compile(unit, "gfx1100", limits=LIMITS),
    }
    ends(compile_it[compiler])


@pytest.mark.parametrize("attack", ASSEMBLY)
def test_assembly(attack: str) -> None:
    amd = find_amd()
    tools = LinkTools(amd.clang, amd.linker, amd.visible(), LIMITS)
    ends(lambda: assemble(tools, ".text\n" + ASSEMBLY[attack], "gfx1100"))
