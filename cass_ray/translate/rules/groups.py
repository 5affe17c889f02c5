"""Cooperative groups: the collectives that HIP's groups lack.

HIP has the groups, their shuffles and barriers. Votes of tiles, ``reduce``, scans and
``memcpy_async`` come from snippets.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

HEADERS = {
    "cooperative_groups/reduce.h": "group_reduce",
    "cooperative_groups/scan.h": "group_scan",
    "cooperative_groups/memcpy_async.h": "group_copy",
    "cooperative_groups/async.h": "group_copy",
}
"""Headers that HIP lacks -> the snippet that stands for them."""

_VOTE = re.compile(r"\b(?P<group>[A-Za-z_]\w*)\s*\.\s*(?P<vote>any|all|ballot|match_any)\s*\(")


def rewrite_groups(unit: Rewrite) -> None:
    """Rewrite votes that are members of a group into calls of functions on the group."""
    if unit.is_hip or "cooperative_groups" not in unit.words:
        return
    for match in _VOTE.finditer(unit.source.code):
        parsed = unit.source.arguments(match.end() - 1)
        if parsed is None or len(parsed[0]) != 1:
            continue
        call = f"cass::group_{match['vote']}({match['group']}, "
        unit.edits.replace(match.start(), parsed[0][0][0], call)
        unit.converted(match.start())
        unit.snippets.add("group_votes")
