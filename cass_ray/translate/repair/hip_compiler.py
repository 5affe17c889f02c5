"""Compile translated sources with the AMD toolchain, and repair them from what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.repair.loop import Propose, Repaired, repair

INCLUDE_FOLDERS = ("include", "inc", "common", "Common", "src")
"""Folders of a tree that projects commonly put on the include path."""


@dataclass(frozen=True)
class HipCompiler:
    """Compiles files of one translated tree for both sides."""

    toolchain: AmdToolchain
    root: Path
    in_project: Callable[[str], Iterable[Unit]] = lambda path: ()
    """Units of the file as it is now, as its project may compile it, what costs least first. Asked
    for files that do not compile with common folders."""
    _tried: dict[str, int] = field(default_factory=dict)

    def messages(self, path: str) -> str:
        """The compiler's messages about ``path``; nothing when it compiles.

        A file without a kernel compiles too: nothing is asked of it on the device.
        """
        said = ""
        try:
            for number, unit in enumerate(self._units(path)):
                if number >= self._tried.get(path, 0):
                    self._tried[path] = number
                    said = self._messages(unit)
                    if not said:
                        return ""
        except CompileFailure as failure:  # no unit can have such a name
            return failure.diagnostic
        return said

    def _units(self, path: str) -> Iterator[Unit]:
        yield self._with_common_folders(path)
        yield from self.in_project(path)

    def _with_common_folders(self, path: str) -> Unit:
        folders = {PurePosixPath("."), PurePosixPath(path).parent}
        folders |= {PurePosixPath(name) for name in INCLUDE_FOLDERS if (self.root / name).is_dir()}
        return Unit(self.root, PurePosixPath(path), tuple(sorted(folders)))

    def _messages(self, unit: Unit) -> str:
        try:
            self.toolchain.compile(unit)
        except CompileFailure as failure:
            return "" if failure.reason is Reason.NO_DEVICE_CODE else failure.diagnostic
        return ""

    def check(self, path: str, attempts: int, propose: Propose | None = None) -> Repaired:
        """Compile ``path``, with at most ``attempts`` rounds of repair; the best state is written.

        Bytes that are not UTF-8 survive.
        """
        file = self.root / path
        source = file.read_bytes().decode("utf-8", "surrogateescape")

        def compile_source(text: str) -> str:
            file.write_bytes(text.encode("utf-8", "surrogateescape"))
            return self.messages(path)

        result = repair(
            source, compile_source, filename=file.name, attempts=attempts, propose=propose
        )
        file.write_bytes(result.source.encode("utf-8", "surrogateescape"))
        return result
