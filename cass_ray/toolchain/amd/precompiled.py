"""Precompiled HIP runtime headers, one per side and set of flags.

Parsing the HIP runtime header is nine tenths of compiling a small program: 0.5 s against 0.05 s.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.toolchain.room import make_room
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, run

WITHOUT_MODULES = ("-Xclang", "-fno-cxx-modules")
"""For C++20 and newer: with modules clang compares what it reads with what is precompiled, and
refuses its own wrappers of CUDA's and HIP's headers. All else of the language stays as it is."""


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

    @property
    def directory(self) -> Path:
        """Where the files are; created on demand, so that a sandbox can show it."""
        folder = self.cache / "precompiled"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def get(self, side: CompilationSide, command: list[str]) -> Path | None:
        """The file for compiler ``command`` (program and flags), or None where none can be made."""
        question = (side.value, *command)
        path = self._made.get(question)
        if question not in self._made or (path is not None and not _is_there(path)):
            path = self._made[question] = self._find_or_build(side, command)
        return path

    def rejected(self, diagnostic: str) -> bool:
        """Whether a compiler's ``diagnostic`` complains about the precompiled header itself.

        One that is older than a header in it is removed, so that the next unit gets a new one.
        """
        outdated = _OUTDATED.search(diagnostic)
        for path in self._made.values():
            if path is not None and outdated and outdated[1] == str(path):
                path.unlink(missing_ok=True)
        return bool(_REJECTION.search(diagnostic))

    def _find_or_build(self, side: CompilationSide, command: list[str]) -> Path | None:
        sources = [path.read_bytes() for path in sorted(self.header.parent.rglob("*.h*"))]
        key = digest([*self.identity, self.header.name, side.value, *command, *sources])[:24]
        path = self.directory / f"{key}.pch"
        if _is_there(path):
            return path
        if not self._build(command, path):
            return None
        make_room(self.directory, ROOM)
        return path

    def _build(self, command: list[str], path: Path) -> bool:
        """Precompile into ``path``, atomically: concurrent actors share the folder."""
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".part-") as folder:
            part = Path(folder) / path.name
            emit = ["-Xclang", "-emit-pch", "-Xclang", "-fpch-instantiate-templates"]
            argv = [*command, *emit, "-S", "-o", str(part), str(self.header)]
            done = run(argv, cwd=Path(folder), limits=COMPILE_LIMITS)
            if not done.ok or not part.exists():
                return False
            part.rename(path)
        return True


def _is_there(path: Path) -> bool:
    """Whether the file exists; if so, it was used now."""
    with suppress(PermissionError):  # a cache that others fill
        try:
            os.utime(path)
        except FileNotFoundError:
            return False
    return path.exists()
