"""From a line of source to the instructions that it became on both sides, and back.

Data sets hold no line tables. A row's program is compiled again with them, in the sandbox, when
somebody asks; what does not have the same number of instructions as the row's listing is left out.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from cass_ray.architectures import DEFAULT_NVIDIA_ARCHITECTURE
from cass_ray.assembly.source_lines import Lines, instructions_by_line, rdna3_lines, sass_lines
from cass_ray.browse.listings import Listing, Place
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.toolchain.amd.toolchain import DEFAULT_ARCHITECTURE
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.disassembly import DisassemblyError
from cass_ray.toolchain.sandbox.isolation import private_folder
from cass_ray.toolchain.unit import CompileFailure

_NAMES = ("program.cu", "program.hip")


class LinesUnknown(Exception):
    """There are no line tables to be had; the message says why."""


@dataclass(frozen=True)
class LineMapping:
    """One side of a row: its source and the source line of each instruction of its listing."""

    source: str
    listing: Listing
    lines: Lines

    def places(self, line: int) -> set[Place]:
        """Instructions that ``line`` of the source (from 1) became."""
        return {Place(*each) for each in instructions_by_line(self.lines).get(line, ())}

    def source_line(self, listing_line: int) -> int:
        """The source line (from 1) of what stands at a line of the listing (from 0); 0: unknown."""
        place = self.listing.places.get(listing_line)
        if place is None or place.function not in self.lines:
            return 0
        return self.lines[place.function][place.position]


def same_line(left: str, right: str) -> dict[int, int]:
    """Line of ``left`` -> line of ``right`` (from 1) that it became or stayed.

    Where some lines became more or fewer, which is which is not known.
    """
    matcher = difflib.SequenceMatcher(None, left.splitlines(), right.splitlines(), autojunk=False)
    result: dict[int, int] = {}
    for _, start, end, other, other_end in matcher.get_opcodes():
        if end - start == other_end - other:
            result.update({line + 1: line - start + other + 1 for line in range(start, end)})
    return result


def sides_of(
    row: Mapping[str, Any], nvidia: Listing, amd: Listing
) -> tuple[LineMapping, LineMapping]:
    """Both sides of a pair. Raises :class:`LinesUnknown`."""
    architecture = next(iter(row["cuda_arch"] or ()), "") or DEFAULT_NVIDIA_ARCHITECTURE
    optimization = _optimization(row["amd_toolchain"])
    if not row["hip_source"]:
        raise LinesUnknown("there is no HIP source")
    try:
        cuda = Sources(PurePosixPath(_NAMES[0]), {_NAMES[0]: row["cuda_source"].encode()})
        hip = Sources(PurePosixPath(_NAMES[1]), {_NAMES[1]: row["hip_source"].encode()})
        with private_folder() as folder:
            listing = find_nvidia().listing_with_lines(
                cuda.write(folder), architecture, optimization=optimization
            )
        with private_folder() as folder:
            result = find_amd().compile_device(
                hip.write(folder),
                row["hip_arch"] or DEFAULT_ARCHITECTURE,
                optimization=optimization,
                line_tables=True,
            )
    except (CompileFailure, ToolMissing, DisassemblyError) as error:
        raise LinesUnknown(f"the program does not compile alone: {error}") from error
    return (
        _side(row["cuda_source"], nvidia, sass_lines(listing, _NAMES[0])),
        _side(row["hip_source"], amd, rdna3_lines(result.device_assembly, _NAMES[1])),
    )


def _optimization(toolchain: Mapping[str, str] | None) -> str:
    words = (toolchain or {}).get("flags", "").split()
    return next((word for word in words if word.startswith("-O")), "-Os")


def _side(source: str, listing: Listing, lines: Lines) -> LineMapping:
    counts = listing.counts
    kept = {name: each for name, each in lines.items() if counts.get(name) == len(each)}
    if not kept:
        raise LinesUnknown("this compiler makes other code than the data set's")
    return LineMapping(source, listing, kept)
