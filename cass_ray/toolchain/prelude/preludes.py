"""Preludes: the ``#include`` lines that units of a project begin with, precompiled by clang.

PyTorch's headers are nine tenths of what a unit costs that includes them. When the second unit
comes that begins with the same lines, in the same folder and with the same options, what they
include is precompiled in the sandbox; a unit that begins so is then compiled without those lines.
A file of the tree with another text, or one that the compiler would meet first, is noticed before,
and what does not compile with a prelude is compiled as a whole: what comes out is the same.

Templates that the lines instantiate become code at the end of the unit, as without a prelude.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.toolchain.prelude.files import PreludeFiles
from cass_ray.toolchain.prelude.lines import Beginning, beginnings
from cass_ray.toolchain.room import make_room
from cass_ray.toolchain.sandbox.isolation import Mount, isolates, private_folder
from cass_ray.toolchain.sandbox.outputs import read_written
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Completed, ProcessOutcome
from cass_ray.toolchain.unit import Unit

Run = Callable[[Sequence[str], Sequence[Mount]], Completed]
"""Runs a command in the unit's tree, with further mounts."""

ROOM = 4 << 30
"""Bytes that the files may take. One with PyTorch's headers is 70 MB."""
_IN_USE = 900.0
_TRIED_AGAIN = 900.0
"""Seconds after which another prelude takes the place of one that does not fit: a new commit."""
_NOTES_ROOM = 1 << 20
_WORTH = 1.0
"""CPU seconds of a compilation from which on what it begins with is precompiled."""
_MOST_BEGINNINGS = 24
_WORK = Path("/cass/prelude")
_RECIPE = "1"


@dataclass(frozen=True)
class Preludes:
    """Preludes of one compiler for the trees that it sees at ``tree``.

    They are in ``folder``, which sandboxes show at its own path. ``identity`` is of the compiler.
    """

    folder: Path
    identity: tuple[str, ...]
    tree: Path

    def compile(
        self, unit: Unit, command: Sequence[str], header: Path, rest: Sequence[str], run: Run
    ) -> Completed | None:
        """What ``command``, ``header`` (forced) and ``rest`` make of ``unit``, with a prelude.

        None where there is none, and where the unit does not compile with it. Its CPU seconds
        contain those of making a prelude.
        """
        text = self._text(unit)
        if text is None:
            return None
        spent = 0.0
        for beginning, key in reversed(self._keys(unit, text, command, header)):
            prelude = self._known(key, unit.root)
            if prelude is None and self._is_worth(key, unit):
                prelude, spent = self._make(unit, beginning, key, command, header, run)
                if prelude is None:
                    self._keep(key, b"", "")
                    return None
            if prelude is not None:
                done = self._use(unit, text, beginning, prelude, command, rest, run)
                spent += done.cpu_seconds
                done = replace(done, cpu_seconds=spent)
                final = (ProcessOutcome.OK, ProcessOutcome.TIME_LIMIT)
                return done if done.outcome in final else None
        return None

    def note(self, unit: Unit, command: Sequence[str], header: Path, completed: Completed) -> None:
        """Remember what a unit began with that was compiled as a whole."""
        text = self._text(unit)
        if text is None or not completed.ok or completed.cpu_seconds < _WORTH:
            return
        notes = self.folder / "seen"
        with suppress(OSError):  # a cache that others fill, a full disk
            notes.mkdir(parents=True, exist_ok=True)
            for _, key in self._keys(unit, text, command, header):
                note = notes / key
                if not note.exists():
                    note.write_text(str(unit.main))

    def _text(self, unit: Unit) -> str | None:
        """The unit's main file; None where a prelude cannot stand for its beginning."""
        if unit.forced or unit.replaced or not isolates():
            return None
        try:
            return unit.source.read_bytes().decode("latin-1")
        except OSError:
            return None

    def _keys(
        self, unit: Unit, text: str, command: Sequence[str], header: Path
    ) -> list[tuple[Beginning, str]]:
        options = [*command, *unit.preprocessor_arguments(), *map(str, unit.outside_directories)]
        ours = [path.read_bytes() for path in sorted(header.parent.rglob("*.h*"))]
        base = digest([_RECIPE, *self.identity, header.name, *ours, *options])
        place = str(unit.main.parent)
        return [
            (each, digest([base, each.directives, place if each.searched_beside else ""])[:32])
            for each in beginnings(text)[:_MOST_BEGINNINGS]
        ]

    def _known(self, key: str, root: Path) -> Path | None:
        path = self.folder / f"{key}.pch"
        try:
            files = PreludeFiles.from_json((self.folder / f"{key}.json").read_text())
            os.utime(path)
        except (OSError, ValueError, TypeError):
            return None
        return path if files.fit(root) else None

    def _is_worth(self, key: str, unit: Unit) -> bool:
        """Whether another unit began so, and no prelude was tried lately, which does not fit."""
        try:
            first = (self.folder / "seen" / key).read_text()
        except OSError:
            return False
        try:
            tried = (self.folder / f"{key}.json").stat().st_mtime
        except OSError:
            tried = 0.0
        return first != str(unit.main) and time.time() - tried > _TRIED_AGAIN

    def _make(
        self,
        unit: Unit,
        beginning: Beginning,
        key: str,
        command: Sequence[str],
        header: Path,
        run: Run,
    ) -> tuple[Path | None, float]:
        """Precompile ``beginning``; the file, and the CPU seconds."""
        if not self._has_room():
            return None, 0.0
        emit = ["-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp"]
        emit += ["-MD", "-MF", str(_WORK / "files.d"), "-MT", "prelude"]
        emit += ["-S", "-o", str(_WORK / "prelude.pch")]
        words = [*command, "-include", str(header), *unit.preprocessor_arguments(), *emit]
        with self._shown(unit, beginning.directives) as main, private_folder() as work:
            mounts = [main, Mount(work, _WORK, writable=True)]
            done = run([*words, str(unit.main)], mounts)
            content = read_written(work / "prelude.pch", COMPILE_LIMITS.file_bytes)
            rule = read_written(work / "files.d", COMPILE_LIMITS.file_bytes)
        if not done.ok or not content or not rule:
            return None, done.cpu_seconds
        files = PreludeFiles.read(rule.decode("latin-1"), str(unit.main), unit.root, self.tree)
        if files is None:
            return None, done.cpu_seconds
        return self._keep(key, content, files.to_json()), done.cpu_seconds

    def _keep(self, key: str, made: bytes, files: str) -> Path | None:
        """The file; without ``files`` what is remembered is that there can be none."""
        path = self.folder / f"{key}.pch"
        with suppress(OSError):
            for place, content in ((path, made), (path.with_suffix(".json"), files.encode())):
                part = place.with_suffix(f".{os.getpid()}")
                part.write_bytes(content)
                part.rename(place)
            return path
        return None

    def _use(
        self,
        unit: Unit,
        text: str,
        beginning: Beginning,
        prelude: Path,
        command: Sequence[str],
        rest: Sequence[str],
        run: Run,
    ) -> Completed:
        left = "\n" * beginning.lines + "\n".join(text.split("\n")[beginning.lines :])
        # Its files were compared, and have other times in each copy of the tree.
        include = ["-include-pch", str(prelude), "-fno-validate-pch"]
        words = [word for each in include for word in ("-Xclang", each)]
        with self._shown(unit, left) as main:
            return run([*command, *words, *rest], [main])

    @contextmanager
    def _shown(self, unit: Unit, text: str) -> Iterator[Mount]:
        """A mount that shows compilers ``text`` in the place of the main file."""
        with private_folder() as folder:
            file = folder / "main"
            file.write_bytes(text.encode("latin-1"))
            yield Mount(file, self.tree / unit.main)

    def _has_room(self) -> bool:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            make_room(self.folder, ROOM, _IN_USE)
            if (self.folder / "seen").is_dir():
                make_room(self.folder / "seen", _NOTES_ROOM, 0.0)
            held = sum(entry.stat().st_size for entry in os.scandir(self.folder))
            free = shutil.disk_usage(self.folder).free
        except OSError:
            return False
        return held <= ROOM and free > ROOM
