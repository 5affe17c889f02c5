"""PyTorch as a package of CMake's.

The wheel's own asks for the CUDA toolkit that PyTorch was built with. This one gives the headers
and libraries that an extension is built with here, by the names of the wheel's.
"""

from __future__ import annotations

from pathlib import Path

from cass_ray.toolchain.cmake_prefix import version_file

FOLDER = "lib/cmake/Torch"
_CONFIG = (Path(__file__).parent / "TorchConfig.cmake").read_text(encoding="utf-8")


def write_cmake_package(
    prefix: Path, torch: Path, include: Path, library: Path, version: str
) -> None:
    """Write ``TorchConfig.cmake`` below the root ``prefix``.

    ``torch`` is the folder of the Python package, ``include`` has its headers about devices, and
    ``library`` is what stands in for its part for CUDA.
    """
    folder = prefix / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    values = {"torch": torch, "include": include, "library": library, "rocm": prefix}
    text = _CONFIG
    for name, path in values.items():
        text = text.replace(f"@{name}@", path.as_posix())
    (folder / "TorchConfig.cmake").write_text(text)
    text = version_file(version.partition("+")[0])
    (folder / "TorchConfigVersion.cmake").write_text(text)
