"""Helper code that the rules insert, by name: a model says which it wants, the engine writes it.

The helpers (``cass_ray/translate/rules/snippets``) are fixed texts of up to hundreds of lines. No
model needs to spell them: in its answers each is one token on a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAMED = re.compile(r"<\|snippet (\w+)\|>(?:\n|$)")


def snippet_token(name: str) -> str:
    """How a model writes the snippet ``name``."""
    return f"<|snippet {name}|>"


def collapse(code: str, snippets: Mapping[str, str]) -> str:
    """``code`` with the text of each snippet replaced by its name."""
    for name, text in snippets.items():
        if text in code:
            code = code.replace(text, snippet_token(name) + "\n")
    return code


def expand(code: str, snippets: Mapping[str, str]) -> str:
    """``code`` with the text of each snippet that it names; the inverse of :func:`collapse`.

    Raises ``ValueError`` for a name that is not among ``snippets``.
    """

    def text(match: re.Match[str]) -> str:
        if match[1] not in snippets:
            raise ValueError(f"no snippet `{match[1]}`")
        return snippets[match[1]]

    return _NAMED.sub(text, code)
