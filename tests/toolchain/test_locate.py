from __future__ import annotations

import stat
from pathlib import Path

import pytest

from cass_ray.toolchain.amd.clang import find_clang
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.inventory import find_all
from cass_ray.toolchain.locate import find_amd, find_nvidia, locate_amd, locate_nvidia
from cass_ray.toolchain.probe import remembered
from cass_ray.toolchain.sandbox.process import run
from cass_ray.toolchain.search_paths import SearchPaths

NVCC_VERSION = "Cuda compilation tools, release 13.0, V13.0.88"


def program(path: Path, text: str = "") -> Path:
    """An executable that prints ``text``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{text}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def cuda_home(folder: Path) -> Path:
    for name in ("nvcc", "cuobjdump", "nvdisasm"):
        program(folder / "bin" / name, NVCC_VERSION)
    (folder / "include").mkdir()
    (folder / "include/cuda_runtime.h").touch()
    return folder


def rocm_root(folder: Path) -> Path:
    header = folder / "include/hip/hip_version.h"
    header.parent.mkdir(parents=True)
    header.write_text(
        "#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 4\n#define HIP_VERSION_PATCH 7\n"
    )
    program(folder / "llvm/bin/clang++", "AMD clang version 19.0.0git")
    program(folder / "llvm/bin/ld.lld")
    return folder


class TestCudaHomes:
    def test_a_wrapper_on_the_path_is_no_installation(self, tmp_path: Path) -> None:
        program(tmp_path / "bin/nvcc", NVCC_VERSION)
        environment = {"PATH": str(tmp_path / "bin")}
        assert list(SearchPaths(environment, tmp_path / "root", ()).cuda_homes()) == []

    def test_order(self, tmp_path: Path) -> None:
        """Environment, PATH, usual prefixes (newest first), Python packages."""
        named = cuda_home(tmp_path / "named")
        on_path = cuda_home(tmp_path / "on-path")
        root = tmp_path / "root"
        older, newer = (cuda_home(root / f"usr/local/cuda-{v}") for v in ("9.2", "13.0"))
        opt = cuda_home(root / "opt/cuda")
        packages = tmp_path / "site-packages/nvidia"
        package = cuda_home(packages / "cu13")
        search_paths = SearchPaths(
            environment={"CUDA_HOME": str(named), "PATH": str(on_path / "bin")},
            root=root,
            nvidia_packages=(packages,),
        )

        found = list(search_paths.cuda_homes())
        assert [home.path for home in found] == [named, on_path, newer, older, opt, package]
        assert [home.origin for home in found] == [
            "CUDA_HOME",
            "PATH",
            "prefix",
            "prefix",
            "prefix",
            "Python package",
        ]

    def test_our_variable_goes_first(self, tmp_path: Path) -> None:
        ours, theirs = cuda_home(tmp_path / "ours"), cuda_home(tmp_path / "theirs")
        environment = {"CUDA_HOME": str(theirs), "CASS_CUDA_HOME": str(ours)}
        search_paths = SearchPaths(environment, tmp_path, ())
        assert [home.path for home in search_paths.cuda_homes()] == [ours, theirs]

    def test_a_folder_without_nvcc_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "usr/local/cuda/bin").mkdir(parents=True)
        assert list(SearchPaths({}, tmp_path, ()).cuda_homes()) == []

    def test_links_to_one_installation_count_once(self, tmp_path: Path) -> None:
        real = cuda_home(tmp_path / "usr/local/cuda-13.0")
        (tmp_path / "usr/local/cuda").symlink_to(real)
        assert [home.path for home in SearchPaths({}, tmp_path, ()).cuda_homes()] == [real]

    def test_a_tool_that_one_installation_lacks_comes_from_another(self, tmp_path: Path) -> None:
        bare = tmp_path / "bare"
        program(bare / "bin/nvcc", NVCC_VERSION)
        whole = cuda_home(tmp_path / "opt/cuda")
        search_paths = SearchPaths({"CUDA_HOME": str(bare)}, tmp_path, ())
        assert search_paths.cuda_tool("nvdisasm", bare) == whole / "bin/nvdisasm"


class TestClang:
    def test_rocms_own_goes_before_a_plain_one(self, tmp_path: Path) -> None:
        rocm = rocm_root(tmp_path / "root/opt/rocm-6.4.0")
        plain = tmp_path / "bin"
        program(plain / "clang++-19", "Debian clang version 19.1.7")
        program(plain / "ld.lld-19")
        clang = find_clang(
            SearchPaths({"PATH": str(plain)}, tmp_path / "root", ()), tmp_path / "cache"
        )
        assert clang.clang == rocm / "llvm/bin/clang++"
        assert clang.rocm == rocm
        assert clang.version == "19.0.0"

    def test_the_named_clang_uses_rocms_headers(self, tmp_path: Path) -> None:
        rocm = rocm_root(tmp_path / "rocm")
        named = program(tmp_path / "mine/bin/clang++", "clang version 20.1.0")
        program(tmp_path / "mine/bin/ld.lld")
        environment = {"CASS_CLANG": str(named), "ROCM_PATH": str(rocm)}
        clang = find_clang(SearchPaths(environment, tmp_path / "root", ()), tmp_path / "cache")
        assert (clang.clang, clang.rocm, clang.origin) == (named, rocm, "CASS_CLANG")

    def test_too_old(self, tmp_path: Path) -> None:
        program(tmp_path / "bin/clang++", "Debian clang version 14.0.6")
        search_paths = SearchPaths({"PATH": str(tmp_path / "bin")}, tmp_path / "root", ())
        with pytest.raises(ToolMissing) as missing:
            find_clang(search_paths, tmp_path / "cache")
        assert "14.0.6" in str(missing.value)
        assert "clang-19" in str(missing.value)

    def test_a_processor_takes_a_newer_one(self, tmp_path: Path) -> None:
        program(tmp_path / "bin/clang++-19", "Debian clang version 19.1.7")
        program(tmp_path / "bin/ld.lld-19")
        search_paths = SearchPaths({"PATH": str(tmp_path / "bin")}, tmp_path / "root", ())
        with pytest.raises(ToolMissing) as missing:
            find_amd(search_paths, tmp_path / "cache", architectures=("gfx942", "gfx950"))
        assert "clang 19.1.7 does not know gfx950, which needs clang 20" in str(missing.value)
        assert "CASS_CLANG" in missing.value.remedy

    def test_lld_is_missing(self, tmp_path: Path) -> None:
        program(tmp_path / "bin/clang++-19", "Debian clang version 19.1.7")
        search_paths = SearchPaths({"PATH": str(tmp_path / "bin")}, tmp_path / "root", ())
        with pytest.raises(ToolMissing, match="lld-19"):
            find_clang(search_paths, tmp_path / "cache")

    def test_a_name_that_leads_nowhere_is_told(self, tmp_path: Path) -> None:
        search_paths = SearchPaths({"CASS_CLANG": "/no/such/clang++"}, tmp_path, ())
        with pytest.raises(ToolMissing, match="CASS_CLANG"):
            find_clang(search_paths, tmp_path / "cache")

    def test_headers_that_are_fetched_later_are_not_a_missing_compiler(
        self, tmp_path: Path
    ) -> None:
        program(tmp_path / "bin/clang++-19", "Debian clang version 19.1.7")
        program(tmp_path / "bin/ld.lld-19")
        search_paths = SearchPaths({"PATH": str(tmp_path / "bin")}, tmp_path / "root", ())
        with pytest.raises(ToolMissing) as missing:
            locate_amd(search_paths, tmp_path / "cache", fetch=False)
        assert "the first command that compiles for AMD downloads it" in str(missing.value)
        assert "apt-get" not in str(missing.value)


class TestNothingThere:
    def test_nvidia(self, tmp_path: Path) -> None:
        with pytest.raises(ToolMissing, match=r"cass-ray\[nvidia\]"):
            find_nvidia(SearchPaths({}, tmp_path, ()), tmp_path / "cache")

    def test_amd(self, tmp_path: Path) -> None:
        with pytest.raises(ToolMissing, match="apt-get install clang-19 lld-19"):
            find_amd(SearchPaths({}, tmp_path, ()), tmp_path / "cache")

    def test_the_table_says_how_to_get_each(self, tmp_path: Path) -> None:
        tools = find_all(SearchPaths({}, tmp_path, ()), tmp_path / "cache")
        missing = [tool for tool in tools if not tool.works]
        assert {"Nvidia (nvcc, nvdisasm)", "AMD (clang, lld, HIP headers)", "Nvidia GPU"} <= {
            tool.name for tool in missing
        }
        assert all(tool.remedy and tool.enables for tool in missing)

    def test_a_compiler_that_does_not_compile_is_passed_over(self, tmp_path: Path) -> None:
        home = cuda_home(tmp_path / "broken")
        search_paths = SearchPaths({"CUDA_HOME": str(home)}, tmp_path, ())
        with pytest.raises(ToolMissing) as missing:
            find_nvidia(search_paths, tmp_path / "cache")
        assert str(home) in str(missing.value)


class TestThisMachine:
    """With the usual prefixes masked, as on a machine without system-wide CUDA or ROCm."""

    @pytest.mark.nvidia
    def test_nvidia_from_python_packages(self, tmp_path: Path) -> None:
        search_paths = SearchPaths({"PATH": "/nowhere"}, tmp_path)
        if not search_paths.nvidia_packages or not list(search_paths.cuda_homes()):
            pytest.skip("NVIDIA's compiler packages are not installed")
        found = locate_nvidia(search_paths, tmp_path / "cache")
        assert found.origin == "Python package"
        assert found.toolchain.version.startswith("13.")
        (tmp_path / "empty.cu").write_text("int main() { return cudaDeviceSynchronize(); }\n")
        folders = [f"-L{folder}" for folder in found.toolchain.library_directories]
        nvcc = [found.toolchain.nvcc, "-cudart", "shared", *folders, "empty.cu", "-o", "empty"]
        linked = run(nvcc, cwd=tmp_path)
        assert linked.ok, linked.stderr_text
        needed = run(["/usr/bin/readelf", "-d", "empty"], cwd=tmp_path).stdout_text
        assert "Shared library: [libcudart.so.13]" in needed

    @pytest.mark.nvidia
    def test_nvidia_for_given_architectures(self) -> None:
        """Of CUDA 13's release notes: sm_75 is the oldest that is left, sm_70 was dropped."""
        try:
            find_nvidia()
        except ToolMissing as error:
            pytest.skip(str(error))
        assert find_nvidia(architectures=("sm_75", "sm_90a", "sm_121")).compiles_for("sm_121")
        with pytest.raises(ToolMissing) as missing:
            find_nvidia(architectures=("sm_80", "sm_70"))
        assert missing.value.tool == "A CUDA compiler (nvcc) for sm_70"
        assert "did you mean `sm_75`?" in missing.value.remedy

    @pytest.mark.amd
    def test_amd_from_the_path(self) -> None:
        try:
            found = locate_amd(fetch=False)
        except ToolMissing as error:
            pytest.skip(str(error))
        assert int(found.toolchain.version.split(".")[0]) >= 18
        assert "HIP" in found.toolchain.version

    def test_without_fetching_nothing_is_downloaded(self, tmp_path: Path) -> None:
        try:
            find_clang()
        except ToolMissing as error:
            pytest.skip(str(error))
        with pytest.raises(ToolMissing, match="downloads it"):
            find_amd(cache=tmp_path / "cache", fetch=False)


class TestRemembered:
    def test_asks_again_only_when_the_tool_changes(self, tmp_path: Path) -> None:
        tool = program(tmp_path / "tool", "one")
        asked: list[str] = []

        def answer() -> str:
            asked.append("asked")
            return f"answer {len(asked)}"

        cache = tmp_path / "cache"
        assert remembered(cache, "question", [tool], answer) == "answer 1"
        assert remembered(cache, "question", [tool], answer) == "answer 1"
        program(tool, "another")
        assert remembered(cache, "question", [tool], answer) == "answer 2"
        assert remembered(cache, "another question", [tool], answer) == "answer 3"

    def test_failures_are_not_remembered(self, tmp_path: Path) -> None:
        tool = program(tmp_path / "tool")

        def fail() -> str:
            raise ToolMissing("x", "y")

        with pytest.raises(ToolMissing):
            remembered(tmp_path / "cache", "question", [tool], fail)
        assert remembered(tmp_path / "cache", "question", [tool], lambda: "works") == "works"
