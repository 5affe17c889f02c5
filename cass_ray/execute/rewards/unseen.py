"""What comparing compiled code does not see: functions that nothing calls, templates, macros.

The compiler makes nothing of a function that no kernel calls, of a template that is not
instantiated, of a macro that is not used. A policy could write anything there: three of 141 answers
whose code was the same had another ``lop3`` in such a function (benchmarks/results/rl.md).
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
_NEVER_EMITTED = frozenset(
    {"template_declaration", "preproc_def", "preproc_function_def", "preproc_if", "preproc_ifdef"}
)


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


def never_emitted(code: str) -> Counter[str]:
    """Templates, macros and conditional parts of ``code``, without their spaces."""
    tree = cuda_parser().parse(code.encode("utf-8", "replace"))
    return Counter("".join(text.split()) for text in _texts(tree.root_node))


def _texts(node: Node) -> Iterator[str]:
    if node.type in _NEVER_EMITTED:
        yield (node.text or b"").decode("utf-8", "replace")
        return
    for child in node.named_children:
        yield from _texts(child)
