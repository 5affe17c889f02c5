"""The files that one program consists of, as content: gathered from a tree, written to another.

What a program is built from decides the name of its executable in the cache, and is all that its
compilation sees.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from cass_ray.cache import digest
from cass_ray.corpus.reading.includes import Include, include_closure, scan_includes
from cass_ray.corpus.reading.open_inside import is_file_inside, read_inside
from cass_ray.corpus.reading.original_lines import with_original_lines
from cass_ray.dataset.row import Reason
from cass_ray.toolchain.unit import CompileFailure, Unit, escapes

CUDA_SUFFIXES = frozenset({".cu", ".cuh"})
FILE_BYTES = 32 << 20
PROGRAM_BYTES = 256 << 20
"""The largest file of a program, and the most bytes that all of them may have."""


class ProgramTooLargeError(OSError):
    """The files of a program are too large together."""


@dataclass(frozen=True)
class Sources:
    """``files`` are contents by path relative to the tree; ``main`` is one of them."""

    main: PurePosixPath
    files: dict[str, bytes]
    include_directories: tuple[PurePosixPath, ...] = ()
    definitions: tuple[str, ...] = ()
    system_directories: tuple[Path, ...] = ()
    forced: tuple[str, ...] = ()
    standard: str = ""
    originals: Mapping[str, bytes] = field(default_factory=dict, compare=False)
    """By path, the texts that ``files`` are translations of: messages count their lines."""

    @property
    def digest(self) -> str:
        """Changes when anything that a compiler could see does."""
        parts: list[str | bytes] = [str(self.main), *self.unit(Path()).preprocessor_arguments()]
        parts += [f"-std={self.standard}"] if self.standard else []
        for path, content in sorted(self.files.items()):
            parts += [path, content]
        return digest(parts)

    def unit(self, root: Path) -> Unit:
        """The translation unit when the files lie under ``root``."""
        return Unit(
            root,
            self.main,
            self.include_directories,
            self.definitions,
            self.system_directories,
            self.forced,
            self.standard,
        )

    def write(self, root: Path) -> Unit:
        """Write the files under ``root``, an empty folder; the unit to compile.

        Raises :class:`CompileFailure` for names that no file below ``root`` can have: answers and
        requests name files too.
        """
        unit = self.unit(root)
        try:
            for name, content in self.files.items():
                path = root / name
                if escapes(name):
                    raise ValueError("it leads out of the source tree")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            for directory in self.include_directories:
                (root / directory).mkdir(parents=True, exist_ok=True)
        except (ValueError, OSError) as error:
            why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else error
            message = f"{name[:200]!r} names no file of a source tree: {why}"
            raise CompileFailure(Reason.FORBIDDEN_INCLUDE, message, "cass-ray") from None
        return unit

    @contextmanager
    def original_lines(self) -> Iterator[None]:
        """A :class:`CompileFailure` raised inside names lines as they are in ``originals``."""
        try:
            yield
        except CompileFailure as failure:
            said = with_original_lines(failure.diagnostic, self.originals, self.files)
            raise CompileFailure(failure.reason, said, failure.tool) from None


def gather(unit: Unit) -> Sources:
    """The main file of ``unit`` and the local files that it includes, directly or not.

    Headers of the toolchain are not among them; nor are files that are not found, lead out of the
    tree or are larger than :data:`FILE_BYTES`: the compiler will say so.

    Raises:
        OSError: the main file cannot be read.
        ProgramTooLargeError: the files have more than :data:`PROGRAM_BYTES` together.
    """
    root = unit.root
    main = str(unit.main)

    contents: dict[str, bytes] = {}

    def read(path: str) -> bytes:
        if path not in contents:
            contents[path] = read_inside(root, path, FILE_BYTES)
            if sum(map(len, contents.values())) > PROGRAM_BYTES:
                message = f"its files have more than {PROGRAM_BYTES >> 20} MiB"
                raise ProgramTooLargeError(errno.EFBIG, message, main)
        return contents[path]

    def includes_of(path: str) -> list[Include] | None:
        try:
            return scan_includes(read(path).decode("utf-8", "replace"))
        except ProgramTooLargeError:
            raise
        except OSError:
            return None

    directories = tuple(str(directory) for directory in unit.include_directories)
    include_closure(
        main,
        includes_of,
        lambda path: is_file_inside(root, path),
        GivenDirectories(directories),
        unit.definitions,
        forced=unit.forced,
    )
    read(main)
    return Sources(
        unit.main,
        contents,
        unit.include_directories,
        unit.definitions,
        unit.system_directories,
        unit.forced,
        unit.standard,
    )


@dataclass(frozen=True)
class GivenDirectories:
    """The include directories of a command line, and no others."""

    names: tuple[str, ...]

    def directories(self, path: str) -> Sequence[str]:
        del path
        return self.names

    def search(self, name: str, includer: str) -> str | None:
        """A command line leaves nothing to guess."""
        del name, includer
        return None

    def ending(self, name: str) -> Sequence[str]:
        del name
        return ()
