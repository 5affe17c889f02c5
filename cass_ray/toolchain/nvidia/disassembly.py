"""Disassembly of many cubins by few ``nvdisasm`` runs.

nvdisasm takes 0.2 s to start and a twentieth of that for a program. So the code of many cubins goes
into one ELF file and its listing is taken apart. Each part is what ``nvdisasm -c`` prints for the
cubin alone, except for what depends on the rest of a file: labels are numbered as they stand in the
text, annotations follow their instruction after one space, and the list of undefined symbols at the
end is left out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from cass_ray.toolchain.nvidia.elf import Cubin, CubinError, merge, without_marks
from cass_ray.toolchain.sandbox import process
from cass_ray.toolchain.sandbox.isolation import Mount, View, private_folder
from cass_ray.toolchain.sandbox.process import Limits

MOST_SECTIONS = 20_000
"""Sections in one merged file; an ELF header counts at most 65,279."""

SMALL = 1 << 18
"""Bytes of machine code whose listing is kept for when it is wanted again: a program is ported to
several targets, or lifted and looked at."""

_FOLDER = Path("/cass/work")
_MOST_TEXT = 16
"""Bytes of text for one of code; an instruction of 16 bytes has a line of about a hundred."""
_SECONDS_A_MEGABYTE = 60.0
_SECTION_TITLE = re.compile(r"^(//-{5,} )(\S+) +(-{5,})$", re.MULTILINE)
_TITLE_WIDTH = 17  # nvdisasm pads names to it; in a merged file they are longer
_UNDEFINED_SYMBOLS = "//--------------------- SYMBOLS "
_ANNOTATION_COLUMN = re.compile(r" {2,}(?=\(\*\")")
_LABEL = re.compile(r"\.L_x_\d+\b")
_LABEL_HERE = re.compile(r"^(\.L_x_\d+):", re.MULTILINE)


class DisassemblyError(CubinError):
    """nvdisasm failed; the message is its own."""


def disassemble(nvdisasm: Path, cubins: Sequence[bytes], toolchain: View) -> list[str]:
    """The code of each of ``cubins``, as the module's text describes.

    Raises :class:`DisassemblyError`, and :class:`~.nvidia_elf.CubinError` for a damaged cubin.
    """
    parsed = [Cubin.parse(data) for data in cubins]
    texts = [""] * len(cubins)
    for batch in _batches(parsed):
        counts = [len(parsed[index].code_sections) for index in batch]
        try:
            listing = _listing(nvdisasm, merge([parsed[index] for index in batch]), toolchain)
            parts = split(without_marks(listing), counts)
        except DisassemblyError:
            # Code of separate compilation for sm_120 refers to tables that a merged file lacks.
            parts = [
                split(_listing(nvdisasm, cubins[index], toolchain), [count])[0]
                for index, count in zip(batch, counts, strict=True)
            ]
        for index, part in zip(batch, parts, strict=True):
            texts[index] = part
    return texts


def split(listing: str, counts: Sequence[int]) -> list[str]:
    """Take the listing of a merged file apart; ``counts`` are the code sections of each part.

    Raises :class:`DisassemblyError` when there are not as many sections.
    """
    listing = listing.partition(_UNDEFINED_SYMBOLS)[0]
    starts = [match.start() for match in _SECTION_TITLE.finditer(listing)]
    if len(starts) != sum(counts):
        raise DisassemblyError(f"nvdisasm printed {len(starts)} sections instead of {sum(counts)}")
    bounds = [*starts, len(listing)]
    parts = []
    first = 0
    for count in counts:
        body = listing[bounds[first] : bounds[first + count]].rstrip("\n")
        parts.append(f"{listing[: bounds[0]]}{_canonical(body)}\n")
        first += count
    return parts


def _batches(cubins: Sequence[Cubin]) -> Iterator[list[int]]:
    """Indices of cubins for one machine each, bounded in sections."""
    order = sorted(range(len(cubins)), key=lambda index: cubins[index].machine)
    for _, same in groupby(order, key=lambda index: cubins[index].machine):
        batch: list[int] = []
        sections = 0
        for index in same:
            if batch and sections + len(cubins[index].sections) > MOST_SECTIONS:
                yield batch
                batch, sections = [], 0
            batch.append(index)
            sections += len(cubins[index].sections)
        yield batch


def limits_for(image_bytes: int) -> Limits:
    """What nvdisasm may take and print for so much code: large kernels have listings of 70 MB."""
    usual = process.COMPILE_LIMITS
    return replace(
        usual,
        cpu_seconds=usual.cpu_seconds + _SECONDS_A_MEGABYTE * image_bytes / 1e6,
        output_bytes=max(usual.output_bytes, _MOST_TEXT * image_bytes),
    )


def _listing(nvdisasm: Path, image: bytes, toolchain: View) -> str:
    ask = _kept if len(image) <= SMALL else _nvdisasm
    return ask(nvdisasm, image, toolchain)


def _nvdisasm(nvdisasm: Path, image: bytes, toolchain: View) -> str:
    with private_folder() as folder:
        path = folder / "merged.cubin"
        path.write_bytes(image)
        view = View(read_only=toolchain.read_only, mounts=(Mount(folder, _FOLDER),))
        command: list[str | Path] = [nvdisasm, "-c", view.inside(path)]
        completed = process.run(command, cwd=folder, limits=limits_for(len(image)), view=view)
    if not completed.ok:
        message = completed.stderr_text.strip() or completed.outcome.value
        raise DisassemblyError(f"{nvdisasm}: {message}")
    return completed.stdout_text


_kept = functools.lru_cache(maxsize=16)(_nvdisasm)


def _canonical(text: str) -> str:
    labels = dict.fromkeys([*_LABEL_HERE.findall(text), *_LABEL.findall(text)])
    new = {label: f".L_x_{number}" for number, label in enumerate(labels)}
    text = _LABEL.sub(lambda match: new[match[0]], text)
    text = _SECTION_TITLE.sub(lambda m: f"{m[1]}{m[2].ljust(_TITLE_WIDTH)} {m[3]}", text)
    return _ANNOTATION_COLUMN.sub(" ", text)
