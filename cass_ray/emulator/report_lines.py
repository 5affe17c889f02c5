"""Lines of the source in what the emulator reports of kernels, by the code object's line table."""

from __future__ import annotations

import re
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from pathlib import PurePosixPath

from cass_ray.corpus.reading.original_lines import OriginalLines
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.emulator.code_object import find_device_binaries
from cass_ray.toolchain.amd.bundle import unbundle
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.process import run

_PLACE = re.compile(rb"(?<=\n)  at 0x(?P<address>[0-9a-f]+): [^\n]*")
_ROW = re.compile(r"^(?P<file>\S+)[ \t]+(?P<line>\d+|-)[ \t]+0x(?P<address>[0-9a-f]+)\b", re.M)
"""Matches a row of ``readelf --debug-dump=decodedline``; ``-`` ends a sequence of addresses."""


def with_source_lines(
    report: bytes, executable: bytes, architecture: str, sources: Sources
) -> bytes:
    """``report`` with a line ``source FILE:LINE`` behind each instruction that a line of
    ``sources`` made, as its author wrote it; the rest as it is.

    ``executable`` is built of ``sources`` with line tables. Without readelf nothing is added.
    """
    if _PLACE.search(report) is None:
        return report
    tables = [
        _table(code_objects[architecture])
        for code_objects in map(unbundle, find_device_binaries(executable))
        if architecture in code_objects
    ]
    if len(tables) != 1:  # an address does not say of which
        return report
    place_of = _places(tables[0], sources)

    def told(match: re.Match[bytes]) -> bytes:
        place = place_of(int(match["address"], 16))
        return match[0] + (f"\n  source {place}".encode() if place else b"")

    return _PLACE.sub(told, report)


def _table(code_object: bytes) -> list[tuple[int, str, int]]:
    """Addresses in order, each with the file and the line that begin there; line 0: none."""
    readelf = shutil.which("readelf")
    if readelf is None:
        return []
    with private_folder() as folder:
        file = folder / "code_object"
        file.write_bytes(code_object)
        command = (readelf, "-W", "--debug-dump=decodedline", file)
        done = run(command, cwd=folder, view=View(read_only=(folder,)))
    rows = _ROW.finditer(done.stdout_text) if done.ok else ()
    return sorted(
        (int(row["address"], 16), row["file"], 0 if row["line"] == "-" else int(row["line"]))
        for row in rows
    )


def _places(table: list[tuple[int, str, int]], sources: Sources) -> Callable[[int], str]:
    """``FILE:LINE`` of an address; empty where it is none of ``sources``."""
    names = Counter(PurePosixPath(path).name for path in sources.files)
    paths = {PurePosixPath(path).name: path for path in sources.files}
    starts = [address for address, _, _ in table]

    def place_of(address: int) -> str:
        at = bisect_right(starts, address) - 1
        if at < 0:
            return ""
        _, name, line = table[at]
        if not line or names[name] != 1:
            return ""
        path = paths[name]
        if path in sources.originals:
            line = OriginalLines(sources.originals[path], sources.files[path]).number(line)
        return f"{path}:{line}"

    return place_of
