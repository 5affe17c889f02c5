"""What builds of projects call in the place of clang: right where clang alone is not.

A script that knows its tools by their paths, beside copies of what it runs: it needs neither this
package nor an environment.
"""

from __future__ import annotations

import contextlib
import functools
import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from cass_ray.cache import digest
from cass_ray.toolchain.amd import hidden_operands, lost_exits, spilled_lanes
from cass_ray.toolchain.amd.workarounds import (
    KEEPS_EXITS,
    WAYS_TO_SPILL,
    as_flags,
    loses_values,
    selects_wrong,
)

SCRIPT = Path(__file__).with_name("clang-with-workarounds")

_COPIED = (hidden_operands.PROGRAM, Path(lost_exits.__file__), Path(spilled_lanes.__file__))


def write_driver(folder: Path, clang: Path, version: str) -> Path:
    """The compiler for builds in the place of ``clang``: a program in ``folder``.

    It is ``clang`` itself where ``version`` is right. Raises
    :class:`~cass_ray.toolchain.errors.ToolMissing`.
    """
    if not selects_wrong(version):
        return clang
    program = clang.resolve()
    resources = program.parent.parent / "lib" / "clang" / version.split(".")[0]
    _, to_own_registers, to_memory = WAYS_TO_SPILL
    values = {
        "clang": [program],
        "resources": [resources],
        "awk": [hidden_operands.find_awk()],
        "python": [Path(sys.executable).resolve()],
        "to_own_registers": as_flags(to_own_registers),
        "to_memory": as_flags(to_memory),
        "keeps_exits": as_flags(KEEPS_EXITS),
        "loses_values": ["yes"] if loses_values(version) else [],
    }
    text = SCRIPT.read_text()
    for name, words in values.items():
        text = text.replace(f"@{name}@", shlex.join(str(word) for word in words))
    folder.mkdir(parents=True, exist_ok=True)
    driver = folder / "clang"
    contents = {driver: text, **{folder / path.name: path.read_text() for path in _COPIED}}
    for place, its in contents.items():
        place.unlink(missing_ok=True)
        place.write_text(its)
        place.chmod(0o755)
    return driver


def cached_driver(cache: Path, clang: Path, version: str) -> Path:
    """:func:`write_driver` in ``cache``, once for each clang; several processes may ask."""
    if not selects_wrong(version):
        return clang
    folder = cache / "clang-driver" / _key(clang, version)
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as new_folder:
            write_driver(Path(new_folder, "made"), clang, version)
            with contextlib.suppress(OSError):  # another process was sooner
                Path(new_folder, "made").rename(folder)
    return folder / "clang"


@functools.cache
def _key(clang: Path, version: str) -> str:
    parts = [path.read_bytes() for path in (SCRIPT, *_COPIED)]
    return digest([str(clang.resolve()), version, sys.executable, *parts])[:24]


@functools.cache
def visible() -> tuple[Path, ...]:
    """What a sandbox has to show beside the compiler: the Python that reads listings."""
    return (Path(sys.base_prefix).resolve(),)
