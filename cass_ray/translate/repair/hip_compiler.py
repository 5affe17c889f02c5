"""Compile translated sources with the AMD toolchain, and repair them from what it says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cass_ray.dataset.schema import Reason
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

    def messages(self, path: str) -> str:
        """The compiler's messages about ``path``; nothing when it compiles.

        A file without a kernel compiles too: nothing is asked of it on the device.
        """
        folders = {PurePosixPath("."), PurePosixPath(path).parent}
        folders |= {PurePosixPath(name) for name in INCLUDE_FOLDERS if (self.root / name).is_dir()}
        try:
            unit = Unit(self.root, PurePosixPath(path), tuple(sorted(folders)))
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
