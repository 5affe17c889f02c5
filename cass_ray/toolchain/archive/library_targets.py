"""Which processors AMD's libraries, as they can be fetched, hold machine code for.

Debian's packages are pinned by digest, so this is a table; a test reads it out of the libraries
where they are installed. rocFFT is not in it: it compiles its kernels while the program runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cass_ray.architectures import cards_of, emulated_architectures
from cass_ray.toolchain.archive.library_root import libraries_called

HELD = ("gfx1100", "gfx90a")
"""Processors that the CPU backend runs and that the packages hold code for. rocSOLVER's has generic
code for the others, too, which calls rocBLAS."""
LIBRARIES = ("rocblas", "rocrand", "rocsparse", "rocsolver")
_BEHIND = {f"hip{name.removeprefix('roc')}": name for name in LIBRARIES}
"""Library that a port calls -> the one that holds the code."""


def targets_table() -> dict[str, dict[str, bool]]:
    """Library -> processor of the CPU backend -> whether there is code for it."""
    return {
        name: {target: target in HELD for target in emulated_architectures()} for name in LIBRARIES
    }


def without_code(texts: Iterable[str], targets: Sequence[str]) -> str:
    """What to say before a program with these sources runs on ``targets``; empty if all is well."""
    called = {name for text in texts for name in libraries_called(text)}
    lacking = sorted({_BEHIND.get(name, name) for name in called} & set(LIBRARIES))
    left = [name for name in targets if name not in HELD]
    if not lacking or not left:
        return ""
    others = " or ".join(f"--arch {cards_of(name)[0]} ({name})" for name in HELD)
    return (
        f"{', '.join(lacking)} as Debian has them hold no code for {', '.join(left)}, so calls that"
        f" need a kernel fail there: use {others}, or run on the card"
    )
