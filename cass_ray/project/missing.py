"""What a build or a test lacks on this machine, by what its tools said.

Headers, libraries, programs:
each is named with the package that has it, where that is known.
"""

from __future__ import annotations

import re

from cass_ray.toolchain.headers import header_remedy, library_remedy
from cass_ray.toolchain.unit import unopened_files

NVCC_CALLED = "nvcc: ROCm has none"
"""What the ``nvcc`` of the ROCm root says (``rocm/nvcc``)."""
_LIBRARY = re.compile(r"(?:cannot find -l|unable to find library -l)([\w+.-]+)")
_PROGRAM = re.compile(
    r"(?:^|: )(?:line \d+: )?(?P<one>[\w+.-]+): (?:command not found|not found)$"
    r"|make(?:\[\d+\])?: (?P<two>[\w+.-]+): No such file or directory",
    re.MULTILINE,
)
_MOST = 20


def what_is_missing(log: str) -> tuple[str, ...]:
    """A line for each thing that the log of a failed step says is not there, as users act on it."""
    lines = []
    for header in unopened_files(log):
        known = header_remedy(header)
        if known:
            lines.append(f"missing header {header}: it is in {known}")
    for name in dict.fromkeys(_LIBRARY.findall(log)):
        known = library_remedy(name)
        lines.append(
            f"missing library {name}: it is in {known}"
            if known
            else f"missing library {name}: install the package that has lib{name}"
        )
    for match in _PROGRAM.finditer(log):
        name = match["one"] or match["two"]
        lines.append(f"missing program {name}: install the package that has it")
    return tuple(dict.fromkeys(lines))[:_MOST]


def calls_nvcc(log: str) -> bool:
    """Whether the build called ``nvcc``, for which cass put hipcc."""
    return NVCC_CALLED in log
