"""Members of ``grid_group`` that HIP's lacks (CUDA programming guide, "Grid Groups")."""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

SNIPPET = "grids"
MEMBERS = ("block_rank", "num_blocks", "dim_blocks", "group_dim", "block_index", "num_threads")
_VARIABLE = re.compile(
    r"\bgrid_group\b\s*(?:const\b)?\s*&?\s*(?P<typed>[A-Za-z_]\w*)"
    r"|\bauto\b\s*(?:const\b)?\s*&?\s*(?P<deduced>[A-Za-z_]\w*)\s*(?:=\s*|[({]\s*)"
    r"(?:\w+\s*::\s*)*this_grid\b"
)
_RECEIVER = re.compile(
    r"(?:\b(?P<name>[A-Za-z_]\w*)|(?P<call>(?:\b\w+\s*::\s*)*\bthis_grid\s*\(\s*\)))\s*\.\s*\Z"
)


def rewrite_grids(unit: Rewrite) -> None:
    """Members of a grid become calls of functions on the grid."""
    if unit.is_hip or "cooperative_groups" not in unit.words:
        return
    if not {"grid_group", "this_grid"} & unit.words.keys():
        return
    grids = {match["typed"] or match["deduced"] for match in _VARIABLE.finditer(unit.source.code)}
    for member in MEMBERS:
        for offset in unit.words.get(member, ()):
            _rewrite_member(unit, offset, member, grids)


def _rewrite_member(unit: Rewrite, offset: int, member: str, grids: set[str]) -> None:
    receiver = _RECEIVER.search(unit.source.code, max(0, offset - 120), offset)
    call = unit.call(offset, member)
    if receiver is None or call is None or (receiver["name"] and receiver["name"] not in grids):
        return
    if unit.is_member(receiver.start()):
        return
    grid = receiver["name"] or receiver["call"]
    unit.edits.replace(receiver.start(), call[2] + 1, f"cass::grid_{member}({grid})")
    unit.converted(offset)
    unit.snippets.add(SNIPPET)
