"""Small C libraries that are preloaded into programs: built once, kept by content."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from cass_ray.cache import default_directory, digest
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.packages import unpack_once
from cass_ray.toolchain.sandbox.executable import Exposure

PRELOAD_VARIABLE = "LD_PRELOAD"


def preloadable(source: Path, cache: Path, compiler: str = "cc") -> Path:
    """The shared library made of ``source``. Raises :class:`ToolMissing` with gcc's message."""
    name = f"{source.stem}.so"

    def fill(folder: Path) -> None:
        command = [compiler, "-O2", "-shared", "-fPIC", str(source)]
        command += ["-o", str(folder / name), "-ldl", "-pthread"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            message = done.stderr.strip() if done.returncode else ""
        except OSError as error:
            message = str(error)
        if message:
            raise ToolMissing(f"A C compiler for {source.name}", "Install gcc.", message)

    key = digest([source.read_bytes(), compiler])[:16]
    return unpack_once(cache / "preloaded" / key, fill) / name


def with_preloaded(exposure: Exposure, source: Path) -> Exposure:
    """``exposure`` with the library of ``source`` before any other.

    Raises :class:`ToolMissing` where no C compiler is there.
    """
    library = preloadable(source, default_directory()).resolve()
    others = exposure.environment.get(PRELOAD_VARIABLE)
    preloaded = f"{library}:{others}" if others else str(library)
    return replace(
        exposure,
        read_only=(*exposure.read_only, library.parent),
        environment={**exposure.environment, PRELOAD_VARIABLE: preloaded},
    )
