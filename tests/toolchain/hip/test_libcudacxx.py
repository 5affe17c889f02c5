"""libcu++ for the AMD side: what it computes on the device, and what of it is refused by name."""

from __future__ import annotations

import functools
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.cache import default_directory
from cass_ray.dataset.row import Reason
from cass_ray.toolchain.hip import libcudacxx
from cass_ray.toolchain.hip.libcudacxx import libcudacxx_for_hip
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.unit import CompileFailure, Unit
from tests.translate.programs import output_of

PROGRAM = r"""
#include <cstdio>
#include <cuda/atomic>
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/cstdint>
#include <cuda/std/cstring>
#include <cuda/std/functional>
#include <cuda/std/iterator>
#include <cuda/std/limits>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda/version>
#include <nv/target>

__host__ __device__ int side() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return 1;), (return 2;))
}
__host__ __device__ int architecture() {
  NV_DISPATCH_TARGET(NV_PROVIDES_SM_70, (return 3;), NV_IS_DEVICE, (return 4;),
                     NV_IS_HOST, (return 5;))
}

__global__ void use(int* i, float* f, char* text) {
  cuda::atomic_ref<int, cuda::thread_scope_device> count(i[0]);
  count.fetch_add(1, cuda::memory_order_relaxed);
  if (blockIdx.x || threadIdx.x) return;
  i[1] = side();
  i[2] = architecture();
  cuda::std::array<int, 5> a{{5, 1, 4, 2, 3}};
  i[3] = cuda::std::max(a[0], a[2]) * 10 + static_cast<int>(a.size());
  i[4] = cuda::std::accumulate(a.begin(), a.end(), 100);
  cuda::std::tuple<int, float> pair = cuda::std::make_tuple(4, 2.5f);
  i[5] = cuda::std::get<0>(pair);
  f[0] = cuda::std::get<1>(pair);
  cuda::std::complex<float> z(1.0f, 2.0f);
  z *= z;
  f[1] = z.real();
  f[2] = z.imag();
  i[6] = cuda::std::popcount(0xf0f0u) * 10000 + cuda::std::countl_zero(1u) * 100;
  i[6] += cuda::std::countr_zero(8u);
  i[7] = static_cast<int>(cuda::std::bit_ceil(33u) + cuda::std::rotl(0x80000001u, 1));
  cuda::std::span<int> view(a.data() + 1, 3);
  i[8] = view[0] * 100 + view[1] * 10 + view.back();
  cuda::std::optional<int> empty, full = 9;
  i[9] = empty.value_or(7) * 10 + *full;
  i[10] = cuda::std::is_same_v<cuda::std::int32_t, int> &&
          cuda::std::numeric_limits<int>::max() == 0x7fffffff;
  i[11] = cuda::maximum<int>{}(3, 8) + cuda::std::plus<>{}(10, 20);
  // 10000 is no angle for the fast instruction: sin(10000) is -0.305614 (bc: s(10000)).
  f[3] = cuda::std::sin(10000.0f);
  f[4] = cuda::std::exp(2.0f);
  cuda::std::memcpy(text, "abc", 4);
  i[12] = cuda::std::memcmp(text, "abd", 3) < 0;
  i[13] = static_cast<int>(cuda::std::distance(a.begin(), cuda::std::next(a.begin(), 2)));
}

template <typename T> T* shared() { T* p; cudaMallocManaged(&p, 64 * sizeof(T)); return p; }
int main() {
  int* i = shared<int>();
  float* f = shared<float>();
  char* text = shared<char>();
  i[0] = 0;
  use<<<3, 64>>>(i, f, text);
  if (cudaDeviceSynchronize()) return 1;
  printf("atomic: %d\ntarget: %d %d %d %d\n", i[0], i[1], i[2], side(), architecture());
  printf("ranges: %d %d %d %d\n", i[3], i[4], i[8], i[13]);
  printf("tuple: %d %g\ncomplex: %g %g\n", i[5], f[0], f[1], f[2]);
  printf("bits: %d %d\noptional: %d\ntraits: %d\n", i[6], i[7], i[9], i[10]);
  printf("functional: %d\nmath: %.4f %.4f\n", i[11], f[3], f[4]);
  printf("memory: %s %d\n", text, i[12]);
}
"""


@functools.cache
def _headers() -> Path:
    return libcudacxx_for_hip(find_nvidia().home / "include/cccl", default_directory())


@pytest.mark.amd
def test_what_libcudacxx_computes_on_the_device() -> None:
    """192 threads; (1 + 2i)^2 = -3 + 4i; 8 ones, 31 zeros before 1, 3 behind 8; 64 + 3."""
    assert output_of(PROGRAM, headers=_headers()) == {
        "atomic": "192",
        "target": "1 4 2 5",
        "ranges": "55 115 142 2",
        "tuple": "4 2.5",
        "complex": "-3 4",
        "bits": "83103 67",
        "optional": "79",
        "traits": "1",
        "functional": "38",
        "math": "-0.3056 7.3891",
        "memory": "abc 1",
    }


@pytest.mark.amd
@pytest.mark.parametrize(
    "header", ["cuda/barrier", "cuda/latch", "cuda/ptx", "cuda/std/semaphore", "cuda/annotated_ptr"]
)
def test_what_amd_devices_lack_is_no_header(header: str, tmp_path: Path) -> None:
    text = f"#include <{header}>\n__global__ void k(int* p) {{ *p = 1; }}\n"
    (tmp_path / "a.hip").write_text(text)
    unit = Unit(tmp_path, PurePosixPath("a.hip"), system_directories=(_headers(),))
    with pytest.raises(CompileFailure) as failure:
        find_amd().compile_device(unit)
    assert failure.value.reason is Reason.MISSING_HEADER
    assert header in failure.value.diagnostic


@pytest.mark.amd
@pytest.mark.parametrize(
    ("header", "call"),
    [
        ("cuda/std/chrono", "cuda::std::chrono::system_clock::now().time_since_epoch().count()"),
        ("cuda/std/cstdlib", "(long)cuda::std::aligned_alloc(64, 64)"),
    ],
)
def test_a_function_that_amd_devices_lack_is_an_error(
    header: str, call: str, tmp_path: Path
) -> None:
    text = f"#include <{header}>\n__global__ void k(long* p) {{ *p = {call}; }}\n"
    (tmp_path / "a.hip").write_text(text)
    unit = Unit(tmp_path, PurePosixPath("a.hip"), system_directories=(_headers(),))
    with pytest.raises(CompileFailure, match="AMD devices lack this part of libcu"):
        find_amd().compile_device(unit)


@pytest.mark.amd
def test_streams_call_the_runtime_of_hip(tmp_path: Path) -> None:
    text = "#include <cuda/stream_ref>\nvoid f(hipStream_t s) { cuda::stream_ref(s).wait(); }\n"
    (tmp_path / "a.hip").write_text(text + "__global__ void k(int* p) { *p = 1; }\n")
    unit = Unit(tmp_path, PurePosixPath("a.hip"), system_directories=(_headers(),))
    assert "hipStreamSynchronize" in find_amd().compile(unit).host_assembly


def test_another_release_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "h/cuda").mkdir(parents=True)
    (tmp_path / "h/nv").mkdir()
    (tmp_path / "h/nv/target").write_text("// another one\n")
    monkeypatch.setattr(libcudacxx, "_LEFT_OUT", ())
    monkeypatch.setattr(libcudacxx, "_EDITS", (("nv/target", "#elif defined", "#elif"),))
    with pytest.raises(ValueError, match=r"target of libcu.. has no '#elif defined'"):
        libcudacxx_for_hip(tmp_path / "h", tmp_path / "cache")


@pytest.mark.amd
@pytest.mark.parametrize("kind", ["Large", "Odd"])
def test_an_atomic_object_that_needs_a_lock_is_refused(kind: str, tmp_path: Path) -> None:
    text = "#include <cuda/atomic>\nstruct Large { int a[4]; };\nstruct Odd { short a[3]; };\n"
    text += f"__global__ void k({kind}* p, cuda::atomic<{kind}>* a) {{ *p = a->load(); }}\n"
    (tmp_path / "a.hip").write_text(text)
    with pytest.raises(CompileFailure, match="takes a lock for objects of other sizes"):
        find_amd().compile_device(Unit(tmp_path, PurePosixPath("a.hip")))


@pytest.mark.amd
@pytest.mark.parametrize(
    "text",
    [
        "#include <cuda/std/tuple>\n#include <thrust/version.h>\n#include <thrust/sort.h>\n",
        "#include <thrust/version.h>\n#include <cassert>\n#include <cuda/std/span>\n",
        "#include <cassert>\n#include <cuda/std/optional>\n#include <thrust/tuple.h>\n",
        "#include <hipcub/hipcub.hpp>\n#include <cuda/std/functional>\n",
        '#include <thrust/version.h>\nstatic_assert(THRUST_VERSION >= 100000, "");\n',
    ],
)
def test_it_stands_beside_rocthrust_without_assertions(text: str, tmp_path: Path) -> None:
    """As xgboost's CMake has it: thrust_create_target defines the system, Release NDEBUG."""
    (tmp_path / "a.hip").write_text(f"{text}__global__ void k(int* p) {{ *p = 1; }}\n")
    unit = Unit(
        tmp_path,
        PurePosixPath("a.hip"),
        definitions=("NDEBUG", "THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_HIP"),
        system_directories=(_headers(),),
    )
    assert "k" in find_amd().compile(unit).device_assembly
