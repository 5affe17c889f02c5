"""Includes as Windows takes them: backslashes between folders, letters of either case."""

from __future__ import annotations

import re
from collections.abc import Callable

NOTE = "include paths of Windows"
"""This note stands beside the encoding of a text whose includes were changed."""
_INCLUDE = re.compile(
    r"^(?P<before>[ \t]*#[ \t]*include[ \t]*)(?P<open>[\"<])(?P<name>[^\">\n]+)(?P<close>[\">])",
    re.MULTILINE,
)


def with_paths_of_the_tree(text: str, spelling: Callable[[str], str | None]) -> str:
    """``text`` with slashes in the paths that it includes, and quoted ones spelled as in the tree.

    ``spelling`` of a path: how the tree spells it, None where it has it so, or not at all.
    """

    def spelled(match: re.Match[str]) -> str:
        name = match["name"].replace("\\", "/")
        if match["open"] == '"':
            name = spelling(name) or name
        return f"{match['before']}{match['open']}{name}{match['close']}"

    return _INCLUDE.sub(spelled, text)
