"""Headers of Thrust that a file uses without including them.

Thrust's headers include more of each other in CUDA than in ROCm: ``thrust/device_vector.h`` brings
``thrust::sequence`` there alone. A file that includes some header of Thrust gets those of the names
that it uses.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

HEADER_OF = {
    **{name: name for name in ("sequence", "sort", "reduce", "scan", "transform", "copy", "fill")},
    **{name: name for name in ("count", "find", "gather", "scatter", "unique", "tuple", "pair")},
    **{
        name: name
        for name in ("device_vector", "host_vector", "device_ptr", "for_each", "generate")
    },
    **{name: name for name in ("inner_product", "transform_reduce", "adjacent_difference")},
    **{name: name for name in ("tabulate", "remove", "partition", "merge", "reverse")},
    "sort_by_key": "sort",
    "stable_sort": "sort",
    "stable_sort_by_key": "sort",
    "inclusive_scan": "scan",
    "exclusive_scan": "scan",
    "reduce_by_key": "reduce",
    "unique_by_key": "unique",
    "max_element": "extrema",
    "min_element": "extrema",
    "minmax_element": "extrema",
    "make_tuple": "tuple",
    "make_pair": "pair",
    "device_pointer_cast": "device_ptr",
    "plus": "functional",
    "maximum": "functional",
    "minimum": "functional",
    "counting_iterator": "iterator/counting_iterator",
    "make_counting_iterator": "iterator/counting_iterator",
    "transform_iterator": "iterator/transform_iterator",
    "make_transform_iterator": "iterator/transform_iterator",
    "permutation_iterator": "iterator/permutation_iterator",
    "make_permutation_iterator": "iterator/permutation_iterator",
    "constant_iterator": "iterator/constant_iterator",
    "make_constant_iterator": "iterator/constant_iterator",
    "zip_iterator": "iterator/zip_iterator",
    "make_zip_iterator": "iterator/zip_iterator",
    "host": "execution_policy",
    "device": "execution_policy",
    "count_if": "count",
    "copy_if": "copy",
    "copy_n": "copy",
    "remove_if": "remove",
    "lower_bound": "binary_search",
    "upper_bound": "binary_search",
}
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
