"""What comparing compiled code does not see: functions that nothing calls, templates, macros.

The compiler makes nothing of a function that no kernel calls, of a template that is not
instantiated, of a macro that is not used. A policy could write anything there: three of 141 answers
whose code was the same had another ``lop3`` in such a function (benchmarks/results/rl.md).
Functions that bear ``__device__`` or ``__host__`` are made to be emitted; others are compared as
they are written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tree_sitter import Node

from cass_ray.corpus.parsing.syntax import cuda_parser

_EMITTED = """\
#undef __device__
#define __device__ __attribute__((device)) __attribute__((used))
#undef __host__
#define __host__ __attribute__((host)) __attribute__((used))
"""
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif|include)\b")
_HIP_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](hip/[^>\"]+)[>\"]", re.MULTILINE)
_NEVER_EMITTED = frozenset(
    {"template_declaration", "preproc_def", "preproc_function_def", "preproc_if", "preproc_ifdef"}
)
_FUNCTION = "function_definition"
_ALWAYS_EMITTED = frozenset({"__device__", "__host__", "__global__"})


def all_emitted(code: str) -> str:
    """``code`` with a definition of ``__device__`` and ``__host__`` that makes functions be emitted
    which nothing calls.

    It is put behind the last header that is included in every case: of what headers bring nothing
    more is emitted.
    """
    lines, depth, place = code.split("\n"), 0, 0
    for number, line in enumerate(lines):
        if found := _DIRECTIVE.match(line):
            if found[1] == "include":
                place = number + 1 if depth == 0 else place
            else:
                depth += -1 if found[1] == "endif" else 1
    if not place:  # without the runtime's header there is nothing to redefine
        return code
    return "\n".join([*lines[:place], _EMITTED.rstrip("\n"), *lines[place:]])


def headers_of_hip(code: str) -> frozenset[str]:
    """The headers of HIP that ``code`` includes by name.

    The judge's compiler has the runtime's before every program: it misses none.
    """
    return frozenset(_HIP_HEADER.findall(code))


def never_emitted(code: str) -> Counter[str]:
    """What the compiler may make nothing of, without its spaces: templates, macros, conditional
    parts, members that are defined in their class, and the host's functions of this file alone.

    It is the whole program where the parser fails between functions: any of them may be there.
    """
    tree = cuda_parser().parse(code.encode("utf-8", "replace"))
    if _is_unread(tree.root_node):
        return Counter(["".join(code.split())])
    return Counter("".join(text.split()) for text in _texts(tree.root_node))


def _is_unread(node: Node) -> bool:
    """Whether there is an error outside functions."""
    if node.type == "ERROR" or node.is_missing:
        return True
    return node.has_error and any(
        _is_unread(child) for child in node.children if child.type != _FUNCTION
    )


def _texts(node: Node) -> Iterator[str]:
    if node.type in _NEVER_EMITTED or (node.type == _FUNCTION and _is_local(node)):
        yield (node.text or b"").decode("utf-8", "replace")
        return
    for child in node.named_children:
        yield from _texts(child)


def _is_local(function: Node) -> bool:
    """Whether the compiler leaves a function away that nothing calls."""
    words = {child.type for child in function.children}
    if words & _ALWAYS_EMITTED:
        return False
    if "storage_class_specifier" in words:  # static, inline
        return True
    outside = function.parent
    while outside is not None:
        if outside.type == "field_declaration_list":
            return True
        if outside.type == "namespace_definition" and outside.child_by_field_name("name") is None:
            return True
        outside = outside.parent
    return False
