"""Textures where the target has no texture units.

HIP's headers mark the functions as unavailable for CDNA from gfx942 on, and the runtime makes no
texture objects there. A sampler in software would have to stand for the whole interface, host and
device, so the program is told instead.
"""

from __future__ import annotations

import re

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules.rewrite import Rewrite

_FETCH = re.compile(r"tex(?:1D|2D|3D|Cubemap)\w*\Z|surf(?:1D|2D|3D|Cubemap)\w*(?:read|write)\Z")
_ADVICE = (
    "read the array through a const pointer; where it filters or clamps, do so in the kernel; or"
    " build this part for RDNA only"
)


def report_textures(unit: Rewrite) -> None:
    """Report texture and surface functions of a program that is for wavefronts of 64 only."""
    if 32 in unit.context.wavefronts:
        return
    for word, offsets in unit.words.items():
        if not _FETCH.match(word) or unit.is_own(word):
            continue
        for offset in offsets:
            if unit.call(offset, word) is not None or unit.source.code.startswith(
                "<", offset + len(word)
            ):
                message = f"{word} needs texture units, which CDNA has not from gfx942 on"
                unit.report(offset, word, Severity.WARNING, message, _ADVICE)
