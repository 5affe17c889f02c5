from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cass_ray.commands import compile as compile_command
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia

KERNEL = "__global__ void twice(float *x) { x[threadIdx.x] *= FACTOR; }\n"
MAIN = "int main() { twice<<<1, 32>>>(nullptr); return 0; }\n"


def cass_compile(*arguments: str | Path) -> Result:
    return CliRunner().invoke(compile_command.app, [str(argument) for argument in arguments])


@pytest.fixture
def hip_file(tmp_path: Path) -> Path:
    try:
        find_amd(fetch=False)
    except ToolMissing as error:
        pytest.skip(f"no AMD toolchain: {error}")
    path = tmp_path / "twice.hip"
    path.write_text("#include <hip/hip_runtime.h>\n" + KERNEL + MAIN)
    return path


@pytest.fixture
def cuda_file(tmp_path: Path) -> Path:
    try:
        find_nvidia()
    except ToolMissing as error:
        pytest.skip(f"no Nvidia toolchain: {error}")
    path = tmp_path / "twice.cu"
    path.write_text(KERNEL + MAIN)
    return path


@pytest.mark.amd
class TestHip:
    def test_device_assembly_to_a_file(self, hip_file: Path, tmp_path: Path) -> None:
        output = tmp_path / "twice.s"
        result = cass_compile(hip_file, "-D", "FACTOR=2.5f", "--arch", "gfx1101", "-o", output)
        assert result.exit_code == 0, result.output
        assert "amdgcn-amd-amdhsa--gfx1101" in output.read_text()
        assert "0x40200000" in output.read_text()  # 2.5f

    def test_host_assembly_to_standard_output(self, hip_file: Path) -> None:
        result = cass_compile(hip_file, "--emit", "host", "-D", "FACTOR=2")
        assert result.exit_code == 0, result.output
        assert "_Z20__device_stub__twicePf" in result.stdout

    def test_a_compile_error_is_exit_1_with_the_compilers_message(self, hip_file: Path) -> None:
        result = cass_compile(hip_file)
        assert result.exit_code == 1
        assert "use of undeclared identifier 'FACTOR'" in result.stderr
        assert "compile_error" in result.stderr
        assert result.stdout == ""

    def test_an_executable_without_runtime_is_exit_3(
        self, hip_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = find_amd(fetch=False)
        bare = AmdToolchain(found.clang, found.linker, found.rocm_path, found.version, found.cache)
        monkeypatch.setattr(compile_command, "find_amd", lambda **_: bare)
        output = tmp_path / "twice"
        result = cass_compile(hip_file, "--emit", "exe", "-o", output, "-D", "FACTOR=2")
        assert result.exit_code == 3
        assert "libamdhip64" in result.stderr
        assert (tmp_path / "twice.o").read_bytes()[:4] == b"\x7fELF"

    def test_only_the_tree_is_seen(self, hip_file: Path, tmp_path: Path) -> None:
        tree = tmp_path / "tree" / "src"
        tree.mkdir(parents=True)
        (tree.parent / "factor.h").write_text("#define FACTOR 3\n")
        main = tree / "main.hip"
        main.write_text('#include "../factor.h"\n' + hip_file.read_text())
        assert cass_compile(main).exit_code == 1
        assert cass_compile(main, "--root", tree.parent).exit_code == 0


@pytest.mark.nvidia
class TestCuda:
    def test_several_architectures(self, cuda_file: Path) -> None:
        result = cass_compile(cuda_file, "-D", "FACTOR=2.5f", "--arch", "sm_80", "--arch", "sm_89")
        assert result.exit_code == 0, result.output
        assert result.stdout.count(".text._Z5twicePf") >= 2
        assert "sm_80" in result.stdout and "sm_89" in result.stdout

    def test_ptx(self, cuda_file: Path) -> None:
        result = cass_compile(cuda_file, "-D", "FACTOR=2.5f", "--emit", "ptx")
        assert result.exit_code == 0, result.output
        assert ".visible .entry _Z5twicePf" in result.stdout

    @pytest.mark.parametrize("shared", [True, False])
    def test_an_executable_with_either_runtime(self, tmp_path: Path, shared: bool) -> None:
        source = tmp_path / "main.cu"
        source.write_text("__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
        output = tmp_path / "program"
        options = ["--cudart", "shared"] if shared else []
        result = cass_compile(source, "--emit", "exe", "-o", output, *options)
        assert result.exit_code == 0, result.output
        needed = subprocess.run(
            ["readelf", "-d", output], capture_output=True, text=True, check=True
        ).stdout
        assert ("[libcudart.so." in needed) == shared


class TestUsage:
    @pytest.mark.parametrize(
        ("name", "arguments", "message"),
        [
            ("a.hip", ["--emit", "ptx"], "PTX is for CUDA"),
            ("a.hip", ["--arch", "sm_80"], "gfx"),
            ("a.hip", ["--arch", "gfx1100", "--arch", "gfx1101"], "one architecture"),
            ("a.cu", ["--arch", "gfx1100"], "cass translate FILE.cu"),
            ("a.cu", ["--emit", "exe"], "give -o"),
            ("a.cu", ["--cudart", "shared"], "only with --emit exe"),
            ("a.hip", ["--cudart", "shared", "--emit", "exe"], "only with --emit exe"),
            ("a.cu", ["-O", "9"], "0, 1, 2, 3 or s"),
            ("a.cu", ["-I", "../elsewhere"], "leads out of the source tree"),
            ("a.cu", ["--root", "/usr/include"], "is not inside"),
            ("a.f90", [], "is none of"),
        ],
    )
    def test_exit_2(self, tmp_path: Path, name: str, arguments: list[str], message: str) -> None:
        (tmp_path / name).write_text(KERNEL)
        result = cass_compile(tmp_path / name, *arguments)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())

    def test_a_missing_file(self, tmp_path: Path) -> None:
        result = cass_compile(tmp_path / "absent.cu")
        assert result.exit_code == 2
        assert "is not a file" in result.stderr


@pytest.mark.parametrize("name", ["a.cu", "a.hip"])
def test_no_toolchain_is_exit_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def absent(**options: object) -> None:
        del options
        raise ToolMissing("The compiler", "Install it.")

    monkeypatch.setattr(compile_command, "find_amd", absent)
    monkeypatch.setattr(compile_command, "find_nvidia", absent)
    (tmp_path / name).write_text(KERNEL)
    result = cass_compile(tmp_path / name)
    assert result.exit_code == 3
    assert "Install it." in result.stderr
