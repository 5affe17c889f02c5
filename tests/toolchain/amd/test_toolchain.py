from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.amd.bundle import bundle, unbundle
from cass_ray.toolchain.amd.link import embedding, without_empty_note_sections
from cass_ray.toolchain.amd.toolchain import SHIM, AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure, Unit

SCALE = """
#include <hip/hip_runtime.h>
#include "factor.h"
__constant__ float table[4];
__device__ int counter;
__global__ void scale(float *values, int n) {
  extern __shared__ float tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? values[i] : 0.0f;
  __syncthreads();
  if (i < n) values[i] = FACTOR * tile[blockDim.x - 1 - threadIdx.x] * table[i & 3] + expf(tile[0]);
  atomicAdd(&counter, 1);
}
template <typename T> __global__ void fill(T *out, T value) { out[threadIdx.x] = value; }
int main() {
  float *values = nullptr;
  if (hipMalloc(&values, 1024) != hipSuccess) return 1;
  scale<<<1, 256, 1024>>>(values, 256);
  fill<double><<<1, 32>>>(nullptr, 2.0);
  return hipDeviceSynchronize();
}
"""

RUNTIME = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
struct Wrapper { unsigned magic, version; const void *binary; void *unused; };
extern "C" {
void **__hipRegisterFatBinary(const void *data) {
  auto *wrapper = static_cast<const Wrapper *>(data);
  const char *bundle = static_cast<const char *>(wrapper->binary);
  unsigned long long count;
  std::memcpy(&count, bundle + 24, 8);
  std::printf("magic %x bundle %.24s entries %llu\\n", wrapper->magic, bundle, count);
  static void *handle;
  return &handle;
}
void __hipUnregisterFatBinary(void **) {}
void __hipRegisterFunction(void **, const void *, char *, const char *name, unsigned, void *,
                           void *, void *, void *, int *) { std::printf("kernel %s\\n", name); }
void __hipRegisterVar(void **, void *, char *, const char *name, int, size_t size, int, int) {
  std::printf("variable %s %zu\\n", name, size);
}
int __hipPushCallConfiguration(...) { return 0; }
int __hipPopCallConfiguration(...) { return 0; }
int hipLaunchKernel(...) { std::puts("launch"); return 0; }
int hipMalloc(void **, size_t) { return 0; }
int hipDeviceSynchronize() { return 0; }
}
"""


@pytest.fixture(scope="module")
def amd() -> AmdToolchain:
    try:
        return find_amd(fetch=False)
    except ToolMissing as error:
        pytest.skip(f"no AMD toolchain: {error}")


@pytest.fixture
def unit(tmp_path: Path) -> Unit:
    (tmp_path / "include").mkdir()
    (tmp_path / "include/factor.h").write_text("#define FACTOR 3.5f\n")
    (tmp_path / "scale.hip").write_text(SCALE)
    return Unit(tmp_path, PurePosixPath("scale.hip"), (PurePosixPath("include"),))


def unit_of(folder: Path, source: str) -> Unit:
    (folder / "unit.hip").write_text(source)
    return Unit(folder, PurePosixPath("unit.hip"))


def kernel_descriptor_bytes(code_object: bytes, toolchain: AmdToolchain, folder: Path) -> set[int]:
    """File offsets of bits that hold COMPUTE_PGM_RSRC1, from the symbol table (``*.kd``)."""
    path = folder / "symbols.co"
    path.write_bytes(code_object)
    readelf = toolchain.clang.parent / "llvm-readelf"
    if not readelf.exists():
        pytest.skip("llvm-readelf is not installed")
    listing = subprocess.run(
        [readelf, "-W", "-s", "-S", path], capture_output=True, text=True, check=True
    ).stdout
    section = next(line for line in listing.splitlines() if " .rodata " in line).split()
    at = section.index(".rodata")
    address, offset = int(section[at + 2], 16), int(section[at + 3], 16)
    found = set()
    for line in listing.splitlines():
        if line.endswith(".kd"):
            found.add(int(line.split()[1], 16) - address + offset)
    return {start + 48 + byte for start in found for byte in (0, 1)}


@pytest.mark.amd
class TestCompile:
    def test_both_sides(self, amd: AmdToolchain, unit: Unit) -> None:
        made = amd.compile(unit)

        assert '.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"' in made.device_assembly
        assert ".amdhsa_kernel _Z5scalePfi" in made.device_assembly
        assert ".amdhsa_kernel _Z4fillIdEvPT_S0_" in made.device_assembly
        assert "_Z20__device_stub__scalePfi" in made.host_assembly
        assert "hipLaunchKernel" in made.host_assembly

    @pytest.mark.parametrize(
        ("host", "compiles"),
        [
            ("#ifdef __HIP_DEVICE_COMPILE__\n#define R(x) twice(x)\n#else\n#define R(x) (x)\n"
             "#endif\nint host(int a) { return R(a); }\n", True),
            ("int host(int a) { return twice(a); }\n", False),
            ("#ifdef __HIP_DEVICE_COMPILE__\nint f(int a) { return none(a); }\n#endif\n", False),
        ],
    )  # fmt: skip
    def test_host_functions_may_mean_others_on_the_device(
        self, amd: AmdToolchain, tmp_path: Path, host: str, compiles: bool
    ) -> None:
        (tmp_path / "a.hip").write_text(
            "__device__ int twice(int a) { return 2 * a; }\n"
            f"__global__ void fill(int* p) {{ *p = twice(*p); }}\n{host}"
        )
        unit = Unit(tmp_path, PurePosixPath("a.hip"))
        if compiles:
            made = amd.compile(unit)
            assert ".amdhsa_kernel _Z4fillPi" in made.device_assembly
            assert "_Z4hosti:" in made.host_assembly
            return
        with pytest.raises(CompileFailure) as failed:
            amd.compile(unit)
        assert failed.value.reason is Reason.COMPILE_ERROR

    def test_the_host_side_is_the_same_for_every_architecture(
        self, amd: AmdToolchain, unit: Unit
    ) -> None:
        narrow, wide = amd.compile(unit), amd.compile(unit, "gfx942")
        assert narrow.host_assembly == wide.host_assembly
        alone = amd.compile_device(unit, "gfx942")
        assert (alone.device_assembly, alone.flags) == (wide.device_assembly, wide.flags)
        assert alone.host_assembly == ""

    def test_both_sides_at_once_give_the_same(self, amd: AmdToolchain, unit: Unit) -> None:
        one, other = amd.compile(unit), amd.compile(unit, at_once=True)
        assert (one.host_assembly, one.device_assembly) == (
            other.host_assembly,
            other.device_assembly,
        )
        unit.source.write_text("__global__ void k() { missing(); } int main() { lost(); }")
        messages = []
        for at_once in (False, True):
            with pytest.raises(CompileFailure) as caught:
                amd.compile(unit, at_once=at_once)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]

    def test_the_host_side_leaves_the_device_code_out(self, amd: AmdToolchain, unit: Unit) -> None:
        made = amd.compile(unit)
        assert "__CLANG_OFFLOAD_BUNDLE__" not in made.host_assembly
        assert ".hip_fatbin," not in made.host_assembly

    def test_output_does_not_depend_on_where_the_tree_is(
        self, amd: AmdToolchain, unit: Unit, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        elsewhere = tmp_path_factory.mktemp("elsewhere") / "deep" / "tree"
        shutil.copytree(unit.root, elsewhere)
        moved = Unit(elsewhere, unit.main, unit.include_directories)
        first, second = amd.compile(unit), amd.compile(moved)

        assert first.device_assembly == second.device_assembly
        assert first.host_assembly == second.host_assembly
        assert str(unit.root) not in first.host_assembly

    def test_another_architecture(self, amd: AmdToolchain, unit: Unit) -> None:
        made = amd.compile(unit, "gfx1101")
        assert "amdgcn-amd-amdhsa--gfx1101" in made.device_assembly

    def test_the_code_object_version_is_in_the_assembly(
        self, amd: AmdToolchain, unit: Unit
    ) -> None:
        assert ".amdhsa_code_object_version 5" in amd.compile(unit).device_assembly

    @staticmethod
    def not_rejected(_: object, diagnostic: str) -> bool:
        assert not diagnostic, "clang refuses its own"
        return False

    @pytest.mark.parametrize("standard", ["", "c++20", "c++23", "gnu++20"])
    def test_precompiled_headers_do_not_change_the_code(
        self, amd: AmdToolchain, unit: Unit, standard: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = unit.source.read_text()
        includes = "#include <cstdarg>\n#include <map>\n#include <string>\n#include <vector>\n"
        unit.source.write_text(f"{includes}std::map<std::string, std::vector<int>> all;\n{text}")
        unit = replace(unit, standard=standard)
        with monkeypatch.context() as headers_alone:
            headers_alone.setattr(
                "cass_ray.toolchain.amd.precompiled.PrecompiledHeaders.rejected", self.not_rejected
            )
            with_header = amd.compile(unit)
        monkeypatch.setattr(
            "cass_ray.toolchain.amd.precompiled.PrecompiledHeaders.get", lambda *_: None
        )
        without = amd.compile(unit)
        assert with_header.device_assembly == without.device_assembly
        assert with_header.host_assembly == without.host_assembly

    def test_a_precompiled_header_that_clang_rejects_is_left_out(
        self, amd: AmdToolchain, unit: Unit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        damaged = amd.cache / "precompiled" / "test-damaged.pch"
        damaged.parent.mkdir(parents=True, exist_ok=True)
        damaged.write_bytes(b"CPCH no such thing")
        monkeypatch.setattr(
            "cass_ray.toolchain.amd.precompiled.PrecompiledHeaders.get", lambda *_: damaged
        )
        try:
            assert ".amdhsa_kernel _Z5scalePfi" in amd.compile(unit).device_assembly
        finally:
            damaged.unlink()

    @pytest.mark.parametrize(
        ("source", "reason", "message"),
        [
            ("#error told so\n", Reason.COMPILE_ERROR, "told so"),
            ('#include "absent.h"\n', Reason.MISSING_HEADER, "absent.h"),
            ('#include "/etc/passwd"\n', Reason.FORBIDDEN_INCLUDE, "/etc/passwd"),
            ("int main() { return 0; }\n", Reason.NO_DEVICE_CODE, "no kernel"),
            (
                '__global__ void k() {}\nasm(".incbin \\"/etc/passwd\\"");\n',
                Reason.FORBIDDEN_INCLUDE,
                "/etc/passwd",
            ),
        ],
    )
    def test_failures(
        self, amd: AmdToolchain, tmp_path: Path, source: str, reason: Reason, message: str
    ) -> None:
        with pytest.raises(CompileFailure) as failure:
            amd.compile(unit_of(tmp_path, source))
        assert failure.value.reason is reason
        assert message in failure.value.diagnostic

    @pytest.mark.parametrize(
        "header",
        [
            "hip/hip_fp16.h",
            "hip/hip_bf16.h",
            "hip/hip_fp8.h",
            "hip/hip_complex.h",
            "hip/hip_cooperative_groups.h",
            "hip/math_functions.h",
        ],
    )
    def test_headers_of_the_runtime(self, amd: AmdToolchain, tmp_path: Path, header: str) -> None:
        source = f"#include <{header}>\n__global__ void k(int *p) {{ *p = 1; }}\n"
        assert ".amdhsa_kernel _Z1kPi" in amd.compile(unit_of(tmp_path, source)).device_assembly


@pytest.mark.amd
class TestAssemble:
    def test_reassembled_text_is_the_compilers_own_object(
        self, amd: AmdToolchain, unit: Unit, tmp_path: Path
    ) -> None:
        """Byte for byte, but for four bits of each kernel descriptor.

        GRANULATED_WAVEFRONT_SGPR_COUNT (bits 6 to 9 of COMPUTE_PGM_RSRC1) is "reserved, must be 0"
        on gfx10 and later: the assembler writes 0, the compiler's direct path leaves a number
        there (LLVM's AMDGPU Usage, "Kernel Descriptor").
        """
        made = amd.compile(unit)
        direct = tmp_path / "direct.co"
        command = [str(amd.clang), *made.flags.split(), f"--rocm-path={amd.rocm_path}", "-w"]
        command += [f"-I{SHIM}", "-include", "cass_hip.h", "-Iinclude", "--cuda-device-only"]
        command += ["--no-gpu-bundle-output", "-c", str(unit.main), "-o", str(direct)]
        subprocess.run(command, cwd=unit.root, check=True)
        expected = bytearray(direct.read_bytes())
        for position, byte in enumerate(
            sorted(kernel_descriptor_bytes(bytes(expected), amd, tmp_path))
        ):
            expected[byte] &= 0x3F if position % 2 == 0 else 0xFC

        assert amd.assemble(made.device_assembly) == bytes(expected)

    def test_assembling_twice_gives_the_same_bytes(self, amd: AmdToolchain, unit: Unit) -> None:
        text = amd.compile(unit).device_assembly
        assert amd.assemble(text) == amd.assemble(text)

    def test_an_edit_changes_the_code(self, amd: AmdToolchain, unit: Unit) -> None:
        text = amd.compile(unit).device_assembly
        edited = text.replace("0x40600000", "0x40a00000")  # 3.5f, 5.0f
        assert edited != text
        assert amd.assemble(edited) != amd.assemble(text)

    def test_a_wrong_instruction_is_reported_with_its_line(self, amd: AmdToolchain) -> None:
        with pytest.raises(CompileFailure) as failure:
            amd.assemble("\ts_mov_b32 s0, 1\n\tv_frobnicate v0\n")
        assert failure.value.reason is Reason.COMPILE_ERROR
        assert "device.s:2" in failure.value.diagnostic

    def test_reading_a_file_of_the_host_is_refused(self, amd: AmdToolchain) -> None:
        with pytest.raises(CompileFailure) as failure:
            amd.assemble('.data\n.incbin "/etc/passwd"\n')
        assert failure.value.reason is Reason.FORBIDDEN_INCLUDE


@pytest.mark.amd
class TestRecombine:
    @pytest.fixture(scope="class")
    def runtime(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """A HIP runtime library that tells what is registered with it."""
        folder = tmp_path_factory.mktemp("runtime")
        (folder / "runtime.cpp").write_text(RUNTIME)
        library = folder / "libamdhip64.so"
        command = ["g++", "-shared", "-fPIC", "-w", f"{folder}/runtime.cpp", "-o", str(library)]
        subprocess.run(command, check=True)
        return library

    def test_the_executable_registers_the_device_code(
        self, amd: AmdToolchain, unit: Unit, runtime: Path, tmp_path: Path
    ) -> None:
        program = amd.build_executable(unit, tmp_path / "program", runtime_library=runtime)
        done = subprocess.run([program], capture_output=True, text=True, check=True)

        lines = done.stdout.splitlines()
        assert "magic 48495046 bundle __CLANG_OFFLOAD_BUNDLE__ entries 2" in lines
        assert {"kernel _Z5scalePfi", "kernel _Z4fillIdEvPT_S0_"} <= set(lines)
        assert {"variable table 16", "variable counter 4"} <= set(lines)

    def test_edited_device_code_is_what_the_executable_carries(
        self, amd: AmdToolchain, unit: Unit, runtime: Path, tmp_path: Path
    ) -> None:
        made = amd.compile(unit)
        edited = made.device_assembly.replace("0x40600000", "0x40a00000")
        program = amd.recombine(
            made.host_assembly, edited, tmp_path / "program", runtime_library=runtime
        )
        assert amd.assemble(edited) in program.read_bytes()

    def test_without_a_runtime_the_object_file_is_left(
        self, amd: AmdToolchain, unit: Unit, tmp_path: Path
    ) -> None:
        made = amd.compile(unit)
        bare = AmdToolchain(amd.clang, amd.linker, amd.rocm_path, amd.version, amd.cache)
        output = tmp_path / "program"
        with pytest.raises(ToolMissing) as missing:
            bare.recombine(made.host_assembly, made.device_assembly, output)

        assert "libamdhip64" in str(missing.value)
        assert str(output) + ".o" in str(missing.value)
        symbols = subprocess.run(
            ["nm", f"{output}.o"], capture_output=True, text=True, check=True
        ).stdout
        assert " U hipLaunchKernel" in symbols
        assert " U __hip_fatbin" not in symbols
        assert not output.exists()


class TestBundle:
    @given(
        st.dictionaries(
            st.sampled_from(["gfx1100", "gfx1101", "gfx90a"]), st.binary(max_size=9000), max_size=3
        )
    )
    def test_round_trip(self, code_objects: dict[str, bytes]) -> None:
        assert unbundle(bundle(code_objects)) == code_objects

    def test_layout(self) -> None:
        """By hand from "Bundled Binary File Layout" of ClangOffloadBundler's documentation."""
        data = bundle({"gfx1100": b"\x7fELF"})
        host, device = b"host-x86_64-unknown-linux-gnu-", b"hipv4-amdgcn-amd-amdhsa--gfx1100"
        header = b"__CLANG_OFFLOAD_BUNDLE__" + (2).to_bytes(8, "little")
        for identifier, size in ((host, 0), (device, 4)):
            numbers = (4096, size, len(identifier))
            header += b"".join(number.to_bytes(8, "little") for number in numbers) + identifier
        assert data[: len(header)] == header
        assert data[4096:] == b"\x7fELF"

    @given(st.binary(max_size=200), st.integers(0, 4000))
    def test_damage_is_a_value_error(self, noise: bytes, cut: int) -> None:
        whole = bundle({"gfx1100": b"code"})
        for data in (noise, whole[: min(cut, len(whole) - 1)], whole[:24] + noise):
            try:
                unbundle(data)
            except ValueError:
                continue
            assert data.startswith(b"__CLANG_OFFLOAD_BUNDLE__")


class TestText:
    def test_sections_of_comments_go(self) -> None:
        text = (
            '\t.text\n\ts_endpgm\n\t.section\t.AMDGPU.csdata,"",@progbits\n'
            "; Kernel info:\n; codeLenInByte = 4\n\t.text\n\ts_nop 0\n"
        )
        assert ".AMDGPU.csdata" not in without_empty_note_sections(text)
        assert "codeLenInByte" in without_empty_note_sections(text)

    def test_sections_with_content_stay(self) -> None:
        text = '\t.section\t.AMDGPU.csdata,"",@progbits\n; note\n\t.byte 1\n\t.text\n'
        assert without_empty_note_sections(text) == text

    def test_embedding_defines_what_the_host_leaves_open(self) -> None:
        host = "\t.quad\t__hip_fatbin_ab12\n\tmovq\t__hip_gpubin_handle_ab12(%rip), %rax\n"
        text = embedding(host + "\tleaq\t__hip_fatbin_wrapper(%rip), %rdi\n", "x.hipfb")
        assert "__hip_fatbin_ab12:" in text
        assert "__hip_gpubin_handle_ab12:" in text
        assert '.incbin\t"x.hipfb"' in text
        assert "wrapper" not in text
