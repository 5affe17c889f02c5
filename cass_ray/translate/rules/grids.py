"""Members of groups that HIP's lack (CUDA programming guide, "Cooperative Groups").

``grid_group`` has few of them, and ``thread_block`` has two that a constant object cannot call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cass_ray.translate.rules.rewrite import Rewrite

SNIPPET = "grids"
MEMBERS = ("block_rank", "num_blocks", "dim_blocks", "group_dim", "block_index", "num_threads")
_VARIABLE = re.compile(
    r"\bgrid_group\b\s*(?:const\b)?\s*&?\s*(?P<typed>[A-Za-z_]\w*)"
    r"|\bauto\b\s*(?:const\b)?\s*&?\s*(?P<deduced>[A-Za-z_]\w*)\s*(?:=\s*|[({]\s*)"
    r"(?:\w+\s*::\s*)*this_grid\b"
)
_BLOCK_MEMBERS = ("group_dim", "dim_threads")
_CONSTANT_BLOCK = re.compile(
    r"(?:\bconst\s+(?:\w+\s*::\s*)*thread_block|\bthread_block\s+const)\b\s*&?\s*"
    r"(?P<typed>[A-Za-z_]\w*)"
    r"|\b(?:const\s+auto|auto\s+const)\b\s*&?\s*(?P<deduced>[A-Za-z_]\w*)\s*(?:=\s*|[({]\s*)"
    r"(?:\w+\s*::\s*)*this_thread_block\b"
)
_RECEIVER = re.compile(
    r"(?:\b(?P<name>[A-Za-z_]\w*)|(?P<call>(?:\b\w+\s*::\s*)*\bthis_grid\s*\(\s*\)))\s*\.\s*\Z"
)


def rewrite_grids(unit: Rewrite) -> None:
    """Members of a grid, and of a constant block, become calls of functions on the group."""
    if unit.is_hip or "cooperative_groups" not in unit.words:
        return
    if {"grid_group", "this_grid"} & unit.words.keys():
        _rewrite(unit, "grid", MEMBERS, _VARIABLE)
    if {"thread_block", "this_thread_block"} & unit.words.keys():
        _rewrite(unit, "block", _BLOCK_MEMBERS, _CONSTANT_BLOCK)


def _rewrite(unit: Rewrite, kind: str, members: Iterable[str], variable: re.Pattern[str]) -> None:
    names = {match["typed"] or match["deduced"] for match in variable.finditer(unit.source.code)}
    for member in members:
        for offset in unit.words.get(member, ()):
            _rewrite_member(unit, offset, member, names, kind)


def _rewrite_member(unit: Rewrite, offset: int, member: str, names: set[str], kind: str) -> None:
    receiver = _RECEIVER.search(unit.source.code, max(0, offset - 120), offset)
    call = unit.call(offset, member)
    if receiver is None or call is None or (receiver["name"] and receiver["name"] not in names):
        return
    if unit.is_member(receiver.start()) or (receiver["call"] and kind != "grid"):
        return
    group = receiver["name"] or receiver["call"]
    unit.edits.replace(receiver.start(), call[2] + 1, f"cass::{kind}_{member}({group})")
    unit.converted(offset)
    unit.snippets.add(SNIPPET)
