"""Headers of Thrust that a file uses without including them.

Thrust's headers include more of each other in CUDA than in ROCm: ``thrust/device_vector.h`` brings
``thrust::sequence`` there alone. A file that includes some header of Thrust gets those of the names
that it uses.
"""

from __future__ import annotations

import re

from cass_ray.csv_tables import read_mapping
from cass_ray.translate.rules import tables
from cass_ray.translate.rules.rewrite import Rewrite

HEADER_OF = read_mapping(tables.FOLDER / "thrust_headers.csv")
"""Name in ``thrust`` -> its header, without folder and suffix."""

_REACHED = frozenset(
    (
        *("device_ptr", "device_vector", "equal", "fill", "find", "for_each", "functional"),
        *("generate", "memory", "pair", "reduce", "replace", "scan", "scatter", "swap"),
        *("transform", "tuple"),
    )
)
"""What every container and algorithm of rocThrust includes (``clang -M`` of 6.2's headers)."""

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<", re.MULTILINE)
_PATH = re.compile(r"thrust/([\w/]+)\.h>[^\n]*\n")
_NAME = re.compile(r"\s*::\s*(\w+)")


def include_used_headers(unit: Rewrite) -> None:
    """Add the headers behind the file's first one of Thrust."""
    code, text = unit.source.code, unit.source.text
    lines = (_PATH.match(text, line.end()) for line in _INCLUDE.finditer(code))
    included = [line for line in lines if line]
    if not included or unit.is_hip:
        return
    names = (_NAME.match(code, offset + len("thrust")) for offset in unit.words.get("thrust", ()))
    used = {HEADER_OF[name[1]] for name in names if name and name[1] in HEADER_OF}
    missing = used - _REACHED - {match[1] for match in included}
    added = (f"#include <thrust/{name}.h>{unit.source.newline}" for name in sorted(missing))
    unit.edits.insert(included[0].end(), "".join(added))
