"""CUDA compilation against plain nvcc, and disassembly in batches against one file at a time."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.assembly import sass
from cass_ray.dataset.row import Reason
from cass_ray.toolchain.nvidia import disassembly, host
from cass_ray.toolchain.nvidia.disassembly import limits_for, split
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError
from cass_ray.toolchain.nvidia.host import without_registration
from cass_ray.toolchain.nvidia.steps import SOURCE_TREE, NvccError
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.isolation import ALLOW_UNISOLATED, Mount, View, private_folder
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Limits, run
from cass_ray.toolchain.unit import CompileFailure, Unit
from tests.folders import REPOSITORY

SHIPPED = REPOSITORY / "cass_ray/corpus/shipped/programs"

PROGRAM = """
#include <cstdio>
#include <cmath>
#include <vector>
#include "factor.h"
__constant__ float table[4];
__device__ int counter;
__noinline__ __device__ double slow(double x, int n) {
  for (int i = 0; i < n; ++i) x = sin(x) / (x + i);
  return x;
}
__global__ void scale(float *values, int n) {
  extern __shared__ float tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? values[i] : 0.0f;
  __syncthreads();
  if (i < n) values[i] = FACTOR * tile[blockDim.x - 1 - threadIdx.x] * table[i & 3];
  atomicAdd(&counter, 1);
}
__global__ void choose(int *out, int k) {
  switch (k) {
    case 0: out[0] = k; break;
    case 1: out[1] = out[0] / 3; break;
    case 2: out[2] = __popc(k); break;
    case 3: out[3] = __ffs(k); break;
    case 4: out[4] ^= 7; break;
    case 5: out[5] = out[4] % k; break;
    default: printf("%d %f\\n", k, slow(k, out[0]));
  }
}
template <typename T> __global__ void fill(T *out, T value) { out[threadIdx.x] = value; }
int main() {
  std::vector<float> host(256, 1.0f);
  float *values = nullptr;
  if (cudaMalloc(&values, 1024) != cudaSuccess) return 1;
  scale<<<1, 256, 1024>>>(values, (int)host.size());
  choose<<<1, 1>>>((int *)values, 1);
  fill<double><<<1, 32>>>((double *)values, 2.0);
  return cudaDeviceSynchronize();
}
"""

OF_OTHER_UNITS = """
extern __device__ float table[4];
__device__ float twice(float x);
class Counter { public: __device__ int next(int x); int value; };
__global__ void apply(float *data, Counter *c) {
  data[threadIdx.x] = twice(data[threadIdx.x]) + table[threadIdx.x % 4] + c->next(2);
}
void launch(float *data, Counter *c) { apply<<<1, 32>>>(data, c); }
"""

UNNAMED = """
namespace { __global__ void hidden(int *p) { *p = 1; } }
static __device__ int state;
static __global__ void inner(int *p) { *p = state; }
int main() { hidden<<<1, 1>>>(nullptr); inner<<<1, 1>>>(nullptr); return 0; }
"""

BY_ARCHITECTURE = """
__global__ void kernel(int *p) {
#if __CUDA_ARCH__ >= 890
  *p = 89;
#else
  *p = 80;
#endif
}
int main() { kernel<<<1, 1>>>(nullptr); return 0; }
"""


def from_packages() -> NvidiaToolchain | None:
    """The toolchain of NVIDIA's Python packages, as users have it."""
    package = importlib.util.find_spec("nvidia")
    places = list(package.submodule_search_locations or ()) if package else []
    for home in (Path(place) / "cu13" for place in places):
        if (home / "bin/nvcc").exists():
            return NvidiaToolchain(
                nvcc=home / "bin/nvcc",
                cuobjdump=home / "bin/cuobjdump",
                nvdisasm=home / "bin/nvdisasm",
                include_directories=(home / "include",),
                library_directories=(home / "lib",),
                version="13.0.88",
            )
    return None


TOOLCHAIN = from_packages()
pytestmark = [
    pytest.mark.nvidia,
    pytest.mark.skipif(TOOLCHAIN is None, reason="no CUDA compiler among the Python packages"),
    pytest.mark.skipif(not isolation.available(), reason=isolation.problem()),
]


@pytest.fixture
def toolchain() -> NvidiaToolchain:
    assert TOOLCHAIN is not None
    return TOOLCHAIN


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src/factor.h").write_text("#define FACTOR 3.0f\n")
    (tree / "src/program.cu").write_text(PROGRAM)
    return tree


def test_what_nvcc_says_that_it_compiles_for(tmp_path: Path) -> None:
    """In the words of ``nvcc --list-gpu-code`` of CUDA 13.0, which has no order."""
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\nprintf 'sm_75\nsm_80\nsm_110\nsm_103\n'\n")
    nvcc.chmod(0o755)
    made = NvidiaToolchain(nvcc, nvcc, nvcc, (), (), "13.0.88")
    assert made.targets == ("sm_75", "sm_80", "sm_103", "sm_110")
    assert made.compiles_for("sm_103f") and made.compiles_for("sm_80")
    assert not made.compiles_for("sm_90a") and not made.compiles_for("sm_8")


def test_an_nvcc_that_does_not_answer(tmp_path: Path) -> None:
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\necho 'no such option' >&2\nexit 1\n")
    nvcc.chmod(0o755)
    with pytest.raises(NvccError, match="--list-gpu-code failed: no such option"):
        _ = NvidiaToolchain(nvcc, nvcc, nvcc, (), (), "11.0").targets


def unit_of(tree: Path, name: str, source: str) -> Unit:
    (tree / name).write_text(source)
    return Unit(tree, PurePosixPath(name))


def plain_cubin(toolchain: NvidiaToolchain, unit: Unit, architecture: str, *further: str) -> bytes:
    """What ``nvcc -cubin`` makes of ``unit``, at the path at which our steps see it.

    Names of symbols in unnamed name spaces hold a hash of that path.
    """
    flags = ["-std=c++17", "--expt-relaxed-constexpr", "--extended-lambda"]
    command = [toolchain.nvcc, *flags, *further, "-cubin", f"-arch={architecture}", str(unit.main)]
    with private_folder() as folder:
        mounts = (Mount(unit.root, SOURCE_TREE), Mount(folder, Path("/cass/out"), writable=True))
        view = View(read_only=toolchain.visible(), mounts=mounts)
        output = folder / "plain.cubin"
        completed = run([*command, "-o", view.inside(output)], cwd=unit.root, view=view)
        assert completed.ok, completed.stderr_text
        return output.read_bytes()


def plain_sass(toolchain: NvidiaToolchain, cubin: bytes, folder: Path) -> str:
    """What nvdisasm alone prints for ``cubin``, with the same numbering of labels."""
    (folder / "alone.cubin").write_bytes(cubin)
    command = [str(toolchain.nvdisasm), "-c", str(folder / "alone.cubin")]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return split(listing, [len(Cubin.parse(cubin).code_sections)])[0]


def registers(host: str) -> list[str]:
    return [word for word in ("__cudaRegister", "nv_fatbin", "fatbinwrap") if word in host]


def test_a_unit_that_calls_device_code_of_others_is_relocatable(
    toolchain: NvidiaToolchain, tree: Path, tmp_path: Path
) -> None:
    """As nvcc makes it with -rdc=true, which projects with CUDA_SEPARABLE_COMPILATION ask for."""
    unit = unit_of(tree, "user.cu", OF_OTHER_UNITS)
    output = toolchain.compile(unit, ("sm_90",))
    (listing,) = toolchain.disassemble(list(output.cubins.values()))
    plain = plain_cubin(toolchain, unit, "sm_90", "-rdc=true")
    assert listing == plain_sass(toolchain, plain, tmp_path)
    assert output.flags.endswith(" -rdc=true")
    for name in ("_Z5twicef", "_ZN7Counter4nextEi", "table"):
        assert name in listing


SEPARATE = {
    "memory without contents": """
__device__ unsigned long long table[1024];
__global__ void read(unsigned long long *p) { *p += other(table[*p & 7]); }
""",
    "shared memory": """
__global__ void both(int *p) {
  __shared__ int own[1024];
  own[threadIdx.x] = other(p[threadIdx.x]);
  __syncthreads();
  p[threadIdx.x] = own[threadIdx.x ^ 1];
}
""",
    "a function with shared memory": """
__device__ __noinline__ int turned(int *p) {
  __shared__ int own[1024];
  own[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  return own[threadIdx.x ^ 1];
}
__global__ void first(int *p) { p[threadIdx.x] = turned(p); }
__global__ void second(int *p) { p[0] = other(turned(p)); }
""",
}


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("name", SEPARATE)
def test_relocatable_code_is_listed_alone_and_with_other(
    name: str, architecture: str, toolchain: NvidiaToolchain, tree: Path, tmp_path: Path
) -> None:
    """Seen: sections without contents have kinds of their own there ("damaged cubin"), and code
    for sm_120 that nvdisasm does not read where it is merged."""
    text = "extern __device__ unsigned long long other(unsigned long long);\n" + SEPARATE[name]
    cubin = plain_cubin(toolchain, unit_of(tree, "a.cu", text), architecture, "-rdc=true")
    plain = plain_sass(toolchain, cubin, tmp_path)
    assert toolchain.disassemble([cubin]) == [plain]
    assert toolchain.disassemble([cubin, cubin]) == [plain, plain]


def test_device_code_is_that_of_nvcc(
    toolchain: NvidiaToolchain, tree: Path, tmp_path: Path
) -> None:
    unit = Unit(tree, PurePosixPath("src/program.cu"))
    architectures = ("sm_80", "sm_89")
    output = toolchain.compile(unit, architectures, want_ptx=True)
    assert list(output.cubins) == list(output.ptx) == list(architectures)
    listings = toolchain.disassemble(list(output.cubins.values()))
    for architecture, listing in zip(architectures, listings, strict=True):
        plain = plain_cubin(toolchain, unit, architecture)
        assert listing == plain_sass(toolchain, plain, tmp_path)
        assert f".target\t{architecture}" in listing
        assert f".target {architecture}" in output.ptx[architecture]
        assert sorted(sass.kernel_names(listing)) == [
            "_Z4fillIdEvPT_S0_",
            "_Z5scalePfi",
            "_Z6choosePii",
        ]


def test_a_resident_compiler_makes_the_same_code(
    toolchain: NvidiaToolchain, tree: Path, tmp_path: Path
) -> None:
    units = [
        unit_of(
            tree,
            f"program{number}.cu",
            PROGRAM.replace("FACTOR", f"{number}.5f").replace('#include "factor.h"', ""),
        )
        for number in range(4)
    ]
    assert toolchain.residents is not None
    before = toolchain.residents.served
    cubins = [toolchain.compile(unit).cubins["sm_80"] for unit in units]
    assert toolchain.residents.served >= before + 2
    for unit, cubin in zip(units, cubins, strict=True):
        assert cubin == plain_cubin(toolchain, unit, "sm_80")
    assert len(set(cubins)) == 4


def test_names_made_from_the_file_are_those_of_nvcc(
    toolchain: NvidiaToolchain, tree: Path, tmp_path: Path
) -> None:
    for number in range(3):
        unit = unit_of(tree, f"unnamed{number}.cu", UNNAMED)
        cubin = toolchain.compile(unit).cubins["sm_80"]
        assert cubin == plain_cubin(toolchain, unit, "sm_80")
        assert f"unnamed{number}_cu".encode() in cubin


def test_each_architecture_is_compiled_for_itself(toolchain: NvidiaToolchain, tree: Path) -> None:
    unit = unit_of(tree, "architecture.cu", BY_ARCHITECTURE)
    architectures = ("sm_80", "sm_86", "sm_89", "sm_90")
    output = toolchain.compile(unit, architectures, want_ptx=True)
    assert [", 89;" in output.ptx[name] for name in architectures] == [False, False, True, True]
    listings = toolchain.disassemble([output.cubins[name] for name in architectures])
    assert [sass.parse(text).architectures for text in listings] == [[a] for a in architectures]


@pytest.mark.slow
def test_shipped_programs_compile_to_the_code_of_nvcc(
    toolchain: NvidiaToolchain, tmp_path: Path
) -> None:
    programs = sorted(SHIPPED.rglob("*.cu"))[::3]
    assert len(programs) >= 20
    units = [Unit(path.parent, PurePosixPath(path.name)) for path in programs]
    cubins = [toolchain.compile(unit, ("sm_80", "sm_89")).cubins for unit in units]
    for unit, of_unit in zip(units, cubins, strict=True):
        for architecture, cubin in of_unit.items():
            assert cubin == plain_cubin(toolchain, unit, architecture), unit.main
    batch = [cubin for of_unit in cubins for cubin in of_unit.values()]
    alone = [plain_sass(toolchain, cubin, tmp_path) for cubin in batch]
    assert toolchain.disassemble(batch) == alone


@pytest.mark.parametrize("with_clang", [True, False])
def test_host_assembly_leaves_the_device_out(
    toolchain: NvidiaToolchain, tree: Path, tmp_path: Path, with_clang: bool
) -> None:
    if not with_clang:
        toolchain = replace(toolchain, clang=None)
    elif toolchain.clang is None:
        pytest.skip("no clang")
    unit = Unit(tree, PurePosixPath("src/program.cu"))
    output = toolchain.compile(unit)
    host = output.host_assembly
    assert registers(host) == []
    assert "main:" in host
    assert "cudaLaunchKernel" in host
    assert "scalePfi" in host
    (tmp_path / "host.s").write_text(host)
    command = ["g++", "-c", str(tmp_path / "host.s"), "-o", str(tmp_path / "host.o")]
    subprocess.run(command, check=True, capture_output=True)
    assert ("cudafe++" in output.cpu_seconds_by_tool) is not with_clang


def test_clang_takes_a_newer_standard(
    toolchain: NvidiaToolchain, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It compares what it reads with a precompiled header there, and refused its own."""
    if toolchain.clang is None:
        pytest.skip("no clang")
    further = "#include <cstdarg>\n#include <map>\n#include <string>\n"
    unit = replace(unit_of(tree, "src/newer.cu", further + PROGRAM), standard="c++20")
    output = toolchain.compile(unit)
    assert "cudafe++" not in output.cpu_seconds_by_tool
    monkeypatch.setattr(
        "cass_ray.toolchain.amd.precompiled.PrecompiledHeaders.get", lambda *_: None
    )
    assert toolchain.compile(unit).host_assembly == output.host_assembly


def test_host_code_that_clang_rejects_goes_the_way_of_nvcc(
    toolchain: NvidiaToolchain, tree: Path
) -> None:
    source = PROGRAM.replace('#include "factor.h"', "#define FACTOR 2\n")
    source += "#ifdef __clang__\n#error not for clang\n#endif\n"
    output = toolchain.compile(unit_of(tree, "picky.cu", source))
    assert "cudafe++" in output.cpu_seconds_by_tool
    assert registers(output.host_assembly) == []
    assert "main:" in output.host_assembly


def test_a_header_newer_than_its_precompiled_form_is_no_reason_to_change_compilers(
    toolchain: NvidiaToolchain, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if toolchain.clang is None:
        pytest.skip("no clang")
    shim = tmp_path / "shim"
    shutil.copytree(host.SHIM, shim)
    monkeypatch.setattr(host, "SHIM", shim)
    monkeypatch.setattr("cass_ray.toolchain.nvidia.toolchain.SHIM", shim)
    toolchain = replace(toolchain, cache=tmp_path / "cache")
    unit = unit_of(tree, "scale.cu", PROGRAM.replace('#include "factor.h"', "#define FACTOR 2"))
    before = toolchain.compile(unit)
    os.utime(shim / "cass_cuda.h", (1, 1))  # as when the package is unpacked again
    after = toolchain.compile(unit)
    assert "cudafe++" not in after.cpu_seconds_by_tool
    assert after.host_assembly == before.host_assembly


def test_random_numbers_of_the_device_compile(toolchain: NvidiaToolchain, tree: Path) -> None:
    # An installation without cuRAND's headers takes those of the Python package.
    source = """
#include <curand_kernel.h>
__global__ void draw(unsigned *out) {
  curandStatePhilox4_32_10_t state;
  curand_init(1, threadIdx.x, 0, &state);
  out[threadIdx.x] = curand(&state);
}
int main() { draw<<<1, 32>>>(nullptr); }
"""
    output = toolchain.compile(unit_of(tree, "draw.cu", source))
    assert "draw" in sass.normalize(toolchain.disassemble([output.cubins["sm_80"]])[0])
    assert "isystem" not in output.flags
    assert "cudafe++" not in output.cpu_seconds_by_tool


def test_registration_is_cut_out_of_a_stub_file() -> None:
    stub = (
        '#include "crt/host_runtime.h"\n#include "unit.fatbin.c"\n'
        "static void __nv_cudaEntityRegisterCallback(void **);\n"
        "static void __sti____cudaRegisterAll(void) __attribute__((__constructor__));\n"
        "void k(int *p){__cudaLaunch(((char *)k), 0U);}\n"
        "static void __nv_cudaEntityRegisterCallback( void **__T1) {  { f(__T1); } g(__T1); }\n"
        "static void __sti____cudaRegisterAll(void) {  __cudaRegisterBinary(x);  }\n"
        "#pragma GCC diagnostic pop\n"
    )
    assert without_registration(stub) == (
        '#include "crt/host_runtime.h"\n'
        "void k(int *p){__cudaLaunch(((char *)k), 0U);}\n"
        "#pragma GCC diagnostic pop\n"
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("#include <no_such_header.h>", Reason.MISSING_HEADER),
        ('#include "/etc/passwd"', Reason.FORBIDDEN_INCLUDE),
        ('#include "../../outside.h"', Reason.FORBIDDEN_INCLUDE),
        ('asm(".incbin \\"/etc/passwd\\"");', Reason.FORBIDDEN_INCLUDE),
        ("#error stop here", Reason.COMPILE_ERROR),
        ("__global__ void broken( { }", Reason.COMPILE_ERROR),
        ("int broken() { return undeclared; }", Reason.COMPILE_ERROR),
    ],
)
def test_failures(toolchain: NvidiaToolchain, tree: Path, line: str, reason: Reason) -> None:
    (tree.parent / "outside.h").write_text("int outside;\n")
    source = f"{line}\n__global__ void kernel(int *p) {{ *p = 1; }}\nint main() {{ return 0; }}\n"
    with pytest.raises(CompileFailure) as failure:
        toolchain.compile(unit_of(tree, "failing.cu", source))
    assert failure.value.reason is reason
    assert failure.value.diagnostic


def test_a_program_without_kernels(toolchain: NvidiaToolchain, tree: Path) -> None:
    with pytest.raises(CompileFailure) as failure:
        toolchain.compile(unit_of(tree, "host.cu", "int main() { return 0; }\n"))
    assert failure.value.reason is Reason.NO_DEVICE_CODE


@pytest.mark.parametrize("warm", [False, True])
def test_endless_compilation_is_stopped(toolchain: NvidiaToolchain, tree: Path, warm: bool) -> None:
    for number in range(3 if warm else 0):
        toolchain.compile(unit_of(tree, f"warm{number}.cu", BY_ARCHITECTURE))
    source = (SHIPPED.parent / "rejects/time_limit.cu").read_text()
    with pytest.raises(CompileFailure) as failure:
        toolchain.compile(unit_of(tree, "endless.cu", source), limits=Limits(cpu_seconds=1))
    assert failure.value.reason is Reason.TIME_LIMIT
    assert toolchain.compile(unit_of(tree, "after.cu", BY_ARCHITECTURE)).cubins


def test_definitions_and_include_folders(toolchain: NvidiaToolchain, tree: Path) -> None:
    (tree / "include").mkdir()
    (tree / "include/value.h").write_text("#define VALUE (OTHER + 1)\n")
    source = (
        '#include "value.h"\n__global__ void kernel(int *p) { *p = VALUE; }\n'
        "int main() { kernel<<<1, 1>>>(nullptr); return 0; }\n"
    )
    unit = replace(
        unit_of(tree, "src/defined.cu", source),
        include_directories=(PurePosixPath("include"),),
        definitions=("OTHER=0x1233",),
    )
    (listing,) = toolchain.disassemble(list(toolchain.compile(unit).cubins.values()))
    assert "0x1234" in sass.normalize(listing)


def test_output_does_not_depend_on_the_place_of_the_tree(
    toolchain: NvidiaToolchain, tree: Path, tmp_path: Path
) -> None:
    source = UNNAMED + "#include <cassert>\n__global__ void check(int *p) { assert(*p == 1); }\n"
    unit = unit_of(tree, "placed.cu", source)
    elsewhere = shutil.copytree(tree, tmp_path / "else/where")
    here, there = toolchain.compile(unit), toolchain.compile(replace(unit, root=elsewhere))
    assert here.cubins == there.cubins
    assert here.host_assembly == there.host_assembly


def test_batches_equal_single_files(
    toolchain: NvidiaToolchain, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = [
        Unit(tree, PurePosixPath("src/program.cu")),
        unit_of(tree, "unnamed.cu", UNNAMED),
        unit_of(tree, "architecture.cu", BY_ARCHITECTURE),
    ]
    targets = ("sm_80", "sm_90")
    cubins = [
        cubin
        for unit, number in zip(units, (1, 2, 2), strict=True)
        for cubin in toolchain.compile(unit, targets[:number]).cubins.values()
    ]
    expected = [plain_sass(toolchain, cubin, tmp_path) for cubin in cubins]
    assert toolchain.disassemble(cubins) == expected
    assert toolchain.disassemble(cubins[::-1] + cubins[:1]) == expected[::-1] + expected[:1]
    assert toolchain.disassemble([]) == []
    monkeypatch.setattr(disassembly.process, "run", None)  # what was printed is not printed again
    assert toolchain.disassemble(cubins) == expected


@pytest.mark.parametrize("data", [b"", b"text", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + bytes(90)])
def test_what_is_no_cubin_is_refused(toolchain: NvidiaToolchain, data: bytes) -> None:
    with pytest.raises(CubinError):
        toolchain.disassemble([data])


def test_an_executable_links(toolchain: NvidiaToolchain, tree: Path, tmp_path: Path) -> None:
    unit = Unit(tree, PurePosixPath("src/program.cu"))
    program = toolchain.build_executable(unit, tmp_path / "program", ("sm_80", "sm_89"))
    needed = run(["/usr/bin/readelf", "-h", "-S", program], cwd=tmp_path).stdout_text
    assert ".nv_fatbin" in needed
    assert "EXEC" in needed or "DYN" in needed


def test_an_executable_is_linked_with_headers_from_outside(
    toolchain: NvidiaToolchain, tree: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "a, b", tmp_path / "later"
    for folder, value in ((first, 7), (second, 8)):
        folder.mkdir()
        (folder / "outside.h").write_text(f"#define VALUE {value}\n")
    (tree / "outside.cu").write_text(
        '#include "outside.h"\n__global__ void f(int* p) { *p = VALUE; }\n'
        "int main() { f<<<1, 1>>>(nullptr); return VALUE; }\n"
    )
    unit = Unit(tree, PurePosixPath("outside.cu"), system_directories=(first, second))
    built = toolchain.build_executable(unit, tmp_path / "built")
    assert subprocess.run([built], check=False).returncode == 7


def test_without_a_sandbox_on_request(
    toolchain: NvidiaToolchain, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = Unit(tree, PurePosixPath("src/program.cu"))
    sandboxed = toolchain.compile(unit)
    monkeypatch.setattr(isolation, "problem", lambda: "not allowed here")
    monkeypatch.setenv(ALLOW_UNISOLATED, "1")
    assert toolchain.compile(unit).cubins == sandboxed.cubins


def test_an_installation_without_further_headers(toolchain: NvidiaToolchain, tree: Path) -> None:
    """The system's, where there is one."""
    system = Path("/usr/local/cuda")
    home = system if (system / "bin/nvcc").exists() else toolchain.home
    alone = replace(
        toolchain,
        nvcc=home / "bin/nvcc",
        include_directories=(home / "include",),
        library_directories=(home / "lib",),
    )
    output = alone.compile(Unit(tree, PurePosixPath("src/program.cu")))
    assert output.cubins["sm_80"]
    assert registers(output.host_assembly) == []


def test_a_listing_may_be_as_long_as_its_code_makes_it() -> None:
    """The cubin of 13,926,880 bytes whose listing has 73,611,392 (sm_80, quantum chemistry)."""
    assert limits_for(13_926_880).output_bytes >= 73_611_392
    small = limits_for(100)
    assert small.output_bytes == COMPILE_LIMITS.output_bytes
    assert small.cpu_seconds == pytest.approx(COMPILE_LIMITS.cpu_seconds, abs=0.1)
