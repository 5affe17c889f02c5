"""Compilers' messages about a translated text get the line numbers of the text it was made of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

_PLACE = re.compile(r"(?:^|\s)(?P<path>[^\s:]+):(?P<line>\d+)(?=:)")
_SOURCE = re.compile(r"^(?P<gutter> *\d+)(?= \| )")


class OriginalLines:
    """Line numbers of ``original`` for those of ``translated``, from 1."""

    def __init__(self, original: bytes, translated: bytes) -> None:
        old, new = original.splitlines(), translated.splitlines()
        self._blocks = list(_blocks(old, new))
        self._last = max(1, len(old))

    def number(self, line: int) -> int:
        """The line that became ``line``, or the one before those that the translation added."""
        for begin, end, new_begin, new_end in self._blocks:
            if new_begin < line <= new_end:
                beyond = line - 1 - new_begin
                return max(1, min(begin + beyond + 1, end))
        return self._last


def _blocks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[tuple[int, int, int, int]]:
    """Ranges of ``old`` and of ``new`` that belong together, as ``difflib``'s opcodes have them.

    Lines that both have once hold the texts together, and equal lines behind those. Linear in the
    number of lines, of whatever text: ``difflib`` is not.
    """
    before, after = Counter(old), Counter(new)
    place = {line: number for number, line in enumerate(old) if before[line] == after[line] == 1}
    old_at = new_at = 0
    for number, line in enumerate(new):
        if number == new_at and old_at < len(old) and old[old_at] == line:
            same = old_at
        else:
            same = place.get(line, -1)
        if same >= old_at:
            if (same, number) != (old_at, new_at):
                yield old_at, same, new_at, number
            yield same, same + 1, number, number + 1
            old_at, new_at = same + 1, number + 1
    yield old_at, len(old), new_at, len(new)


def with_original_lines(
    diagnostic: str, originals: Mapping[str, bytes], translated: Mapping[str, bytes]
) -> str:
    """``diagnostic`` with the original's line numbers where it names files of ``translated``.

    Columns and the lines that it shows stay those of the translation.
    """
    known: dict[str, OriginalLines] = {}

    def lines_of(path: str) -> OriginalLines | None:
        if path not in known and path in originals and path in translated:
            known[path] = OriginalLines(originals[path], translated[path])
        return known.get(path)

    told: list[str] = []
    shown: OriginalLines | None = None
    for text in diagnostic.split("\n"):
        if shown is not None and (source := _SOURCE.match(text)):
            gutter = source["gutter"]
            number = str(shown.number(int(gutter)))
            told.append(number.rjust(len(gutter)) + text[len(gutter) :])
            continue
        pieces, end = [], 0
        for place in _PLACE.finditer(text):
            lines = lines_of(place["path"])
            pieces.append(text[end : place.start("line")])
            pieces.append(place["line"] if lines is None else str(lines.number(int(place["line"]))))
            end = place.end("line")
            shown = lines
        told.append("".join([*pieces, text[end:]]))
    return "\n".join(told)
