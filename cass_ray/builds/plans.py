"""Which commands build a project, as its build files say: tried in this order."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = "/cass/source"
"""Where a build sees the project."""

BUILD_FOLDER = "cass-build"
"""Where CMake and Meson build: in the tree, so that headers they write are in it too."""

DEPENDENCIES = ".cass-dependencies"
"""Where in the tree other projects lie that CMake would fetch."""

_MAXIMUM_FOLDERS = 12
_SKIPPED = frozenset(
    {".git", "third_party", "thirdparty", "3rdparty", "extern", "external", "deps"}
)
_TEXT_BYTES = 1 << 20
_PROJECT = re.compile(r"^[ \t]*project[ \t]*\(", re.MULTILINE | re.IGNORECASE)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_BUILD_FILES = frozenset(
    {*_MAKEFILES, "CMakeLists.txt", "meson.build", "configure.ac", "configure.in", "configure",
     "setup.py"}
)  # fmt: skip
_OF_CUDA = re.compile(r"\.cu\b|\bnvcc\b|\bNVCC\b|\bCUDA\b")

_SWITCH = re.compile(
    r"^[ \t]*+#?[ \t]*+((?:USE_|ENABLE_|WITH_|BUILD_|HAVE_)?(?:CUDA|GPU|NVCC|CUBLAS)(?:_SUPPORT)?)"
    r"[ \t]*+[:?]?=[ \t]*+(0|no|NO|off|OFF|false|n)[ \t]*+$",
    re.MULTILINE,
)
_OPTION = re.compile(r"\b(?:caffe_)?option\s*\(\s*([A-Z]\w*)\b([^()]*)\)", re.IGNORECASE)
_CMAKE_SWITCH = re.compile(
    r"(?:^|_)(?:(?:CUDA|GPU)(?:_SUPPORT|_BACKEND|S)?|NVIDIA(?:_SUPPORT|_BACKEND))$", re.IGNORECASE
)
_OTHER_VENDOR = re.compile(r"(?:^|_)(?:AMD|HIP|ROCM)(?:_SUPPORT|_BACKEND|_GPU)?$", re.IGNORECASE)
_NOT_NEEDED = re.compile(
    r"PYTHON|TEST|DOC|EXAMPLE|BENCH|TUTORIAL|MATLAB|JAVA|RUBY|SWIG|OPENCV|MKL|DNNL|ONEDNN|CUDNN|"
    r"RAFT|CUVS|ROCM|HIP|METAL|VULKAN|WERROR|LTO|CLI\b|TOOLS|GUI|VIEWER|OPENMP|INTEL|OMP|NCCL|MPI",
    re.IGNORECASE,
)
_OF_ENVIRONMENT = re.compile(r"\$ENV\{(\w+)\}")
_PARTS = ("test", "example", "bench", "tutorial", "sample")
"""Words of options and of folders for what not all builds want."""
_COMMON_VALUES = {"OPENMP_RUNTIME": "NONE"}
_CMAKE_STRING = re.compile(r"\bset\s*\(\s*(OPENMP_RUNTIME)\b")


@dataclass(frozen=True)
class BuildCommands:
    """Shell ``commands`` for a build in ``folder`` (relative to the project), one after another.

    The first that fails does not end the others: what is written by then still counts.
    """

    system: str
    folder: str
    commands: tuple[str, ...]


def plans(root: Path, foreign: tuple[str, ...] = ()) -> Iterator[BuildCommands]:
    """The plans for the project at ``root``, outer folders first, the fullest build first.

    Paths that begin as one of ``foreign`` belong to other projects.
    """
    for folder in _folders(root, foreign):
        place = root / folder
        if _PROJECT.search(_text(place / "CMakeLists.txt")):
            yield from _cmake(root, folder)
        if (place / "meson.build").is_file():
            commands = (f"meson setup {BUILD_FOLDER}", f"ninja -k 0 -C {BUILD_FOLDER}")
            yield BuildCommands("meson", folder, commands)
        if any((place / name).is_file() for name in ("configure.ac", "configure.in", "configure")):
            yield from _autotools(place, folder)
        if any((place / name).is_file() for name in _MAKEFILES):
            yield from _make(place, folder)
        if (place / "setup.py").is_file():
            yield BuildCommands("setup.py", folder, ("python3 /cass/python/run_setup.py setup.py",))


def protocol_buffers(root: Path) -> BuildCommands | None:
    """The plan that writes the headers of ``.proto`` files; None where there are no such files.

    It goes last, since builds write most of theirs."""
    if next(root.rglob("*.proto"), None) is None:
        return None
    return BuildCommands("protoc", ".", ("python3 /cass/python/run_protoc.py",))


def _folders(root: Path, foreign: tuple[str, ...]) -> list[str]:
    """Folders with a build file and CUDA sources below, outer ones first; then those whose build
    files speak of CUDA and build what lies elsewhere (``cmake/``, ``linux/``)."""
    around: set[str] = set()
    for path in root.rglob("*.cu"):
        inside = PurePosixPath(path.relative_to(root).as_posix())
        if not str(inside).startswith(foreign):
            around |= {str(each) for each in inside.parents if not _SKIPPED & set(each.parts)}
    built, beside = list[str](), list[str]()
    for place, names in _with_build_files(root):
        if place in around:
            built.append(place)
        elif not f"{place}/".startswith(foreign) and not _SKIPPED & set(place.split("/")):
            texts = [_text(root / place / name) for name in names]
            if any(_OF_CUDA.search(text) for text in texts):
                beside.append(place)
    for folders in (built, beside):
        folders.sort(key=lambda name: (name.count("/") + (name != "."), name))
    beside.sort(key=lambda name: "cuda" not in name.lower())
    return [*built, *beside][:_MAXIMUM_FOLDERS]


def _with_build_files(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Folders of the tree that hold build files, and which."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        files = [name for name in names if name in _BUILD_FILES]
        if files:
            yield Path(folder).relative_to(root).as_posix(), files


_ANY_CMAKE = (
    r"find . \( -name CMakeLists.txt -o -name '*.cmake' \) -exec sed -i -E "
    r"'s/(cmake_minimum_required[[:space:]]*\([[:space:]]*VERSION[[:space:]]+)"
    r"(3\.(19|[2-9][0-9])|[4-9]\.[0-9]+)[0-9.]*/\13.18/I' {} +"
)
"""Projects that ask for a newer CMake than is here are configured by what is here: 3.18 is the
first that knows CUDA's architectures."""
_SOME_CMAKE = (
    "grep -qi cmake_minimum_required CMakeLists.txt || "
    "sed -i '1s/^/cmake_minimum_required(VERSION 3.18)\\n/' CMakeLists.txt"
)
"""CMake refuses project(VERSION) to a project that asks for no version of CMake."""


def _cmake(root: Path, folder: str) -> Iterator[BuildCommands]:
    """With what switches CUDA on; then without what is optional and has no CUDA sources, and past
    what is missing."""
    build = f"cmake --build {BUILD_FOLDER} -- -k -i -j2"
    on, lenient = _cmake_words(root, folder)
    environment = tuple(_environment(root, _text(root / folder / "CMakeLists.txt")))
    configure = shlex.join(["cmake", "-S", ".", "-B", BUILD_FOLDER, *on])
    yield BuildCommands("cmake", folder, (*environment, f"rm -rf {BUILD_FOLDER}", configure, build))
    yield BuildCommands("cmake, lenient", folder, (*environment, *_leniently(lenient), build))


def _environment(root: Path, text: str) -> Iterator[str]:
    """Sets the variables by which a CMake file finds what lies below the project's root."""
    for name in dict.fromkeys(_OF_ENVIRONMENT.findall(text)):
        copies = re.findall(rf'\bset\s*\(\s*(\w+)\s+"?\$ENV\{{{name}\}}"?\s*\)', text)
        said = [rf"\$ENV\{{{name}\}}", *(rf"\$\{{{each}\}}" for each in copies)]
        below = re.findall(rf"(?:{'|'.join(said)})/([\w.-]+(?:/[\w.-]+)*)", text)
        if any((root / path).exists() for path in below):
            yield f"export {name}={ROOT}"


def configured_alone(root: Path, folder: str) -> BuildCommands:
    """The plan that configures ``folder``, past what is missing, and builds nothing."""
    return BuildCommands("cmake, configured", folder, _leniently(_cmake_words(root, folder)[1]))


def _leniently(words: list[str]) -> tuple[str, ...]:
    configure = shlex.join(["cmake", "-S", ".", "-B", BUILD_FOLDER, *words])
    return (
        f"rm -rf {BUILD_FOLDER}",
        _ANY_CMAKE,
        _SOME_CMAKE,
        f"python3 /cass/python/run_cmake.py {configure}",
    )


def _cmake_words(root: Path, folder: str) -> tuple[list[str], list[str]]:
    """Options of CMake with what switches CUDA on; and those for a build past what is missing."""
    place = root / folder
    files = [place / "CMakeLists.txt", *sorted(place.glob("cmake/*.cmake"))]
    text = "\n".join(map(_text, files))
    options = dict.fromkeys(match[1] for match in _OPTION.finditer(text))
    on = [f"-D{name}=ON" for name in options if _CMAKE_SWITCH.search(name)]
    on += [f"-D{name}=OFF" for name in options if _OTHER_VENDOR.search(name)]
    left = [name for name in options if not _CMAKE_SWITCH.search(name)]
    folders = {str(path.relative_to(place).parent) for path in place.rglob("*.cu")}
    parts = _parts_in(" ".join(folders))
    asked = [name for name in left if parts & _parts_in(name)]
    rest = [f"-D{name}=ON" for name in asked]
    rest += [f"-D{name}=OFF" for name in left if _NOT_NEEDED.search(name) and name not in asked]
    rest += [f"-D{m[1]}={_COMMON_VALUES[m[1]]}" for m in _CMAKE_STRING.finditer(text)]
    fixed = ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_CUDA_ARCHITECTURES=80"]
    fixed += ["-DCUDA_ARCH_NAME=Manual", "-DCUDA_TOOLKIT_ROOT_DIR=/cass/cuda", "-Wno-dev"]
    fixed += ["-DCMAKE_POLICY_VERSION_MINIMUM=3.5"]  # CMake 4 refuses what asks for less
    fixed += ["-DCUTLASS_ENABLE_HEADERS_ONLY=ON"]  # its own build writes thousands of kernels
    fixed += _fetched(root)
    tests = "ON" if "test" in parts else "OFF"
    lenient = [*fixed, *on, *rest, f"-DBUILD_TESTING={tests}", "-DPYTHON_EXECUTABLE=python3"]
    lenient.append("-DCMAKE_PROJECT_INCLUDE_BEFORE=/cass/cmake/before_project.cmake")
    lenient.append("-DCMAKE_PROJECT_INCLUDE=/cass/cmake/lenient.cmake")
    return [*fixed, *on], lenient


def _parts_in(name: str) -> set[str]:
    return {word for word in _PARTS if word in name.lower()}


def _fetched(root: Path) -> Iterator[str]:
    """Where CMake's own ways to fetch other projects find them; nothing is fetched there."""
    yield "-DFETCHCONTENT_FULLY_DISCONNECTED=ON"
    folder = root / DEPENDENCIES
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        shown = f"{ROOT}/{DEPENDENCIES}/{place.name}"
        yield f"-DFETCHCONTENT_SOURCE_DIR_{place.name.upper()}={shown}"
        yield f"-DCPM_{place.name}_SOURCE={shown}"


def _autotools(place: Path, folder: str) -> Iterator[BuildCommands]:
    prepare: tuple[str, ...] = ()
    if not (place / "configure").is_file():
        prepare = ("NOCONFIGURE=1 sh ./autogen.sh",) if (place / "autogen.sh").is_file() else ()
        prepare = (*prepare, "test -f configure || autoreconf -fi")
    cuda = "--with-cuda=/cass/cuda"
    shell = "bash" if "bash" in _text(place / "configure").partition("\n")[0] else "sh"
    configure = f"{shell} ./configure {cuda} || {shell} ./configure"
    yield BuildCommands("autotools", folder, (*prepare, configure, "make -k -i -j2"))


def _make(place: Path, folder: str) -> Iterator[BuildCommands]:
    """With what switches CUDA on, and with the example of a configuration that is missing."""
    text = "\n".join(_text(place / name) for name in _MAKEFILES)
    commands = []
    for example in sorted(place.glob("*.example")) + sorted(place.glob("*.sample")):
        wanted = example.with_suffix("")
        if wanted.name in text and not wanted.exists():
            commands.append(shlex.join(["cp", example.name, wanted.name]))
    make = "make" if "include" not in text else "python3 /cass/python/run_make.py"
    switches = " ".join(f"{match[1]}=1" for match in _SWITCH.finditer(text))
    home = "CUDA_DIR=/cass/cuda CUDA_HOME=/cass/cuda CUDA_PATH=/cass/cuda"
    yield BuildCommands("make", folder, (*commands, f"{make} -k -i -j2 {switches} {home}".strip()))


def _text(path: Path) -> str:
    try:
        with path.open(errors="replace") as file:
            return file.read(_TEXT_BYTES)
    except OSError:
        return ""
