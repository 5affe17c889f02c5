"""What the programs of a project printed while its tests ran.

A build's executables that use the GPU give their places to ``launcher.c`` for as long as the tests
run. Who starts them does not matter then: ctest, make, a script. Nothing else in the tree changes.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from cass_ray.cache import default_directory, digest
from cass_ray.config import StrictModel
from cass_ray.corpus.reading.filetree import SKIPPED_FOLDERS
from cass_ray.emulator.build import BuildFailed
from cass_ray.printable import printable_text
from cass_ray.toolchain.amd.clang import find_clang
from cass_ray.toolchain.elf import BinaryReader, DamagedFile, read_header, read_sections
from cass_ray.toolchain.sandbox.outputs import read_written

_LAUNCHER = Path(__file__).with_name("launcher.c")
_KEPT_BYTES = 32 << 20
"""Of what one run prints; ``launcher.c`` has the same."""

_FIELD_BYTES = 4 << 20
_FILE_BYTES = 4 << 30
_MOST_RUNS = 10_000
_MARK = b"\x7fELF"
_DYNAMIC = struct.Struct("<qQ")
_NEEDED, _SONAME = 1, 14  # DT_NEEDED, DT_SONAME
_EXECUTABLE, _SHARED = 2, 3  # ET_EXEC, ET_DYN
_RUNTIME = re.compile(r"lib(?:cudart|amdhip64)\.so\b")
_OF_CMAKE = "CMakeFiles"
"""Programs by which CMake looks what the compiler can do."""


class ProgramRun(StrictModel):
    """One run of one program. Paths begin at the project's folder, in what was printed as well."""

    program: str
    arguments: tuple[str, ...] = ()
    folder: str = "."
    """Where it was started."""
    stdout: str = ""
    """As Latin-1."""
    whole: bool = True
    """Whether all that it printed was kept."""
    status: str = ""
    """``exit N`` or ``signal N``; empty where it was ended from outside."""
    refused: str = ""
    """What of CUDA it asked for in vain."""

    @property
    def key(self) -> tuple[str, tuple[str, ...], str]:
        """What tells it from the other runs of the tests, but for those that are just like it."""
        return self.program, self.arguments, self.folder

    @property
    def command(self) -> str:
        """As one would type it."""
        return " ".join((self.program, *self.arguments))


class BuiltFile(BaseModel):
    """An executable or shared library of a build and the libraries that it names."""

    model_config = ConfigDict(frozen=True)

    path: str
    is_program: bool
    name: str
    """By which others need it: a library's own name, else the file's."""
    needed: tuple[str, ...]


def built_files(tree: Path) -> list[BuiltFile]:
    """Linked files below ``tree``, sorted; no links, none of CMake's own."""
    found = []
    for folder, folders, names in os.walk(tree):
        skipped = {*SKIPPED_FOLDERS, _OF_CMAKE}
        folders[:] = sorted(name for name in folders if name not in skipped)
        for name in sorted(names):
            path = Path(folder) / name
            if not path.is_symlink() and (file := _built_file(path, tree)):
                found.append(file)
    return found


def _built_file(path: Path, tree: Path) -> BuiltFile | None:
    try:
        with path.open("rb") as file:
            if not path.is_file() or file.read(len(_MARK)) != _MARK:
                return None
        data = read_written(path, _FILE_BYTES)
        if data is None or read_header(data).kind not in (_EXECUTABLE, _SHARED):
            return None
        sections = {section.name: section.data for section in read_sections(data)}
        strings = BinaryReader(sections.get(".dynstr", b""))
        entries = list(BinaryReader(sections.get(".dynamic", b"")).table(_DYNAMIC))
        needed = tuple(strings.text(value) for tag, value in entries if tag == _NEEDED)
        named = [strings.text(value) for tag, value in entries if tag == _SONAME]
    except (OSError, DamagedFile):
        return None
    return BuiltFile(
        path=path.relative_to(tree).as_posix(),
        is_program=".interp" in sections,
        name=named[0] if named else path.name,
        needed=needed,
    )


def gpu_programs(files: Sequence[BuiltFile]) -> list[str]:
    """Programs that are linked with a runtime for GPUs: by themselves or by a library of theirs."""
    libraries: set[str] = set()
    while True:
        using = [
            file
            for file in files
            if any(_RUNTIME.match(name) or name in libraries for name in file.needed)
        ]
        more = {file.name for file in using if not file.is_program}
        if more <= libraries:
            return [file.path for file in using if file.is_program]
        libraries |= more


def launcher(cache: Path | None = None) -> Path:
    """The launcher's program, compiled once.

    Raises :class:`~cass_ray.emulator.build.BuildFailed`, and
    :class:`~cass_ray.toolchain.errors.ToolMissing` where there is no clang.
    """
    clang = find_clang()
    key = digest([clang.version, _LAUNCHER.read_bytes()])
    made = (cache or default_directory()) / "launcher" / key[:24] / "launcher"
    if made.exists():
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=made.parent) as name:
        part = Path(name) / made.name
        command = [str(clang.clang), "-x", "c", "-O2", "-Wall", "-Wextra", str(_LAUNCHER)]
        command += [f"--ld-path={clang.linker}", "-o", str(part)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BuildFailed(f"{' '.join(command)}\n{done.stderr.strip()}")
        part.replace(made)
    return made


@contextmanager
def watched(tree: Path, programs: Sequence[str], program: Path) -> Iterator[None]:
    """The launcher ``program`` in the places of ``programs`` below ``tree``."""
    launcher_bytes = program.read_bytes()
    for name in programs:
        place = tree / name
        hidden = _hidden(place)
        place.rename(hidden)
        shutil.copyfile(program, place)
        place.chmod(0o755)
        # For make it is the file that was there.
        state = hidden.stat()
        os.utime(place, ns=(state.st_atime_ns, state.st_mtime_ns))
    try:
        yield
    finally:
        for name in programs:
            _put_back(tree, tree / name, launcher_bytes)


def put_back(tree: Path, program: Path) -> None:
    """Undo what a run that was killed left of :func:`watched`."""
    launcher_bytes = program.read_bytes()
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        for name in names:
            if name.startswith(".") and name.endswith(".cass"):
                place = Path(folder) / name.removeprefix(".").removesuffix(".cass")
                _put_back(tree, place, launcher_bytes)


def _hidden(place: Path) -> Path:
    return place.with_name(f".{place.name}.cass")


def _put_back(tree: Path, place: Path, launcher_bytes: bytes) -> None:
    """The program again, unless the tests have built it anew."""
    name = place.relative_to(tree).parent
    if place.parent.resolve() != tree.resolve() / name:
        return  # the tests put a link in the folder's place
    with suppress(OSError):
        stands = read_written(place, len(launcher_bytes))
        if stands == launcher_bytes or not place.is_file():
            _hidden(place).replace(place)
        else:
            _hidden(place).unlink()


def read_runs(record: Path, tree: Path) -> tuple[ProgramRun, ...]:
    """The runs that launchers wrote to ``record``, in order of their starts."""
    found = []
    with os.scandir(record) as entries:
        folders = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    for name in folders[:_MOST_RUNS]:
        run = _read_run(record / name, tree)
        if run is not None:
            found.append(run)
    return tuple(found)


def _read_run(folder: Path, tree: Path) -> ProgramRun | None:
    def text(name: str) -> str:
        data = read_written(folder / name, _FIELD_BYTES) or b""
        return _at_home(data, tree).decode("utf-8", "replace")

    program, here = text("program"), text("folder")
    if not program:
        return None
    stdout = read_written(folder / "stdout", _KEPT_BYTES)
    arguments = text("arguments").split("\0")[:-1]
    return ProgramRun(
        program=printable_text(program.removeprefix("./")),
        arguments=tuple(printable_text(each) for each in arguments),
        folder=printable_text(here.removeprefix("./")),
        stdout=_at_home(stdout or b"", tree).decode("latin-1"),
        whole=stdout is not None,
        status=printable_text(text("status")),
        refused="; ".join(dict.fromkeys(printable_text(text("notes")).splitlines())),
    )


def _at_home(data: bytes, tree: Path) -> bytes:
    """``data`` with the tree's path as ``.``: each side has its own."""
    return data.replace(os.fsencode(tree.resolve()), b".")
