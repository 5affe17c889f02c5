"""AMD's libraries from an archive, which is a folder of packages made on the spot here."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.toolchain.archive import debian_archive, library_root
from cass_ray.toolchain.archive.debian_archive import ArchiveError, Package
from cass_ray.toolchain.archive.library_root import (
    closure,
    find_library_root,
    install_libraries,
    libraries_called,
    missing_packages,
)

pytestmark = pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="needs dpkg-deb")

LIBRARIES = "usr/lib/x86_64-linux-gnu"
FILES = {
    ("base", "libc6"): {f"{LIBRARIES}/ld-linux-x86-64.so.2": "loader"},
    ("rand", "librocrand1"): {f"{LIBRARIES}/librocrand.so.1.1": "code"},
    ("rand", "libhiprand1"): {
        f"{LIBRARIES}/libhiprand.so.1": "code",
        f"{LIBRARIES}/hiprand/kernels_gfx1100.co": "wanted",
        f"{LIBRARIES}/hiprand/kernels_gfx803.co": "another processor's",
        "usr/share/doc/libhiprand1/copyright": "text",
    },
}


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Packages of FILES as the whole table; returns how often each was fetched."""
    made: dict[str, Package] = {}
    for (part, name), files in FILES.items():
        folder = tmp_path / "packages" / name
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        control = folder / "DEBIAN" / "control"
        control.parent.mkdir()
        control.write_text(
            f"Package: {name}\nVersion: 6.4.3-1\nArchitecture: amd64\n"
            "Maintainer: a <a@example.org>\nDescription: a\n"
        )
        path = tmp_path / f"{name}_6.4.3-1_amd64.deb"
        subprocess.run(["dpkg-deb", "-b", str(folder), str(path)], check=True, capture_output=True)
        content = path.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        made[name] = Package(part, name, "", str(path), len(content), sha256)
    fetched: dict[str, int] = {}

    def fetch_pinned(mirror: str, package: Package, file: Path) -> None:
        fetched[package.name] = fetched.get(package.name, 0) + 1
        shutil.copy(package.path, file)

    def packages(part: str) -> tuple[Package, ...]:
        return tuple(package for package in made.values() if package.part == part)

    monkeypatch.setattr(debian_archive, "_fetch_pinned", fetch_pinned)
    monkeypatch.setattr(debian_archive, "debian_mirror", lambda: "archive")
    monkeypatch.setattr(library_root, "packages", packages)
    monkeypatch.setattr(library_root, "PARTS", {"rand": ("hiprand", "rocrand")})
    return fetched


def test_an_installation_is_one_folder_with_the_kernels_of_our_processors(
    archive: dict[str, int], tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    assert find_library_root(cache) is None
    root = install_libraries(cache, ["rand"])
    assert root == find_library_root(cache)
    assert root.libraries == ("hiprand", "rocrand")
    assert (root.folder / "ld-linux-x86-64.so.2").read_text() == "loader"
    assert (root.folder / "libhiprand.so").resolve().name == "libhiprand.so.1"
    assert (root.folder / "hiprand/kernels_gfx1100.co").read_text() == "wanted"
    assert not (root.folder / "hiprand/kernels_gfx803.co").exists()
    assert not (root.path / "usr/share/doc").exists()


def test_an_interrupted_installation_goes_on_where_it_stopped(
    archive: dict[str, int], tmp_path: Path
) -> None:
    cache = tmp_path / "cache"

    def stop_at(name: str) -> Callable[[Package], None]:
        def progress(package: Package) -> None:
            if package.name == name:
                raise ArchiveError("the network is gone")

        return progress

    with pytest.raises(ArchiveError):
        install_libraries(cache, ["rand"], stop_at("libhiprand1"))
    assert find_library_root(cache) is None
    assert [package.name for package in missing_packages(cache, ["rand"])] == ["libhiprand1"]
    install_libraries(cache, ["rand"])
    assert archive == {"libc6": 1, "librocrand1": 1, "libhiprand1": 1}


def test_a_part_brings_what_it_stands_on() -> None:
    assert closure(["fft"]) == ["base", "fft"]
    assert closure(["solver"]) == ["base", "blas", "sparse", "solver"]


@pytest.mark.parametrize(
    ("assembly", "expected"),
    [
        ("callq hipblasSgemm_64@PLT", ("hipblas",)),
        ("callq rocblas_create_handle@PLT\ncallq hipfftExecC2C@PLT", ("hipfft", "rocblas")),
        # Of hiprand's device interface, whose stubs are in host code too.
        ("_Z11hiprand_initP7State:\ncallq hipMalloc@PLT", ()),
    ],
)
def test_the_libraries_that_host_code_calls(assembly: str, expected: tuple[str, ...]) -> None:
    assert libraries_called(assembly) == expected
