"""The functions that lifted code calls (``device``), as they were when the lifter was imported.

What calls them is Python that is in memory. A file that is changed under a running process must not
get into that process' code: LLVM links calls whose arguments are not those of the function without
a word, and what the function then finds in its registers is chance.
"""

from __future__ import annotations

import re
from pathlib import Path

from cass_ray.lift.errors import CompilerFailure
from cass_ray.lift.llvm.builder import SUPPORT_PREFIX

_FILES = (
    "support",
    "mbarrier",
    "reduction",
    "cluster",
    "tensor_map",
    "shared_matrix",
    "warpgroup",
    "warpgroup_sparse",
    "tensor_memory",
    "tensor_products",
    "tensor_scaled",
)
SOURCE = b"".join(
    (Path(__file__).parent / "device" / f"{name}.hip").read_bytes() for name in _FILES
)
"""One after the other, they are one program."""

_DEFINITION = re.compile(
    r"(?:extern\s+\"C\"\s+__device__\s+(?:__attribute__\(\(noinline\)\)\s+)?(?P<result>\w+)"
    rf"|^PRINTING)\s+{SUPPORT_PREFIX}(?P<name>\w+)(?P<family>##NAME)?\((?P<given>[^)]*)\)\s*{{",
    re.MULTILINE,
)
_DECLARATION = re.compile(
    rf"^declare (\S+) @{SUPPORT_PREFIX}(\w+)\(((?:[^()]|\([^()]*\))*)\)", re.MULTILINE
)
_LLVM_TYPES = {
    "void": "void",
    "uint32_t": "i32",
    "int32_t": "i32",
    "uint64_t": "i64",
}

Signature = tuple[str, ...]
"""LLVM's types of the result and of the arguments; a pointer is ``ptr``, whatever it points to."""


def signatures(source: str) -> tuple[dict[str, Signature], dict[str, Signature]]:
    """Signatures of the functions in ``source`` by name, and of families by how their names
    begin."""
    named: dict[str, Signature] = {}
    families: dict[str, Signature] = {}
    for definition in _DEFINITION.finditer(source.replace("\\\n", " ")):
        parameter_types = [
            " ".join(each.split()) for each in definition["given"].split(",") if each.strip()
        ]
        types = [re.sub(r"\w+$", "", each).strip() for each in parameter_types]
        into = families if definition["family"] else named
        into[definition["name"]] = tuple(
            map(_llvm_type, (definition["result"] or "uint64_t", *types))
        )
    return named, families


def _llvm_type(text: str) -> str:
    return "ptr" if text.endswith("*") else _LLVM_TYPES[text]


_NAMED, _FAMILIES = signatures(SOURCE.decode())


def check_calls(module: str) -> None:
    """Raises :class:`CompilerFailure` where ``module`` calls a device function as it is not."""
    for result, name, parameters in _DECLARATION.findall(module):
        types = [result, *filter(None, parameters.split(", "))]
        declared = tuple("ptr" if each.startswith("ptr") else each for each in types)
        of_family = _FAMILIES.get(max(filter(name.startswith, _FAMILIES), key=len, default=""))
        defined = _NAMED.get(name, of_family)
        if declared != defined:
            raise CompilerFailure(
                f"{SUPPORT_PREFIX}{name} is called as {declared}, and is {defined or 'nowhere'}"
            )
