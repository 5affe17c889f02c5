"""Write ``entry_points.inc``: the names of all HIP entry points that return an error code.

``python cass_ray/emulator/hip_runtime/entry_points.py [HIP_INCLUDE]`` reads the headers of a HIP
root (default: that of this machine's AMD toolchain). The table of AMD's own tracing interface
(``hip_api_trace.hpp``) names every entry point with its type. HIPRTC is complete by hand: its error
codes are others.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cass_ray.toolchain.locate import find_amd

OUTPUT = Path(__file__).with_suffix(".inc")

_TABLE = Path("hip/amd_detail/hip_api_trace.hpp")
_ENTRY = re.compile(r"typedef\s+hipError_t\s*\(\*t_(hip\w+)\)")

# Exported beside those of the table: older structure layouts, old names.
_ALIASES = ("hipGetDeviceProperties", "hipChooseDeviceR0600", "hipDeviceGetCount")


def entry_points(include: Path) -> list[str]:
    """Names in the header folder ``include``, sorted."""
    names = set(_ENTRY.findall((include / _TABLE).read_text()))
    return sorted(names | set(_ALIASES))


def render(names: list[str]) -> str:
    """The content of ``entry_points.inc``."""
    lines = ["// HIP 6.2's entry points that return an error code. Written by entry_points.py."]
    lines += [f"CASS_HIP_ENTRY_POINT({name})" for name in names]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the file; the argument is a header folder."""
    include = Path(arguments[0]) if arguments else find_amd().rocm_path / "include"
    OUTPUT.write_text(render(entry_points(include)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
