"""Kernel launches as they are recorded: fixed records in a file that is mapped, not written.

Both who writes them (``device/evidence.cpp`` and, on GPUs, ``execute/evidence/launch_recorder.c``)
and :func:`parse_launches` have the layout. A record that is counted survives a kill of its writer.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

_RECORD = struct.Struct("<QQ3I3IQ464s")
_RECORDS = 1024
RECORD_BYTES = _RECORD.size * _RECORDS
"""Size of the file."""


@dataclass(frozen=True)
class Launch:
    """``count`` launches of one kernel with one configuration; sizes are in threads and bytes.

    With ``graph`` they are nodes of graphs, counted each time that a graph runs.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    count: int
    graph: bool = False

    def format(self) -> str:
        """``kernel <<<(gx, gy, gz), (bx, by, bz), shared>>> × count``."""
        grid, block = (", ".join(map(str, size)) for size in (self.grid, self.block))
        shared = f", {self.shared_bytes}" if self.shared_bytes else ""
        graph = " in graphs" if self.graph else ""
        return f"{self.kernel} <<<({grid}), ({block}){shared}>>> × {self.count}{graph}"


_WRITTEN = re.compile(
    r"(?P<kernel>.*) <<<\((?P<grid>\d+, \d+, \d+)\), \((?P<block>\d+, \d+, \d+)\)"
    r"(?:, (?P<shared>\d+))?>>> × (?P<count>\d+)(?P<graph> in graphs)?",
    re.DOTALL,
)


def parse_launch(text: str) -> Launch:
    """What :meth:`Launch.format` wrote. Raises :class:`ValueError` for anything else."""
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise ValueError(f"not a launch: {text[:80]!r}")
    grid, block = (tuple(map(int, match[part].split(", "))) for part in ("grid", "block"))
    return Launch(
        match["kernel"],
        (grid[0], grid[1], grid[2]),
        (block[0], block[1], block[2]),
        int(match["shared"] or 0),
        int(match["count"]),
        match["graph"] is not None,
    )


def parse_launches(data: bytes) -> list[Launch]:
    """The launches in a record, in order of first launch."""
    launches = []
    for offset in range(0, len(data) - _RECORD.size + 1, _RECORD.size):
        count, shared, *sizes, graph, name = _RECORD.unpack_from(data, offset)
        if count == 0:
            break
        kernel = name.rstrip(b"\0").decode("utf-8", "replace")
        grid, block = (sizes[0], sizes[1], sizes[2]), (sizes[3], sizes[4], sizes[5])
        launches.append(Launch(kernel, grid, block, shared, count, bool(graph)))
    return launches
