"""Precompiled HIP runtime headers, one per side and set of flags.

Parsing the HIP runtime header is nine tenths of compiling a small program: 0.5 s against 0.05 s.
``<vector>`` is half of what is left of parsing: what many programs begin with of the standard
library is precompiled with it.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.toolchain.prelude.lines import beginnings
from cass_ray.toolchain.room import make_room
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, run
from cass_ray.toolchain.unit import Unit

WITHOUT_MODULES = ("-Xclang", "-fno-cxx-modules")
"""For C++20 and newer: with modules clang compares what it reads with what is precompiled, and
refuses its own wrappers of CUDA's and HIP's headers. All else of the language stays as it is."""


_BY_CONTENT = "-fpch-validate-input-files-content"
"""Clang compares the text of a header that is newer, not its time alone: a new checkout at the same
path makes no precompiled header useless."""
_EMIT = ("-Xclang", "-emit-pch", "-Xclang", "-fpch-instantiate-templates", _BY_CONTENT)


class CompilationSide(StrEnum):
    """Which half of a single-source program a compiler run makes."""

    DEVICE = "device"
    HOST = "host"

    @property
    def flag(self) -> str:
        """The flag that restricts clang to this side."""
        return f"--cuda-{self.value}-only"


ROOM = 2 << 30
"""Bytes that the files may take. A file is 12 MB, and units of projects have flags of their own: a
build of many repositories makes a thousand."""

_WORTH = 16
"""Units of a process that begin with the same standard headers before these are precompiled."""
_COSTLY = re.compile(
    r"deque|fstream|functional|iomanip|list|map|memory|numeric|queue|random|regex|set"
    r"|unordered_(?:map|set)|vector"
)
_READ_BY_HEADERS = re.compile(r"_|HIP|ROC|HSA|AMD|NDEBUG\b")
_SYSTEM_HEADER = re.compile(r"#\s*include\s*<([\w./+-]+)>")
_LITTLE = re.compile(r"#\s*include\s*<(?:hip/\w+\.h|[a-z_0-9]+(?:\.h)?)>")
_REJECTION = re.compile(
    r"precompiled (file|header)|PCH file|AST file|since the (precompiled|module)", re.IGNORECASE
)
_OUTDATED = re.compile(r"modified since the precompiled header '([^'\n]+)' was built")


@dataclass
class PrecompiledHeaders:
    """Builds ``header`` once for each set of flags and keeps the result under ``cache``.

    ``identity`` names the compiler and the headers that ``header`` includes. Each new file removes
    those that were used least recently, beyond ``ROOM``.
    """

    cache: Path
    header: Path
    identity: tuple[str, ...]
    _made: dict[tuple[str, ...], Path | None] = field(default_factory=dict)
    _asked: Counter[tuple[str, ...]] = field(default_factory=Counter)

    @property
    def directory(self) -> Path:
        """Where the files are; created on demand, so that a sandbox can show it."""
        folder = self.cache / "precompiled"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def of(self, unit: Unit, side: CompilationSide, command: list[str]) -> Path | None:
        """The file for ``unit``. None where a definition of it may change HIP's headers or the
        standard library's.

        Clang takes a precompiled header as it is: ``_GLIBCXX_USE_CXX11_ABI=0`` on its command line
        says nothing to what was read without it, and clang does not say so.
        """
        if any(_READ_BY_HEADERS.match(name) for name in unit.definitions):
            return None
        return self.get(side, command, standard_headers(unit))

    def get(
        self, side: CompilationSide, command: list[str], further: tuple[str, ...] = ()
    ) -> Path | None:
        """The file for compiler ``command`` (program and flags), or None where none can be made.

        It holds the headers ``further``, too, where many units have them.
        """
        question = (side.value, *command, *further)
        self._asked[question] += 1
        path = self._made.get(question)
        if question not in self._made or (path is not None and not _is_there(path)):
            path = self._made[question] = self._find(side, command, further)
        if further and path is None and self._asked[question] % _WORTH == 0:
            path = self._made[question] = self._build(side, command, further)
        return path if path is not None or not further else self.get(side, command)

    def rejected(self, diagnostic: str) -> bool:
        """Whether a compiler's ``diagnostic`` complains about the precompiled header itself.

        One that is older than a header in it is removed, so that the next unit gets a new one.
        """
        outdated = _OUTDATED.search(diagnostic)
        for path in self._made.values():
            if path is not None and outdated and outdated[1] == str(path):
                path.unlink(missing_ok=True)
        return bool(_REJECTION.search(diagnostic))

    def _find(
        self, side: CompilationSide, command: list[str], further: tuple[str, ...]
    ) -> Path | None:
        path = self._path(side, command, further)
        if _is_there(path):
            return path
        return None if further else self._build(side, command)

    def _path(self, side: CompilationSide, command: list[str], further: tuple[str, ...]) -> Path:
        sources = [path.read_bytes() for path in sorted(self.header.parent.rglob("*.h*"))]
        flags = [*command, *_EMIT, *further]
        key = digest([*self.identity, self.header.name, side.value, *flags, *sources])[:24]
        return self.directory / f"{key}.pch"

    def _build(
        self, side: CompilationSide, command: list[str], further: tuple[str, ...] = ()
    ) -> Path | None:
        """Precompile, atomically: concurrent actors share the folder."""
        path = self._path(side, command, further)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".part-") as folder:
            part = Path(folder) / path.name
            included = [word for name in further for word in ("-include", name)]
            argv = [*command, *_EMIT, *included, "-S", "-o", str(part), str(self.header)]
            done = run(argv, cwd=Path(folder), limits=COMPILE_LIMITS)
            if not done.ok or not part.exists():
                return None
            part.rename(path)
        make_room(self.directory, ROOM)
        return path


def include_arguments(path: Path) -> list[str]:
    """Clang's arguments that read the precompiled header ``path`` before a unit."""
    return [_BY_CONTENT, "-Xclang", "-include-pch", "-Xclang", str(path)]


def standard_headers(unit: Unit) -> tuple[str, ...]:
    """Return the standard headers that are costly to parse and that ``unit`` includes first.

    Only headers of the system come before them, so that their text is the same in each unit.
    """
    headers: set[str] = set()
    for line in _first_directives(unit):
        match = _SYSTEM_HEADER.fullmatch(line)
        if match is None:
            break
        headers.add(match[1])
    return tuple(sorted(filter(_COSTLY.fullmatch, headers)))


def begins_with_little(unit: Unit) -> bool:
    """Whether ``unit`` includes nothing first but headers of HIP's runtime and of the standard
    library: a prelude of them saves nothing, and a compiler that waits cannot read it."""
    lines = _first_directives(unit)
    return bool(lines) and all(map(_LITTLE.fullmatch, lines))


def _first_directives(unit: Unit) -> list[str]:
    if unit.preprocessor_arguments() or unit.replaced or not unit.source.is_file():
        return []  # Definitions, and folders with headers of the same names.
    begun = beginnings(unit.source.read_bytes().decode("latin-1"))
    return begun[-1].directives.splitlines() if begun else []


def _is_there(path: Path) -> bool:
    """Whether the file exists; if so, it was used now."""
    with suppress(PermissionError):  # a cache that others fill
        try:
            os.utime(path)
        except FileNotFoundError:
            return False
    return path.exists()
