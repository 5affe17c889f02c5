"""System headers of many sources, parsed once.

Half of the time that the engine's compilation took went into reading the standard library once a
source. What a precompiled header depends on outside of our sources is not part of any key, so it
lives as long as one build.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ENOUGH = 6
"""This many sources with the same flags make up for the time that a precompiled header takes."""
_SHARED = 3
"""Headers that so many sources include are precompiled."""

_SYSTEM_INCLUDE = re.compile(r"^\s*#\s*include\s+(<[^>]+>)", re.MULTILINE)
# Without it, clang takes __builtin_va_list of the precompiled header and that of a source for two.
_FIRST = "<cstdarg>"


def shared_headers(texts: Iterable[Iterable[str]]) -> list[str]:
    """``<…>`` of the headers that several sources include; a source is its own text and those of
    our headers that it includes."""
    counted: Counter[str] = Counter()
    for parts in texts:
        counted.update({name for text in parts for name in _SYSTEM_INCLUDE.findall(text)})
    return sorted(name for name, count in counted.items() if count >= _SHARED)


def precompile(
    compiler: str, flags: tuple[str, ...], headers: list[str], folder: Path
) -> tuple[str, ...]:
    """The flags that make ``compiler`` take ``headers`` as it parses them here, once; none where
    it refuses, as then every source parses its own."""
    header = folder / "headers.hpp"
    header.write_text("".join(f"#include {name}\n" for name in [_FIRST, *headers]))
    target = folder / "headers.pch"
    command = [compiler, *flags, "-fpch-instantiate-templates", "-x", "c++-header", str(header)]
    done = subprocess.run([*command, "-o", str(target)], capture_output=True, check=False)
    return ("-include-pch", str(target)) if done.returncode == 0 else ()
