"""The headers that give HIP programs what CUDA has and HIP lacks."""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.toolchain.amd.toolchain import SHIM, AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.repairs import repair_cooperative_groups
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.rules import RulesTranslator

KERNEL = """
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
namespace cg = cooperative_groups;
__device__ unsigned short words[2];
__global__ void __launch_bounds__(256, 2, 1) every(
    const __grid_constant__ uint3 size, float *x, double *d, int *y, unsigned m, unsigned long w) {
  y[0] = __shfl_sync(0xffffffff, y[1], 3) + __shfl_sync(m, y[1], 3) + __shfl_sync(w, y[1], 3);
  x[0] = __shfl_up_sync(-1, x[1], 1) + __shfl_down_sync(0xffffffffffffffffull, x[1], 1, 16);
  d[0] = __shfl_xor_sync(m, d[1], 1);
  __half h = __shfl_xor_sync(m, __float2half(x[2]), 2);
  unsigned ballot = __ballot_sync(0xffffffff, y[2]);
  y[3] = __any_sync(m, y[2]) + __all_sync(m, y[2]) + __popc(ballot) + __activemask();
  y[4] = __reduce_add_sync(m, y[2]) + __reduce_max_sync(m, m) + __reduce_xor_sync(m, m);
  int all;
  y[5] = __match_any_sync(m, d[2]) + __match_all_sync(m, y[2], &all) + all;
  __syncwarp();
  __syncwarp(m);
  __stcs(x + 1, __ldcs(x + 2) + __ldcg(x + 3) + __ldg(x + 4));
  float4 four = __ldcs(reinterpret_cast<const float4 *>(x));
  atomicAdd_block(y, 1);
  atomicCAS(words, (unsigned short)1, (unsigned short)2);
  x[5] = __fadd_rd(x[1], x[2]) + __fmaf_rz(x[1], x[2], x[3]) + four.x + __half2float(h);
  d[3] = __dmul_ru(d[1], d[2]);
  y[6] = __dp4a(y[1], y[2], y[3]) + __vadd4(m, m) + umin(m, 3u) + __ffsll(w) + __isShared(x);
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  y[7] = cg::reduce(tile, y[2], cg::plus<int>()) + tile.ballot(y[1]) + tile.num_threads();
  y[8] = cg::reduce(cg::coalesced_threads(), y[2], cg::less<int>()) + size.x;
  if (y[8] == 7) __trap();
}
int main() { return 0; }
"""


@pytest.fixture(scope="module")
def amd() -> AmdToolchain:
    try:
        return find_amd(fetch=False)
    except ToolMissing as error:
        pytest.skip(f"no AMD toolchain: {error}")


@pytest.mark.amd
def test_every_function_compiles_and_assembles(amd: AmdToolchain, tmp_path: Path) -> None:
    (tmp_path / "every.hip").write_text(KERNEL)
    made = amd.compile(Unit(tmp_path, PurePosixPath("every.hip")))
    assert "ds_bpermute_b32" in made.device_assembly
    assert "s_setreg_imm32_b32" in made.device_assembly  # rounding modes
    assert amd.assemble(made.device_assembly)[:4] == b"\x7fELF"


SIMD_TEST = """
#define __device__
struct char4 { signed char x, y, z, w; };
struct uchar4 { unsigned char x, y, z, w; };
#include "cuda_simd.h"
extern "C" {
"""

SIMD_FUNCTIONS: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "__vadd2": ("H", lambda a, b: a + b),
    "__vadd4": ("B", lambda a, b: a + b),
    "__vsub4": ("B", lambda a, b: a - b),
    "__vabsdiffu4": ("B", lambda a, b: abs(a - b)),
    "__vabsdiffs2": ("h", lambda a, b: abs(a - b)),
    "__vavgu4": ("B", lambda a, b: (a + b + 1) // 2),
    "__vhaddu2": ("H", lambda a, b: (a + b) // 2),
    "__vmins2": ("h", min),
    "__vmaxs4": ("b", max),
    "__vminu2": ("H", min),
    "__vmaxu4": ("B", max),
    "__vcmpeq4": ("B", lambda a, b: 0xFF if a == b else 0),
    "__vcmpgts2": ("h", lambda a, b: 0xFFFF if a > b else 0),
    "__vcmpleu4": ("B", lambda a, b: 0xFF if a <= b else 0),
    "__vsetgtu4": ("B", lambda a, b: int(a > b)),
    "__vaddus4": ("B", lambda a, b: min(a + b, 255)),
    "__vsubus2": ("H", lambda a, b: max(a - b, 0)),
    "__vaddss4": ("b", lambda a, b: max(-128, min(127, a + b))),
    "__vsubss2": ("h", lambda a, b: max(-32768, min(32767, a - b))),
}
"""Name -> (type of a part as in :mod:`struct`, what is done to each), by the CUDA Math API."""

WORD = st.integers(0, 0xFFFFFFFF)


def parts(word: int, kind: str) -> tuple[int, ...]:
    return struct.unpack(f"<{4 // struct.calcsize(kind)}{kind}", word.to_bytes(4, "little"))


@pytest.fixture(scope="module")
def simd(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The intrinsics as a library for this machine: they are plain C++."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    folder = tmp_path_factory.mktemp("simd")
    source = SIMD_TEST
    for name in SIMD_FUNCTIONS:
        source += f"unsigned run{name}(unsigned a, unsigned b) {{ return {name}(a, b); }}\n"
    source += "int dot_signed(int a, int b, int c) { return __dp4a(a, b, c); }\n"
    source += "unsigned sad(unsigned a, unsigned b) { return __vsadu4(a, b); }\n}\n"
    (folder / "simd.cpp").write_text(source)
    library = folder / "simd.so"
    command = ["g++", "-std=c++17", "-w", "-shared", "-fPIC", f"-I{SHIM}"]
    subprocess.run([*command, str(folder / "simd.cpp"), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    for name in SIMD_FUNCTIONS:
        getattr(loaded, f"run{name}").restype = ctypes.c_uint
    loaded.sad.restype = ctypes.c_uint
    return loaded


@given(a=WORD, b=WORD)
def test_simd_intrinsics(simd: ctypes.CDLL, a: int, b: int) -> None:
    for name, (kind, operation) in SIMD_FUNCTIONS.items():
        size = struct.calcsize(kind)
        expected = b"".join(
            (operation(x, y) & (256**size - 1)).to_bytes(size, "little")
            for x, y in zip(parts(a, kind), parts(b, kind), strict=True)
        )
        call = getattr(simd, f"run{name}")
        result = call(ctypes.c_uint(a), ctypes.c_uint(b))
        assert result.to_bytes(4, "little") == expected, name


@given(a=WORD, b=WORD, c=st.integers(-(2**20), 2**20))
def test_dot_product_and_sum_of_differences(simd: ctypes.CDLL, a: int, b: int, c: int) -> None:
    signed = zip(parts(a, "b"), parts(b, "b"), strict=True)
    dot = simd.dot_signed(ctypes.c_int(a), ctypes.c_int(b), ctypes.c_int(c))
    assert dot == c + sum(x * y for x, y in signed)
    unsigned = zip(parts(a, "B"), parts(b, "B"), strict=True)
    assert simd.sad(ctypes.c_uint(a), ctypes.c_uint(b)) == sum(abs(x - y) for x, y in unsigned)


class TestCooperativeGroupsRepair:
    @staticmethod
    def header(include: Path, text: str) -> Path:
        path = include / "hip/amd_detail/amd_hip_cooperative_groups.h"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return path

    def test_a_header_of_another_version_is_left(self, tmp_path: Path) -> None:
        text = "class thread_block { unsigned num_threads(); };\n"
        path = self.header(tmp_path, text)
        repair_cooperative_groups(tmp_path)
        assert path.read_text() == text

    def test_members_are_added_once(self, tmp_path: Path) -> None:
        text = (
            "template <class T> __CG_QUALIFIER__ T shfl_xor(T var, unsigned int laneMask) const {\n"
            "  return __shfl_xor(var, laneMask, numThreads);\n  }\n};\n"
            "  __CG_QUALIFIER__ unsigned int size() const { return 1; }\n"
        )
        path = self.header(tmp_path, text)
        repair_cooperative_groups(tmp_path)
        once = path.read_text()
        assert "ballot(int predicate) const" in once
        assert "unsigned int num_threads() const { return size(); }" in once
        repair_cooperative_groups(tmp_path)
        assert path.read_text() == once


ADDS = """#include <hip/hip_runtime.h>
__global__ void add(float4* p) { p[0] = p[0] + p[1]; }
"""


@pytest.mark.amd
def test_a_hip_program_keeps_hips_vector_types_beside_ports(tmp_path: Path) -> None:
    port = RulesTranslator().translate("__global__ void k(float4* p) { p[0] = {p[1].x}; }").source
    units = []
    for name, text in (("port.hip", port), ("native.hip", ADDS)):
        (tmp_path / name).write_text(text)
        units.append(Unit(tmp_path, PurePosixPath(name)))
    for unit in (*units, *reversed(units)):
        assert find_amd().compile_device(unit).device_assembly
    (tmp_path / "wrong.hip").write_text(f"{port}\n{ADDS}")
    with pytest.raises(CompileFailure, match="invalid operands"):
        find_amd().compile_device(Unit(tmp_path, PurePosixPath("wrong.hip")))


@pytest.mark.amd
def test_thrust_has_vectors_of_pinned_memory(tmp_path: Path) -> None:
    source = (
        "#include <thrust/universal_vector.h>\n"
        "__global__ void k(int* p) { *p = 1; }\n"
        "void f(thrust::universal_host_pinned_vector<int>& v) {"
        " k<<<1, 1>>>(thrust::raw_pointer_cast(v.data())); v.resize(4); }\n"
    )
    (tmp_path / "a.hip").write_text(source)
    made = find_amd().compile(Unit(tmp_path, PurePosixPath("a.hip")))
    assert "hipHostMalloc" in made.host_assembly
