"""A root filesystem of this machine's files: measurements where there is nothing but processors.

``python -m benchmarks.elsewhere.root ROOT [MORE ...] [--datasets]`` copies to the empty folder ROOT
what it takes to compile, lift and run programs: Python with the modules that these import, the CUDA
toolkit, clang with the HIP headers, g++, bubblewrap, the built engine, the caches and the tree as
it is committed (Debian; about 1 GB, a fifth of it packed). MORE are further files and folders, kept
at their places. With ``--datasets`` also what :mod:`benchmarks.elsewhere.without_ray` takes: the
tools that projects are built with, headers that are installed, those of ``cass setup headers``.

There, as root, with the archive unpacked to ROOT::

    unshare --mount --propagation private sh -c 'mount --bind ROOT ROOT && cd ROOT &&
        mount -t proc proc proc && mount --rbind /dev dev && mkdir -p old &&
        pivot_root . old && cd / && umount -l /old && exec env -i
        PATH=VENV/bin:/usr/bin:/usr/sbin HOME=/root PYTHONPATH=TREE COMMAND'

(VENV and TREE are where they are here.) It is no chroot, in which bubblewrap can make no name
space. :mod:`benchmarks.elsewhere.commands` may be the COMMAND.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.folders import REPOSITORY
from cass_ray.cache import default_directory
from cass_ray.emulator.build import build
from cass_ray.toolchain.locate import find_amd, find_nvidia

_PACKAGES = (
    *("base-files", "bash", "coreutils", "dash", "debianutils", "diffutils", "findutils", "grep"),
    *("gzip", "libc-bin", "libc6", "mawk", "mount", "procps", "sed", "tar"),
    *("util-linux", "xz-utils"),
    *("binutils", "binutils-common", "binutils-x86-64-linux-gnu", "bubblewrap", "cpp-12", "g++"),
    *("g++-12", "gcc", "gcc-12", "gcc-12-base", "libc6-dev", "libcrypt-dev", "libgcc-12-dev"),
    *("libnsl-dev", "libstdc++-12-dev", "libstdc++6", "libtirpc-dev", "linux-libc-dev"),
    *("clang-19", "libclang-common-19-dev", "libclang-cpp19", "libllvm19", "lld-19", "libtbb-dev"),
)
_BUILD_TOOLS = (
    *("bsdutils", "cmake", "cmake-data", "file", "git", "hostname", "libmagic-mgc", "m4", "make"),
    *("ninja-build", "patch", "perl", "perl-base", "perl-modules-5.36", "libperl5.36"),
    *("pkg-config", "pkgconf", "pkgconf-bin", "protobuf-compiler", "sensible-utils"),
    *("libpython3-stdlib", "libpython3.11-minimal", "libpython3.11-stdlib", "python3"),
    *("python3-minimal", "python3.11", "python3.11-minimal", "python3-distutils"),
    *("python3-lib2to3", "python3-pkg-resources", "python3-setuptools"),
)
_LARGE_LIBRARY = 4 << 20
_NO_DEVELOPMENT = re.compile(r"^(llvm-|libclang-common-15|libllvm|libicu|manpages|libopenblas)")
_UNNEEDED = re.compile(
    r"^/usr/share/(doc|man|locale|info|lintian|bug|gdb)/|/gconv/|lto-dump|/lto1$"
    r"|lib([atu]|hwa)\w*san|/libomptarget|libclang_rt|/usr/lib/git-core/git-(?!remote-https$)"
)
_MODULES = (
    *(
        "charset_normalizer",
        "cloudpickle",
        "colorama",
        "fsspec",
        "numpy",
        "numpy.libs",
        "nvidia/cu13",
    ),
    *("packaging", "platformdirs", "pyarrow", "pydantic", "pydantic_core", "tenacity", "tornado"),
    *("typing_extensions.py", "typing_inspection", "annotated_types", "yaml", "_yaml", "zstandard"),
)
_DATASET_MODULES = (
    *(
        "annotated_doc",
        "chardet",
        "click",
        "filelock",
        "markdown_it",
        "mdurl",
        "psutil",
        "pygments",
    ),
    *("rich", "shellingham", "tqdm", "tree_sitter", "tree_sitter_cuda", "typer", "wcwidth"),
)
_UNNEEDED_OF_PYTHON = re.compile(
    r"/(__pycache__|tests?|idlelib|tkinter|ensurepip|lib2to3|config-3[^/]*)(/|$)"
    r"|/nvidia/cu13/(?!(bin/(nvcc|nvdisasm|cuobjdump)$|include(/|$)|bin$))"
    r"|/pyarrow/(include|src|(lib|_)\w*(flight|orc|gandiva|substrait|s3|azure|gcs|hdfs)[^/]*)"
    r"|\.(pyi|a|pxd|pyx)$"
)
_CACHES = (
    *("curand", "hip-headers", "hip-libraries", "hip-root", "lift-compiler"),
    *("preloaded", "probes", "resume"),
)
_DATASET_CACHES = (
    *("clang-driver", "cuda-link-names", "launcher", "lift-support", "opencl-bitcode"),
    *("opencl-math", "provided-headers", "provided-headers-hip"),
)
_UNNEEDED_OF_CUDA = re.compile(r"/lib(nvperf|cupti|checkpoint|pcsampling|nvvm\.so)[^/]*$")
_ETC = ("alternatives", "group", "hosts", "ld.so.conf", "ld.so.conf.d", "localtime", "passwd")
_EMPTY = ("dev", "proc", "sys", "tmp", "var/tmp", "root", "run")


class RootFilesystem:
    """Copies files to their places below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in _EMPTY:
            (root / name).mkdir(parents=True, exist_ok=True)
        for name in ("bin", "lib", "lib64", "sbin"):  # Debian's links
            (root / "usr" / name).mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(f"usr/{name}")

    def add(self, path: Path) -> None:
        """Copy a file or link; nothing where it is there already."""
        parent = (
            path.parent.resolve()
            if path.parts[1] in ("bin", "lib", "lib64", "sbin")
            else path.parent
        )
        target = self.root / (parent / path.name).relative_to("/")
        if not (target.exists() or target.is_symlink()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=False)

    def add_tree(self, folder: Path, without: re.Pattern[str] | None = None) -> None:
        """Copy a file, or a folder but for the paths that ``without`` finds."""
        for path in [folder, *sorted(folder.rglob("*"))] if folder.is_dir() else [folder]:
            if without is not None and without.search(str(path)):
                continue
            if path.is_symlink() or path.is_file():
                self.add(path)
            elif path.is_dir():
                (self.root / path.relative_to("/")).mkdir(parents=True, exist_ok=True)

    def add_alternatives(self) -> None:
        """Copy the commands that no package has, such as ``cc``: links to alternatives."""
        for path in sorted(Path("/usr/bin").iterdir()):
            chosen = path.is_symlink() and path.readlink().parent == Path("/etc/alternatives")
            if chosen and (self.root / path.resolve().relative_to("/")).exists():
                self.add(path)

    def add_libraries(self) -> None:
        """Copy the shared libraries of all that is there, with the links' targets."""
        for path in sorted(self.root.rglob("*")):
            here = Path("/") / path.relative_to(self.root)
            if path.is_symlink() or not path.is_file() or not here.exists() or not _is_elf(path):
                continue
            said = subprocess.run(["ldd", here], capture_output=True, text=True, check=False).stdout
            for name in re.findall(r"(/\S+\.so\S*)", said):
                self.add(Path(name))
                self.add(Path(name).resolve())


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _files_of(packages: Iterable[str]) -> Iterator[Path]:
    for package in packages:
        listed = subprocess.run(
            ["dpkg", "-L", package], capture_output=True, text=True, check=False
        )
        if listed.returncode:
            print(f"{package} is not installed: left out", file=sys.stderr)
        for line in listed.stdout.splitlines():
            path = Path(line)
            wanted = path.is_absolute() and not _UNNEEDED.search(line)
            if wanted and (path.is_symlink() or path.is_file()):
                yield path


def _development_packages() -> list[str]:
    """Packages of headers that are installed here: projects' builds find these without asking."""
    asked = ["dpkg-query", "-W", "-f", "${db:Status-Abbrev}${Package}\\n", "*-dev"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    names = [line[3:].strip() for line in listed.splitlines() if line.startswith("ii")]
    return [name for name in names if not _NO_DEVELOPMENT.search(name)]


def _add_development_files(made: RootFilesystem) -> None:
    """Headers, CMake's and pkg-config's files, and libraries as far as a build looks for them."""
    for path in _files_of(_development_packages()):
        if path.suffix == ".a":
            continue
        made.add(path)
        target = path.resolve()
        if path.is_symlink() and target.is_file() and target.stat().st_size < _LARGE_LIBRARY:
            made.add(target)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("more", type=Path, nargs="*")
    parser.add_argument("--datasets", action="store_true")
    given = parser.parse_args()
    some = given.datasets
    packages = (*_PACKAGES, *(_BUILD_TOOLS if some else ()))
    modules = (*_MODULES, *(_DATASET_MODULES if some else ()))
    caches = (*_CACHES, *(_DATASET_CACHES if some else ()))
    made, cache = RootFilesystem(given.root.resolve()), default_directory()
    engine, amd, nvidia = build(), find_amd(), find_nvidia()
    for path in _files_of(packages):
        made.add(path)
    made.add_alternatives()
    site = Path(sysconfig.get_paths()["purelib"])
    for prefix in (sys.base_prefix, sys.prefix):
        for path in Path(prefix).glob("bin/python*"):
            made.add(path)
    made.add_tree(
        Path(sysconfig.get_paths()["stdlib"]),
        re.compile(rf"site-packages|{_UNNEEDED_OF_PYTHON.pattern}"),
    )
    if some:  # extensions of projects include Python.h
        made.add_tree(Path(sysconfig.get_paths()["include"]))
    made.add(Path(sys.prefix) / "pyvenv.cfg")
    made.add(Path(sys.prefix) / "bin" / "cass")
    for path in sorted(site.glob("*.dist-info/*")):  # commands are entry points
        if path.name in ("METADATA", "entry_points.txt"):
            made.add(path)
    for name in modules:
        made.add_tree(site / name, _UNNEEDED_OF_PYTHON)
    folders = [nvidia.home, nvidia.cuobjdump.parent / "cuobjdump", nvidia.nvdisasm, amd.rocm_path]
    folders += [cache / name for name in caches]
    folders += [engine.runtime.parent, engine.engine.parent]
    folders += [Path("/etc") / name for name in _ETC]
    for folder in (*folders, *(each.resolve() for each in given.more)):
        made.add_tree(folder, _UNNEEDED_OF_CUDA)
    if some:
        _add_development_files(made)
    tree = made.root / REPOSITORY.relative_to("/")
    tree.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(
        ["git", "-C", REPOSITORY, "archive", "HEAD"], capture_output=True, check=True
    )
    subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
    made.add_libraries()
    subprocess.run(["ldconfig", "-r", made.root], check=True)


if __name__ == "__main__":
    main()
