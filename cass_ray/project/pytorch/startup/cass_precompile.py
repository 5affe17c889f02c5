"""Compiles a file of an extension of PyTorch with PyTorch's header precompiled.

    python -I cass_precompile.py COMPILER ARGUMENT...

Started by ``hipcc`` and by a host compiler in the sandbox, where nothing but the standard library
is there. Parsing PyTorch's headers is nine tenths of compiling such a file: twenty seconds for the
host and as many for the device. The first file that is compiled with some set of flags precompiles
them; ``$CASS_PRECOMPILED`` is where they are kept. A file's first large header of PyTorch moves in
front of all others that way: where the compiler refuses the file so, it compiles it as it is.
The host's side is compiled with -O1 and without debug information, the device's as asked for.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = "CASS_PRECOMPILED"

LARGE_HEADERS = (
    "torch/extension.h",
    "torch/torch.h",
    "torch/all.h",
    "torch/script.h",
    "torch/types.h",
    "ATen/ATen.h",
)
"""What is worth precompiling; of several that a file includes the first one here."""

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]", re.MULTILINE)
_SETTING = re.compile(
    r"^[ \t]*#[ \t]*(?:define|undef)[ \t]+"
    r"(?:AT_|ATEN_|C10_|TORCH_|PYBIND|CAFFE2_|USE_|CUDA|HIP|__HIP|_GLIBCXX|_GNU|NDEBUG|PY_)",
    re.MULTILINE,
)
"""A macro that PyTorch's headers may look at: they stay where they are."""
_SOURCES = frozenset({".cu", ".hip", ".cpp", ".cc", ".cxx", ".C"})
_WITH_VALUE = frozenset({"-I", "-isystem", "-include", "-D", "-U", "-Xclang", "-Xarch_host"})
_DEPENDENCIES = frozenset({"-MF", "-MT", "-MQ"})
_OTHER_OUTPUT = frozenset({"-E", "-S", "-M", "-MM", "-fsyntax-only", "-fgpu-rdc", "--genco"})
_MODULE_NAME = "-DTORCH_EXTENSION_NAME="
"""The one flag in which an extension's modules differ. PyTorch's headers do not look at it, but
compilers refuse a precompiled header that was made with another definition."""
_ENOUGH_FILES = {True: 2, False: 4}
"""With a device's side or not: a project with fewer that include the header would wait longer."""


@dataclass(frozen=True)
class Compilation:
    """One source to one object; ``flags`` is all that decides what a header means.

    ``module`` is the name of the extension's module, which is defined after the header.
    """

    compiler: str
    flags: tuple[str, ...]
    dependencies: tuple[str, ...]
    source: Path
    output: str
    module: str = ""

    @property
    def device(self) -> bool:
        """Whether there is a device's side as well."""
        return any(flag.startswith("--offload-arch=") for flag in self.flags)

    def command(self, *more: str, output: str = "", dependencies: bool = True) -> list[str]:
        """The compiler's command line with ``more`` in it."""
        kept = self.dependencies if dependencies else ()
        files = ("-c", str(self.source), "-o", output or self.output)
        return [self.compiler, *self.flags, *kept, *more, *files]


def read(arguments: Sequence[str]) -> Compilation | None:
    """What a command line compiles; None where it is not one file to an object."""
    compiler, *rest = arguments
    flags: list[str] = []
    dependencies: list[str] = []
    sources: list[str] = []
    output = ""
    language = of_source = ""
    compiles = False
    words = iter(rest)
    for word in words:
        if word in _OTHER_OUTPUT:
            return None
        if word == "-c":
            compiles = True
        elif word == "-o":
            output = next(words, "")
        elif word in _DEPENDENCIES:
            dependencies += [word, next(words, "")]
        elif word in {"-MD", "-MMD", "-MP"}:
            dependencies.append(word)
        elif word == "-x":
            language = next(words, "")
        elif word in _WITH_VALUE:
            flags += [word, next(words, "")]
        elif not word.startswith("-") and Path(word).suffix in _SOURCES:
            sources.append(word)
            of_source = language
        else:
            flags.append(word)
    if not compiles or not output or len(sources) != 1:
        return None
    flags = [flag for flag in flags if flag != "-g"]
    if of_source not in {"", "none"}:
        flags += ["-x", of_source]  # the source is the command's last input
    names = [flag for flag in flags if flag.startswith(_MODULE_NAME)]
    flags = [flag for flag in flags if flag not in names]
    module = names[-1].removeprefix(_MODULE_NAME) if names else ""
    source = Path(sources[0])
    return Compilation(compiler, tuple(flags), tuple(dependencies), source, output, module)


def _quick(flags: Sequence[str]) -> tuple[str, ...]:
    """``flags`` for the host's side: it is tested, not timed."""
    return tuple("-O1" if flag in {"-O2", "-O3"} else flag for flag in flags)


def header_of(source: Path, folders: Sequence[Path]) -> str:
    """The large header of PyTorch that ``source`` includes, itself or through own headers.

    Empty without one, and where a macro that it may look at is defined before it.
    """
    found: list[str] = []
    seen: set[Path] = set()

    def walk(path: Path) -> bool:
        """Whether to go on."""
        if path in seen:
            return True
        seen.add(path)
        text = path.read_text("utf-8", "replace")
        setting = _SETTING.search(text)
        for match in _INCLUDE.finditer(text):
            name = match[1]
            if setting is not None and setting.start() < match.start():
                return False
            if name in LARGE_HEADERS:
                found.append(name)
            elif (own := _own(name, path, folders)) and not walk(own):
                return False
        return True

    walk(source)
    return min(found, key=LARGE_HEADERS.index, default="")


def _own(name: str, includer: Path, folders: Sequence[Path]) -> Path | None:
    """The project's header ``name``, seen from ``includer``."""
    places = [includer.parent / name, *(folder / name for folder in folders)]
    return next((place.resolve() for place in places if place.is_file()), None)


def compile_file(made: Compilation, header: str, folder: Path) -> bool:
    """Compile with ``header`` precompiled below ``folder``; False if that is refused."""
    folder.mkdir(parents=True, exist_ok=True)
    name = _module_header(made, folder)
    if not made.device:
        made = replace(made, flags=_quick(made.flags))
        include = _host_header(made, header, folder)
        return include is not None and _quietly(made.command("-include", str(include), *name))
    host = replace(made, flags=_quick(made.flags))
    device_header = _clang_header(made, header, folder, "device")
    host_header = _clang_header(host, header, folder, "host") if device_header else None
    if device_header is None or host_header is None:
        return False
    # Of one side alone clang does not name the unit: all would define the same symbol.
    name = (*name, "-Xclang", f"-cuid={_short_digest(str(made.source.resolve()))}")
    with tempfile.TemporaryDirectory() as scratch:
        binary = f"{scratch}/device.hipfb"
        side = ("--cuda-device-only", *_include(device_header), *name)
        embed = ("-Xclang", "-fcuda-include-gpubinary", "-Xclang", binary)
        return _quietly(made.command(*side, output=binary, dependencies=False)) and _quietly(
            host.command("--cuda-host-only", *_include(host_header), *name, *embed)
        )


def _module_header(made: Compilation, folder: Path) -> tuple[str, ...]:
    """Flags that define the module's name, behind a precompiled header."""
    if not made.module:
        return ()
    text = f"#define TORCH_EXTENSION_NAME {made.module}\n"
    path = folder / f"module-{_short_digest(text)}.h"
    with _locked(path):
        if not path.exists():
            path.write_text(text)
    return ("-include", str(path))


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _include(path: Path) -> tuple[str, ...]:
    # Modules of C++20 would compare what the header and clang's own wrapper of HIP define.
    return ("-Xclang", "-fno-cxx-modules", "-Xclang", "-include-pch", "-Xclang", str(path))


def _clang_header(made: Compilation, header: str, folder: Path, side: str) -> Path | None:
    path = folder / f"{_key(made, header)}-{side}.pch"
    with _locked(path):
        if not path.exists() and not _failed(path).exists():
            text = path.with_suffix(".h")
            text.write_text(f"#include <{header}>\n")
            emit = ("-Xclang", "-emit-pch", "-Xclang", "-fpch-instantiate-templates")
            flags = (
                *_language(made.flags),
                "-Xclang",
                "-fno-cxx-modules",
                *emit,
                "-S",
                "-x",
                "hip",
            )
            command = [made.compiler, f"--cuda-{side}-only", *flags, str(text)]
            _build(command, path)
    return path if path.exists() else None


def _host_header(made: Compilation, header: str, folder: Path) -> Path | None:
    """GCC takes ``NAME.gch`` in the place of ``NAME``, if the flags are the same."""
    text = folder / f"{_key(made, header)}.hpp"
    path = text.with_name(f"{text.name}.gch")
    with _locked(path):
        if not path.exists() and not _failed(path).exists():
            text.write_text(f"#include <{header}>\n")
            _build([made.compiler, *made.flags, "-x", "c++-header", str(text)], path)
    return text if path.exists() else None


def _language(flags: Sequence[str]) -> list[str]:
    """``flags`` without the language of the source, which is the last of them."""
    return list(flags[:-2] if flags[-2:-1] == ("-x",) else flags)


def _build(command: list[str], path: Path) -> None:
    part = path.with_name(f"{path.name}.part")
    if _quietly([*command, "-o", str(part)]):
        part.rename(path)
    else:
        _failed(path).touch()


def _failed(path: Path) -> Path:
    return path.with_name(f"{path.name}.failed")


def _key(made: Compilation, header: str) -> str:
    text = "\0".join([made.compiler, header, *made.flags])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time makes ``path``."""
    with path.with_name(f"{path.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _quietly(command: list[str]) -> bool:
    """Run ``command``; what it says is shown if it succeeds, for it is run again if not."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        sys.stderr.write(done.stderr)
    return done.returncode == 0


def _is_shared(made: Compilation, header: str, root: Path, folders: Sequence[Path]) -> bool:
    """Whether enough files of the project include ``header`` first."""
    files = root.rglob(f"*{made.source.suffix}")
    using = (path for path in files if path.is_file() and header_of(path, folders) == header)
    enough = _ENOUGH_FILES[made.device]
    return sum(1 for _ in zip(using, range(enough), strict=False)) == enough


def main(arguments: Sequence[str]) -> None:
    """Compile as ``arguments`` say; does not return."""
    made = read(arguments)
    folder = os.environ.get(FOLDER)
    if made is not None and folder:
        folders = [Path(flag[2:]) for flag in made.flags if flag.startswith("-I")]
        tree = Path(folder).parent.resolve()
        own = [place for place in folders if place.resolve().is_relative_to(tree)]
        header = header_of(made.source, own)
        shared = header != "" and _is_shared(made, header, tree, own)
        if shared and compile_file(made, header, Path(folder)):
            raise SystemExit(0)
    os.execvp(arguments[0], list(arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
