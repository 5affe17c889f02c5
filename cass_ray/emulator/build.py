"""Compile the engine and its HIP runtime with clang; every object file is cached by its content.

``python -m cass_ray.emulator.build`` builds and prints the path of ``libamdhip64.so``. Nothing is
compiled twice: an object's key covers the compiler, its flags, the source and all headers of ours
that it includes, so that after an edit only what depends on it is compiled again. Processes that
want a build at the same time wait for the first.

Handlers are compiled for the widest SIMD level of this CPU; others that share the cache have builds
of their own.
"""

from __future__ import annotations

import fcntl
import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp

from cass_ray.cache import default_directory, digest
from cass_ray.emulator.build_headers import ENOUGH, precompile, shared_headers
from cass_ray.emulator.variables import emulator_variable
from cass_ray.toolchain.amd.clang import find_clang
from cass_ray.toolchain.amd.workarounds import ANY_VERSION, code_workarounds
from cass_ray.toolchain.hip.root import build_hip_root

SOURCES = Path(__file__).parent
RUNTIME_NAME = "libamdhip64.so"
RUNTIME_SONAME = "libamdhip64.so.6"
ENGINE_NAME = "libcass_emulator_engine.so"
DEVICE_NAME = "cass_device"
"""The device process's program, beside the runtime that talks to it."""

JOBS = 2

_COMMON = ("-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-pthread")
# Handlers: each instruction rounds on its own; vector state stays live between handlers, which the
# functions that call out end with vzeroupper themselves.
_HANDLERS = (
    "-ffp-contract=off",
    "-fno-fast-math",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-stack-protector",
    "-Wno-psabi",
)
_AVX2 = ("-mavx2", "-mfma", "-mf16c", "-mbmi2", "-mlzcnt", "-mno-vzeroupper")
_AVX512 = tuple(f"avx512{part}" for part in ("f", "bw", "dq", "vl", "cd"))
LEVELS: dict[str, tuple[str, ...]] = {
    "portable": (),
    "avx2": _AVX2,
    "avx512": (*_AVX2, *(f"-m{name}" for name in _AVX512)),
}
"""SIMD levels of handlers, from the narrowest; the CPU decides at run time."""
_CPU_FLAGS = {
    "avx2": {"avx2", "fma", "f16c", "bmi2", "abm"},
    "avx512": set(_AVX512),
}
"""What ``/proc/cpuinfo`` calls them, beside those of the level before."""

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


class BuildFailed(Exception):
    """The compiler or linker refused; the message is its own."""


@dataclass(frozen=True)
class EngineBuild:
    """What a build makes: the HIP runtime, and the engine alone for tests and coverage."""

    runtime: Path
    engine: Path


@dataclass(frozen=True)
class _Unit:
    source: Path
    flags: tuple[str, ...]


def runtime_library(cache: Path | None = None) -> Path:
    """``libamdhip64.so``, built on first use and after changes.

    Raises :class:`BuildFailed`, and :class:`~cass_ray.toolchain.errors.ToolMissing` where there is
    no clang or no HIP headers.
    """
    return build(cache).runtime


def engine_library() -> Path:
    """The engine with its C interface for Python; raises what :func:`runtime_library` does."""
    return _Build(default_directory()).engine()


def build(cache: Path | None = None) -> EngineBuild:
    """Build everything that is not there yet; see :func:`runtime_library`."""
    cache = cache or default_directory()
    clang = find_clang()
    headers = build_hip_root(clang.clang, cache).include
    state = (cache, clang, headers, emulator_variable("SIMD"), _state_of_sources())
    libraries = _known.get(state)
    if libraries is None or not (libraries.runtime.exists() and libraries.engine.exists()):
        new_build = _Build(cache)
        libraries = _known[state] = EngineBuild(
            runtime=new_build.runtime(), engine=new_build.engine()
        )
    return libraries


_known: dict[object, EngineBuild] = {}
"""What this process has built or found, by all that it depends on: each program that is run asks,
and reading the sources' includes takes as long as a short program."""


def _state_of_sources() -> frozenset[tuple[str, int, int]]:
    state = set()
    for folder in ("engine", "device", "hip_runtime"):
        for path, _, names in os.walk(SOURCES / folder):
            for name in names:
                source = Path(path, name)
                status = source.stat()
                state.add((str(source), status.st_mtime_ns, status.st_size))
    return frozenset(state)


def compile_lines(cache: Path) -> dict[Path, tuple[str, ...]]:
    """The compiler's command for each source of both libraries; for handlers that of one level.

    Raises what :func:`runtime_library` does, and compiles nothing.
    """
    return _Build(cache).compile_lines()


class _Build:
    def __init__(self, cache: Path) -> None:
        self.folder = cache / "rdna3"
        self.objects = self.folder / "objects"
        self.cache = cache
        self.clang = find_clang()
        self.compiler = str(_compiler(self.clang.clang))
        self._included: dict[Path, list[Path]] = {}

    def engine(self) -> Path:
        units = [*_engine_units(), *_interface_units()]
        folder = self._folder_of(units, ENGINE_NAME)
        return self._link(units, folder / ENGINE_NAME, ("-shared", f"-Wl,-soname,{ENGINE_NAME}"))

    def runtime(self) -> Path:
        """``libamdhip64.so`` with :data:`DEVICE_NAME` beside it: one is of no use without."""
        runtime, device = self._runtime_units(), _device_units()
        exports = SOURCES / "hip_runtime" / "exports.map"
        folder = self._folder_of([*runtime, *device], RUNTIME_NAME, exports.read_bytes())
        names = (f"-Wl,-soname,{RUNTIME_SONAME}", f"-Wl,--version-script={exports}")
        shared = ("-shared", *names, "-Wl,--exclude-libs,ALL")
        self._link(device, folder / DEVICE_NAME, ("-pie",))
        library = self._link(runtime, folder / RUNTIME_NAME, shared)
        _alias(folder / RUNTIME_SONAME, RUNTIME_NAME)
        return library

    def compile_lines(self) -> dict[Path, tuple[str, ...]]:
        units = [*_device_units(), *_interface_units(), *self._runtime_units()]
        return {unit.source: (self.compiler, *unit.flags, "-c", str(unit.source)) for unit in units}

    def _runtime_units(self) -> list[_Unit]:
        root = build_hip_root(self.clang.clang, self.cache)
        flags = (*_COMMON, "-D__HIP_PLATFORM_AMD__=1", "-isystem", str(root.include))
        units = _units(SOURCES / "hip_runtime", flags)
        return [*map(_with_code_options, units), *_both_sides_units()]

    def _folder_of(self, units: list[_Unit], *rest: str | bytes) -> Path:
        return self.folder / digest([*map(self._key, units), *rest])[:24]

    def _link(self, units: list[_Unit], target: Path, flags: tuple[str, ...]) -> Path:
        if target.exists():
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return self._linked(units, target, flags)

    def _linked(self, units: list[_Unit], target: Path, flags: tuple[str, ...]) -> Path:
        if target.exists():  # another process has built it
            return target
        objects = self._objects(units)
        command = [self.compiler, "-Wl,-z,now", *flags]
        command += [f"--ld-path={self.clang.linker}", "-pthread", "-ldl", "-lm"]
        command += [
            "-Wl,--no-undefined",
            "-Wl,--undefined-version",
            "-static-libstdc++",
            "-static-libgcc",
        ]
        _make(target, lambda path: [*command, *map(str, objects), "-o", str(path)])
        return target

    def _objects(self, units: list[_Unit]) -> list[Path]:
        """The object files of ``units``, in their order; made where they are not there yet."""
        self.objects.mkdir(parents=True, exist_ok=True)
        targets = {unit: self.objects / f"{self._key(unit)}.o" for unit in units}
        missing = [unit for unit, target in targets.items() if not target.exists()]
        with TemporaryDirectory(dir=self.folder) as folder, ThreadPoolExecutor(JOBS) as pool:
            headers = self._precompiled(missing, Path(folder), pool)
            objects = [
                pool.submit(self._compile, unit, targets[unit], headers.get(unit.flags, ()))
                for unit in missing
            ]
            for each in objects:
                each.result()
        return list(targets.values())

    def _precompiled(
        self, units: list[_Unit], folder: Path, pool: ThreadPoolExecutor
    ) -> dict[tuple[str, ...], tuple[str, ...]]:
        """Flags by flags of units: those that let them share what their headers are parsed to."""
        groups: dict[tuple[str, ...], list[_Unit]] = {}
        for unit in units:
            groups.setdefault(unit.flags, []).append(unit)
        started: dict[tuple[str, ...], Future[tuple[str, ...]]] = {}
        for flags, group in groups.items():
            if len(group) >= ENOUGH:
                texts = [map(_text, self._dependencies(unit.source)) for unit in group]
                place = folder / str(len(started))
                place.mkdir()
                arguments = (self.compiler, flags, shared_headers(texts), place)
                started[flags] = pool.submit(precompile, *arguments)
        return {flags: each.result() for flags, each in started.items()}

    def _compile(self, unit: _Unit, target: Path, headers: tuple[str, ...]) -> None:
        command = [self.compiler, *unit.flags, "-c", str(unit.source), "-o"]
        if headers:
            try:
                return _make(target, lambda path: [*command, str(path), *headers])
            except BuildFailed:
                pass  # what the source itself is worth, and says, shows without them
        return _make(target, lambda path: [*command, str(path)])

    def _dependencies(self, source: Path) -> set[Path]:
        """``source`` and our headers that it includes, at any depth."""
        dependencies: set[Path] = set()
        pending = [source.resolve()]
        while pending:
            path = pending.pop()
            if path not in dependencies:
                dependencies.add(path)
                if path not in self._included:
                    self._included[path] = list(_included(path))
                pending += self._included[path]
        return dependencies

    def _key(self, unit: _Unit) -> str:
        parts: list[str | bytes] = [self.clang.version, *unit.flags]
        for path in sorted(self._dependencies(unit.source)):
            parts += [str(path.relative_to(SOURCES)), _content(path)]
        return digest(parts)[:32]


def _engine_units() -> list[_Unit]:
    engine = SOURCES / "engine"
    units = _units(engine, _COMMON)
    level = _level()
    selected = (*_COMMON, *_HANDLERS, *LEVELS[level], f"-DCASS_EMULATOR_LEVEL={level}")
    return [*units, *_units(engine / "instructions", selected)]


def _level() -> str:
    """The widest level of this CPU that ``CASS_EMULATOR_SIMD`` allows."""
    match = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    present = set(match[1].split()) if match else set[str]()
    widest = "portable"
    for level, flags in _CPU_FLAGS.items():
        if not flags <= present or emulator_variable("SIMD") == widest:
            break
        widest = level
    return widest


_ENGINE_IN_RUNTIME = ("aperture", "isa", "occupancy", "offload_bundle", "processor")
_DEVICE_IN_RUNTIME = ("description", "messages")


def _both_sides_units() -> list[_Unit]:
    """What the runtime, in the program's process, shares with the device process."""
    paths = [SOURCES / "engine" / f"{name}.cpp" for name in _ENGINE_IN_RUNTIME]
    paths += [SOURCES / "device" / f"{name}.cpp" for name in _DEVICE_IN_RUNTIME]
    return [_Unit(path, _COMMON) for path in paths]


def _device_units() -> list[_Unit]:
    return [*_engine_units(), *_units(SOURCES / "device", _COMMON)]


def _interface_units() -> list[_Unit]:
    return _units(SOURCES / "engine" / "interface", _COMMON)


def _with_code_options(unit: _Unit) -> _Unit:
    """HIPRTC's compiler, which is not known yet, is told what every compilation is told."""
    if unit.source.name != "compiler.cpp":
        return unit
    words = ",".join(f'"{word}"' for word in code_workarounds(ANY_VERSION))
    return _Unit(unit.source, (*unit.flags, f"-DCASS_CODE_OPTIONS={words}"))


def _units(folder: Path, flags: tuple[str, ...]) -> list[_Unit]:
    return [_Unit(source, flags) for source in sorted(folder.glob("*.cpp"))]


def _included(path: Path) -> Iterator[Path]:
    for name in _INCLUDE.findall(_text(path)):
        header = Path(os.path.normpath(path.parent / name))  # no link lies among them
        if header.is_file():
            yield header


def _text(path: Path) -> str:
    return _content(path).decode()


def _content(path: Path) -> bytes:
    return _content_at(path, path.stat().st_mtime_ns)


@functools.cache
def _content_at(path: Path, _changed: int) -> bytes:
    return path.read_bytes()


def _compiler(clang: Path) -> Path:
    """The C++ driver beside ``clang``: ``clang++-19`` for ``clang-19``."""
    beside = clang.with_name(clang.name.replace("clang", "clang++", 1))
    return beside if "++" not in clang.name and beside.exists() else clang


def _make(target: Path, command: Callable[[Path], list[str]]) -> None:
    """Run the command that writes ``target``, by way of a temporary file beside it."""
    handle, name = mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    temporary = Path(name)
    try:
        arguments = command(temporary)
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BuildFailed(f"{' '.join(arguments)}\n{done.stderr.strip()}")
        temporary.chmod(0o755)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _alias(link: Path, target: str) -> None:
    """The name that the dynamic linker looks for."""
    if not link.exists():
        temporary = link.with_name(f".{link.name}.{os.getpid()}")
        temporary.symlink_to(target)
        temporary.replace(link)


def main() -> int:
    """Build and print where the runtime is."""
    try:
        print(build().runtime)
    except BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
