"""Runs a project's own build in the sandbox with recorders for compilers; reads what it left.

The project is seen at :data:`ROOT` and may be written there; there is no network. Packages that its
files ask for look installed. Only compilers are not what they seem.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from cass_ray.builds.commands import UnitCommand, is_cuda, read_record
from cass_ray.builds.plans import ROOT, BuildCommands, plans, protocol_buffers
from cass_ray.builds.system_view import HOST, PACKAGES, merge_system
from cass_ray.builds.templates import configured_dependencies, unwritten, written_as_stated
from cass_ray.temporary import temporary_prefix
from cass_ray.toolchain.provided.packages_table import WHEEL, HeaderPackage
from cass_ray.toolchain.provided.store import HeaderStore
from cass_ray.toolchain.sandbox.isolation import SYSTEM_PATHS, Mount, View
from cass_ray.toolchain.sandbox.outputs import read_written
from cass_ray.toolchain.sandbox.process import Limits, run

_INCLUDES_ROOT = re.compile(
    rb'(?m)^([ \t]*#[ \t]*include[ \t]*)["<]' + ROOT.encode() + rb'/([\x21-\x7e]+?)[">]'
)
NO_DEPENDENCIES: Mapping[str, str] = MappingProxyType({})

CUDA = Path("/cass/cuda")
_RECORDERS = Path("/cass/recorders")
_RECORD = Path("/cass/record")
_SYSTEM_PYTHON = Path("/usr/bin/python3")
_HERE = Path(__file__).parent

COMPILERS = ("gcc", "g++", "cc", "c++", "clang", "clang++", "nvcc", "ar", "ranlib")
_TRIPLE = "x86_64-linux-gnu-"
GENERATED = (
    ".h", ".hh", ".hpp", ".hxx", ".cuh", ".cu", ".inc", ".inl", ".ipp", ".tpp", ".tcc", ".def",
)  # fmt: skip
_OF_BUILD_SYSTEM = re.compile(r"\b(?:CMakeFiles|meson-private)/")
_FETCHED_BY_BUILD = re.compile(r"/_deps/[^/]*-(?:src|subbuild)/")
_GENERATED_BYTES = 4 << 20
_ALL_GENERATED_BYTES = 64 << 20
_RECORD_BYTES = 256 << 20
_LOG_CHARACTERS = 6000

BUILD_LIMITS = Limits(
    cpu_seconds=400.0,
    wall_seconds=400.0,
    memory_bytes=6 << 30,
    address_space_bytes=None,
    processes=256,
    open_files=1024,
    output_bytes=64 << 20,
)
"""Of one plan."""
WHOLE_SECONDS = 900.0
"""Of all plans of a project: none is begun later."""


class RecordedBuild(BaseModel):
    """What recorded builds of a project gave.

    ``units`` by path. ``generated``: files that builds wrote, by their path in the tree. ``log``:
    for each plan what it was, how it ended and its last words.
    """

    model_config = ConfigDict(extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")

    units: dict[str, UnitCommand] = {}
    generated: dict[str, bytes] = {}
    log: list[str] = []
    seconds: float = 0.0


@dataclass(frozen=True)
class BuildRecorder:
    """Records builds with the toolkit whose ``nvcc`` and include folders these are."""

    nvcc: Path
    toolkit: Path
    library_directories: tuple[Path, ...]
    store: HeaderStore
    limits: Limits = field(default=BUILD_LIMITS)

    def record(
        self,
        tree: Path,
        packages: Sequence[HeaderPackage],
        dependencies: Mapping[str, str] = NO_DEPENDENCIES,
    ) -> RecordedBuild:
        """Build the project in ``tree``, which is written to, as far as it goes.

        ``dependencies`` are folders of the tree by the address that they are from: what the build
        would clone. Every file of CUDA that a plan compiles has its unit from the first plan that
        did; those of dependencies are not asked for.
        """
        began = time.monotonic()
        result = RecordedBuild()
        before = _state(tree)
        prefix = temporary_prefix("build")
        with tempfile.TemporaryDirectory(prefix=prefix) as name:
            rooms = Path(name)
            view = self._prepare(rooms, tree, packages)
            self._write_git(rooms / "recorders", dependencies)
            foreign = tuple(f"{folder}/" for folder in dependencies.values())
            wanted = {
                path for path in before if path.endswith(".cu") and not path.startswith(foreign)
            }
            for plan in plans(tree, foreign):
                if wanted <= result.units.keys() or time.monotonic() - began > WHOLE_SECONDS:
                    break
                if not _leaves_something(plan, wanted, wanted - result.units.keys()):
                    continue
                self._run(plan, rooms, tree, view, result)
            if (plan_of_headers := protocol_buffers(tree)) is not None:
                self._run(plan_of_headers, rooms, tree, view, result)
            self._configure_templates(rooms, tree, view, result, tuple(dependencies.values()))
        result.generated = dict(_generated(tree, before))
        result.seconds = time.monotonic() - began
        return result

    def _configure_templates(
        self, rooms: Path, tree: Path, view: View, result: RecordedBuild, foreign: tuple[str, ...]
    ) -> None:
        """Write headers that no plan has written from their templates."""
        for plan in configured_dependencies(tree, unwritten(tree, foreign), foreign):
            self._run(plan, rooms, tree, view, result)
        if (rest := written_as_stated(tree, unwritten(tree, foreign))) is not None:
            self._run(rest, rooms, tree, view, result)

    def _run(
        self, plan: BuildCommands, rooms: Path, tree: Path, view: View, result: RecordedBuild
    ) -> None:
        record = rooms / "record" / "commands"
        record.unlink(missing_ok=True)
        script = "\n".join(plan.commands)
        done = run(
            ["/bin/sh", "-c", script],
            cwd=tree / plan.folder,
            limits=self.limits,
            view=view,
            env=_environment(),
        )
        text = (read_written(record, _RECORD_BYTES) or b"").decode("utf-8", "replace")
        units = read_record(text, ROOT)
        cuda = {path: unit for path, unit in units.items() if is_cuda(unit)}
        for path, unit in cuda.items():
            result.units.setdefault(path, unit)
        said = (done.stdout_text + done.stderr_text).strip()[-_LOG_CHARACTERS:]
        result.log.append(
            f"{plan.system} in {plan.folder}: {len(cuda)} units of CUDA, {done.outcome.value} "
            f"after {done.wall_seconds:.0f} s\n{said}"
        )

    def _prepare(self, rooms: Path, tree: Path, packages: Sequence[HeaderPackage]) -> View:
        """The folders that the view shows, and the view."""
        roots = [self.store.root(each) for each in packages if self.store.has(each)]
        debian = [root for root in roots if (root / "usr").is_dir()]
        wheels = [
            self.store.root(each) / "include"
            for each in packages
            if each.kind == WHEEL and self.store.has(each)
        ]
        merge_system(rooms / "usr", debian)
        (rooms / "usr" / "local").unlink(missing_ok=True)
        (rooms / "usr" / "local").mkdir(exist_ok=True)
        (rooms / "usr" / "local" / "cuda").symlink_to(CUDA)
        self._write_recorders(rooms / "recorders")
        self._write_toolkit(rooms / "cuda", wheels)
        (rooms / "record").mkdir()
        mounts = [
            Mount(rooms / "usr", Path("/usr")),
            Mount(Path("/usr"), HOST),
            Mount(rooms / "recorders", _RECORDERS),
            Mount(rooms / "cuda", CUDA),
            Mount(rooms / "record", _RECORD, writable=True),
            Mount(tree, Path(ROOT), writable=True),
            Mount(_HERE / "python", Path("/cass/python")),
            Mount(_HERE / "cmake", Path("/cass/cmake")),
            *(Mount(root, PACKAGES / root.name) for root in roots),
        ]
        shown = [self.toolkit, *self.library_directories]
        if not _SYSTEM_PYTHON.exists():
            shown.append(Path(sys.base_prefix))
        read_only = tuple(path for path in shown if not path.is_relative_to("/usr"))
        system = tuple(path for path in SYSTEM_PATHS if path != Path("/usr"))
        return View(
            read_only=read_only,
            mounts=tuple(mounts),
            system=system,
            process_filesystem=True,
            refuses_sockets=True,
        )

    def _write_recorders(self, folder: Path) -> None:
        folder.mkdir()
        script = (Path(__file__).parent / "recorder.py").read_text()
        interpreter = _interpreter()
        (folder / "recorder").write_text(f"#!{interpreter} -S\n{script}")
        (folder / "recorder").chmod(0o755)
        programs = {}
        for name in COMPILERS:
            for shown in (name, _TRIPLE + name):
                real = str(_shown(self.nvcc)) if name == "nvcc" else _on_host(name)
                if real is not None:
                    programs[shown] = real
                    (folder / shown).symlink_to("recorder")
        settings = {
            "programs": programs,
            "path": "/usr/local/bin:/usr/bin:/bin",
            "nvcc_options": [f"-L{_shown(path)}" for path in self.library_directories],
            "toolkit": str(_shown(self.toolkit)),
            "shown_toolkit": str(CUDA),
        }
        (folder / "real.json").write_text(json.dumps(settings))

    def _write_git(self, folder: Path, dependencies: Mapping[str, str]) -> None:
        script = (Path(__file__).parent / "git_stand_in.py").read_text()
        (folder / "git").write_text(f"#!{_interpreter()} -S\n{script}")
        (folder / "git").chmod(0o755)
        settings = {
            "git": _on_host("git"),
            "places": {address: f"{ROOT}/{path}" for address, path in dependencies.items()},
        }
        (folder / "git.json").write_text(json.dumps(settings))

    def _write_toolkit(self, folder: Path, wheels: Sequence[Path]) -> None:
        """A toolkit whose nvcc is the recorder, with the headers of Nvidia's other libraries."""
        for name in ("bin", "lib64", "include"):
            (folder / name).mkdir(parents=True)
        (folder / "bin" / "nvcc").symlink_to(_RECORDERS / "nvcc")
        for name in ("nvvm", "version.json"):
            if (self.toolkit / name).exists():
                (folder / name).symlink_to(_shown(self.toolkit / name))
        for include in (self.toolkit / "include", *wheels):
            shown = _shown(include)
            if include in wheels:
                shown = PACKAGES / include.parent.name / "include"
            for entry in os.scandir(include):
                link = folder / "include" / entry.name
                if not link.is_symlink():
                    link.symlink_to(shown / entry.name)
        for directory in self.library_directories:
            for entry in os.scandir(directory):
                link = folder / "lib64" / entry.name
                if not link.is_symlink():
                    link.symlink_to(_shown(directory) / entry.name)
        for library in _CUDA_LIBRARIES:
            for ending in (".so", "_static.a"):
                path = folder / "lib64" / f"lib{library}{ending}"
                if not path.is_symlink() and not path.exists():
                    path.write_text("/* stands for a library of the toolkit */\n")
        (folder / "lib").symlink_to("lib64")


_CUDA_LIBRARIES = (
    "cuda", "cudart", "cublas", "cublasLt", "cudnn", "cufft", "cufftw", "curand", "cusolver",
    "cusparse", "nccl", "nvToolsExt", "nvrtc", "nvidia-ml", "nppc", "nppial", "nppicc", "nppidei",
    "nppif", "nppig", "nppim", "nppist", "nppisu", "nppitc", "npps", "nvjpeg", "culibos", "cupti",
)  # fmt: skip


def _environment() -> dict[str, str]:
    search = f"{_RECORDERS}:{CUDA}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    return {
        "PATH": search,
        "LC_ALL": "C",
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "CASS_RECORD": str(_RECORD / "commands"),
        **dict.fromkeys(
            ("CUDA_HOME", "CUDA_PATH", "CUDA_DIR", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"), str(CUDA)
        ),
        "CUDAToolkit_ROOT": str(CUDA),
        "CUDACXX": str(CUDA / "bin/nvcc"),
        "CUDAARCHS": "80",
        "CC": "gcc",
        "CXX": "g++",
        "FORCE_CUDA": "1",
        "MMCV_WITH_OPS": "1",
        "TORCH_CUDA_ARCH_LIST": "8.0",
        "PYTHONDONTWRITEBYTECODE": "1",
        # Python finds its own folder behind the links of the view, where no package lies.
        "PYTHONPATH": "/cass/python/modules:/usr/lib/python3/dist-packages",
        "GIT_CEILING_DIRECTORIES": "/",
    }


def _shown(path: Path) -> Path:
    """Where a build sees the host's ``path``."""
    return HOST / path.relative_to("/usr") if path.is_relative_to("/usr") else path


def _on_host(name: str) -> str | None:
    """Where the host's compiler is seen; links are followed, for ``/usr`` is another one there."""
    for folder in ("/usr/bin", "/usr/local/bin"):
        path = Path(folder) / name
        if path.exists():
            return str(_shown(path.resolve()))
    return None


def _interpreter() -> str:
    real = Path(sys.executable).resolve()
    if _SYSTEM_PYTHON.exists():
        return str(_shown(_SYSTEM_PYTHON.resolve()))
    return str(real)


def _leaves_something(plan: BuildCommands, wanted: set[str], missing: set[str]) -> bool:
    """Whether ``plan`` may compile one of the ``missing`` sources: one in its folder, or any where
    none of the ``wanted`` ones lies in it and it builds what lies elsewhere."""
    folder = f"{plan.folder}/"
    if plan.folder == "." or not any(path.startswith(folder) for path in wanted):
        return True
    return any(path.startswith(folder) for path in missing)


def _state(tree: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(folder) / name
            status = path.lstat()
            found[path.relative_to(tree).as_posix()] = (status.st_size, status.st_mtime_ns)
    return found


def _generated(tree: Path, before: dict[str, tuple[int, int]]) -> Iterator[tuple[str, bytes]]:
    """Headers and sources that were written or changed, within bounds."""
    total = 0
    for path, state in sorted(_state(tree).items()):
        if not path.lower().endswith(GENERATED) or before.get(path) == state:
            continue
        if _OF_BUILD_SYSTEM.search(path) or _FETCHED_BY_BUILD.search(path):
            continue
        content = read_written(tree / path, _GENERATED_BYTES)
        if content is None or not content:
            continue
        total += len(content)
        if total > _ALL_GENERATED_BYTES:
            return
        yield path, _with_relative_includes(path, content)


def _with_relative_includes(path: str, content: bytes) -> bytes:
    """The file at ``path`` without the place where the project was built."""

    def relative(match: re.Match[bytes]) -> bytes:
        return (
            match[1]
            + b'"'
            + posixpath.relpath(match[2].decode(), posixpath.dirname(path)).encode()
            + b'"'
        )

    return _INCLUDES_ROOT.sub(relative, content)


def discard(tree: Path) -> None:
    """Remove the copy of a project, whatever its build made of it."""
    shutil.rmtree(tree, ignore_errors=True)
