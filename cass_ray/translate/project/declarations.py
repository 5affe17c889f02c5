"""Headers of Nvidia's libraries of which HIP has no counterpart, as the AMD side compiles them.

Their types, enumerators and version macros are there, so that a unit which holds a handle and
launches kernels of its own compiles. Their functions are declared with clang's attribute ``error``:
a unit that calls one is refused where the call becomes machine code.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from cass_ray.corpus.reading.includes import scan_includes

PACKAGES = frozenset(
    {
        *("nvidia-cudnn-cu13", "cutensor-cu13", "nvidia-npp", "nvidia-nvjpeg"),
        *("nvidia-nvjpeg2k-cu13", "nvidia-nvml-dev", "nvidia-cufile", "nvidia-cudss-cu13"),
        *("nvidia-libnvcomp-cu13", "nvidia-nvfatbin"),
    }
)
MACROS = re.compile(r"\b(?:CUDNN|CUTENSOR|NPP|NVJPEG|NVML|CUDSS|NVCOMP)_\w+")
"""What these headers define has one value on both sides, in conditions too."""

REFUSAL = '__attribute__((error("cass-ray: HIP has no counterpart of this function of {}")))'


def refuse_calls(texts: Mapping[str, str], package: str) -> dict[str, str]:
    """``texts``, by paths as they are included, with all that they declare refused when called.

    What they include from elsewhere comes before, so that it is not refused.
    """
    beside = {posixpath.basename(path) for path in texts}
    names = {
        include.name: None
        for text in texts.values()
        for include in scan_includes(text)
        if include.name and posixpath.basename(include.name) not in beside
    }
    before = "".join(f"#if __has_include(<{x}>)\n#include <{x}>\n#endif\n" for x in names)
    refuse = f"#pragma clang attribute push({REFUSAL.format(package)}, apply_to = function)\n"
    after = "\n#pragma clang attribute pop\n"
    return {path: f"{before}{refuse}{text}{after}" for path, text in texts.items()}
