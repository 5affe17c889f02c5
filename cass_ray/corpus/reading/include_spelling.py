"""Includes as another machine takes them: backslashes, letters of either case, its folders."""

from __future__ import annotations

import re
from collections.abc import Callable

from cass_ray.corpus.reading.system_headers import is_system_header

NOTE = "include paths of another machine"
"""This note stands beside the encoding of a text whose includes were changed."""
_INCLUDE = re.compile(
    r"^(?P<before>[ \t]*#[ \t]*include[ \t]*)(?P<open>[\"<])(?P<name>[^\">\n]+)(?P<close>[\">])",
    re.MULTILINE,
)
_INSTALLED = re.compile(
    r"(?:(?:\.\./)+|/|[A-Za-z]:/)"
    r"(?:usr(?:/local)?"
    r"|(?:usr|opt|Program Files)/(?:[^/]+/)*?(?:cuda|v\d)[^/]*(?:/targets/[\w-]+)?)"
    r"/include/(?P<header>.+)",
    re.IGNORECASE,
)
"""A header of a toolkit that is installed there; editors write such paths by themselves."""


def with_paths_of_the_tree(text: str, spelling: Callable[[str], str | None]) -> str:
    """``text`` with slashes in the paths that it includes, and quoted ones spelled as in the tree.

    A header of an installed toolkit is included by its name.

    ``spelling`` of a path: how the tree spells it, None where it has it so, or not at all.
    """

    def spelled(match: re.Match[str]) -> str:
        name = match["name"].replace("\\", "/")
        installed = _INSTALLED.fullmatch(name)
        if installed and is_system_header(installed["header"]):
            return f"{match['before']}<{installed['header']}>"
        if match["open"] == '"':
            name = spelling(name) or name
        return f"{match['before']}{match['open']}{name}{match['close']}"

    return _INCLUDE.sub(spelled, text)
