from __future__ import annotations

import hashlib
import subprocess
import threading
import zipfile
from pathlib import Path

import pytest

from cass_ray.toolchain.amd.clang import find_clang
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip import packages, root
from cass_ray.toolchain.hip.packages import unpack_once, unpack_wheel
from cass_ray.toolchain.hip.repairs import repair_rocprim
from cass_ray.toolchain.hip.root import (
    build_hip_root,
    control_libraries,
    find_hip_root,
    header_version,
    isa_version,
)

VERSION_HEADER = """\
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 41134
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel with the members that matter, some that do not, and one that tries to get out."""
    path = tmp_path / "triton.whl"
    amd = "triton/backends/amd"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{amd}/include/hip/hip_runtime.h", "// runtime\n")
        archive.writestr(f"{amd}/include/hip/hip_version.h", VERSION_HEADER)
        archive.writestr(f"{amd}/include/hip/amd_detail/device_functions.h", "// detail\n")
        archive.writestr(f"{amd}/include/hsa/hsa.h", "// hsa\n")
        archive.writestr(f"{amd}/include/roctracer/roctx.h", "// not needed\n")
        archive.writestr(f"{amd}/include/../../../../escaped.h", "// no\n")
        archive.writestr(f"{amd}/lib/ocml.bc", b"ocml")
        archive.writestr(f"{amd}/lib/ockl.bc", b"ockl")
        archive.writestr(f"{amd}/lib/asanrtl.bc", b"no")
        archive.writestr("triton/_C/libtriton.so", b"large")
        archive.writestr("triton-3.5.1.dist-info/licenses/LICENSE", "MIT\n")
    return path


@pytest.fixture
def no_debian_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(root, "debian_headers", lambda _cache: None)


def test_unpack_takes_headers_device_libraries_and_license(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "unpacked"
    unpack_wheel(wheel, target)
    files = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert files == {
        "LICENSE",
        "bitcode/ockl.bc",
        "bitcode/ocml.bc",
        "include/hip/amd_detail/device_functions.h",
        "include/hip/hip_runtime.h",
        "include/hip/hip_version.h",
        "include/hsa/hsa.h",
    }
    assert not list(tmp_path.rglob("escaped.h"))


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.whl"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("other/__init__.py", "")
    with pytest.raises(ToolMissing, match="triton"):
        unpack_wheel(other, tmp_path / "unpacked")


class TestUnpackOnce:
    def test_a_failed_fill_leaves_nothing(self, tmp_path: Path) -> None:
        def fill(target: Path) -> None:
            (target / "half").write_text("half")
            raise RuntimeError("disk full")

        with pytest.raises(RuntimeError, match="disk full"):
            unpack_once(tmp_path / "root", fill)
        assert not (tmp_path / "root").exists()
        assert [path for path in tmp_path.iterdir() if path.is_dir()] == []

    def test_concurrent_callers_fill_once(self, tmp_path: Path) -> None:
        fills: list[Path] = []
        together = threading.Barrier(4)

        def fill(target: Path) -> None:
            fills.append(target)
            (target / "content").write_text("whole")

        def work() -> None:
            together.wait()
            folder = unpack_once(tmp_path / "root", fill)
            assert (folder / "content").read_text() == "whole"

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(fills) == 1


class TestControlLibraries:
    @pytest.mark.parametrize(
        ("architecture", "value"),
        [("gfx1100", 11000), ("gfx1103", 11003), ("gfx1151", 11501), ("gfx90a", 9010)],
    )
    def test_isa_version(self, architecture: str, value: int) -> None:
        """Values of ``oclc_isa_version_*.bc`` in AMD's device libraries."""
        assert isa_version(architecture) == value

    def test_the_set_that_clang_links(self) -> None:
        """``getCommonBitcodeLibs`` of clang's ROCm tool chain, for wavefronts of 32 lanes."""
        needed = {
            "oclc_daz_opt_off.bc",
            "oclc_unsafe_math_off.bc",
            "oclc_finite_only_off.bc",
            "oclc_correctly_rounded_sqrt_on.bc",
            "oclc_wavefrontsize64_off.bc",
            "oclc_isa_version_1100.bc",
            "oclc_abi_version_500.bc",
            "hip.bc",
            "opencl.bc",
        }
        assert needed <= set(control_libraries(("gfx1100",)))

    @pytest.mark.amd
    def test_constants_after_assembly(self, tmp_path: Path) -> None:
        try:
            clang = find_clang().clang
        except ToolMissing as error:
            pytest.skip(str(error))
        disassembler = clang.parent / "llvm-dis"
        if not disassembler.exists():
            pytest.skip("llvm-dis is not installed")
        root.write_control_libraries(clang, tmp_path)

        def text(name: str) -> str:
            command = [str(disassembler), str(tmp_path / name), "-o", "-"]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

        wave = text("oclc_wavefrontsize64_off.bc")
        assert "@__oclc_wavefrontsize64 = " in wave and "constant i8 0" in wave
        assert "@__oclc_wavefrontsize_log2 = " in wave and "constant i32 5" in wave
        assert "constant i32 11000" in text("oclc_isa_version_1100.bc")
        assert "constant i8 1" in text("oclc_correctly_rounded_sqrt_on.bc")
        layout = 'target datalayout = "'
        assert layout in text("hip.bc"), "without a layout every compilation warns"


@pytest.mark.amd
@pytest.mark.usefixtures("no_debian_packages")
class TestBuild:
    @pytest.fixture
    def clang(self) -> Path:
        try:
            return find_clang().clang
        except ToolMissing as error:
            pytest.skip(str(error))

    def test_layout(self, clang: Path, wheel: Path, tmp_path: Path) -> None:
        cache = tmp_path / "cache"
        assert find_hip_root(clang, cache) is None
        root = build_hip_root(clang, cache, wheel)

        assert root.version == "6.2.41134"
        assert root.libraries == ()
        assert (root.include / "hip/hip_runtime.h").exists()
        assert (root.path / "amdgcn/bitcode/ocml.bc").read_bytes() == b"ocml"
        assert "HIP_VERSION_MAJOR=6" in (root.path / "share/hip/version").read_text()
        assert find_hip_root(clang, cache) == root

    def test_a_second_build_reuses_the_first(
        self, clang: Path, wheel: Path, tmp_path: Path
    ) -> None:
        cache = tmp_path / "cache"
        first = build_hip_root(clang, cache, wheel)
        stamp = (first.path / "share/hip/version").stat().st_mtime_ns
        again = build_hip_root(clang, cache, tmp_path / "no-such.whl")
        assert again == first
        assert (again.path / "share/hip/version").stat().st_mtime_ns == stamp


def test_no_network_tells_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(ToolMissing) as missing:
        packages.hip_headers(tmp_path / "cache")
    assert "--wheel" in str(missing.value)
    assert "triton==3.5.1" in str(missing.value)
    assert not list((tmp_path / "cache").rglob("hip_runtime.h"))


def test_a_wheel_with_another_hash_is_not_used(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    fake = shelf / "triton-3.5.1-cp311-cp311-manylinux_2_27_x86_64.whl"
    fake.write_bytes(wheel.read_bytes())
    assert hashlib.sha256(fake.read_bytes()).hexdigest() != packages.WHEEL_SHA256
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(ToolMissing, match=r"(?i)hash"):
        packages.hip_headers(tmp_path / "cache")


def test_header_version_of_a_folder_without_hip(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match=r"hip_version\.h"):
        header_version(tmp_path)


def test_rocprim_repair_replaces_the_dropped_member(tmp_path: Path) -> None:
    header = tmp_path / "device" / "scan.hpp"
    header.parent.mkdir()
    header.write_text("if(prop.gcnArch == 908 && asicRevision < 2) {}\nint gcnArchitecture;\n")
    repair_rocprim(tmp_path)
    text = header.read_text()
    assert 'std::strncmp(prop.gcnArchName, "gfx908", 6)' in text
    assert "prop.gcnArch " not in text
    assert "int gcnArchitecture;" in text
    assert "#include <cstring>" in text
