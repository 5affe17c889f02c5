"""Recognizes the license of a repository from the text of its license file, and judges it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cass_ray.config import StrictModel
from cass_ray.corpus.reading.filetree import FileProblemError, FileTree
from cass_ray.dataset.row import Reason

_FILES = (
    "LICENSE", "LICENSE.txt", "LICENSE.md", "LICENSE.rst", "LICENCE", "LICENCE.txt", "LICENCE.md",
    "License", "License.txt", "license", "license.txt", "license.md", "COPYING", "COPYING.txt",
    "COPYING.md", "LICENSE-MIT", "LICENSE-APACHE", "UNLICENSE",
)  # fmt: skip
_READ_BYTES = 200_000
_SPDX = re.compile(r"SPDX-License-Identifier:[ \t]*([A-Za-z0-9.+() -]+)")

_MARKERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("AGPL-3.0", ("gnu affero general public license", "version 3")),
    ("LGPL-3.0", ("gnu lesser general public license", "version 3, 29 june 2007")),
    ("LGPL-2.1", ("gnu lesser general public license", "version 2.1")),
    ("GPL-3.0", ("gnu general public license", "version 3, 29 june 2007")),
    ("GPL-2.0", ("gnu general public license", "version 2, june 1991")),
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("MPL-2.0", ("mozilla public license", "2.0")),
    ("BSL-1.0", ("boost software license", "version 1.0")),
    ("EPL-2.0", ("eclipse public license", "2.0")),
    ("Unlicense", ("this is free and unencumbered software released into the public domain",)),
    ("CC0-1.0", ("cc0 1.0 universal",)),
    ("CC-BY-4.0", ("creative commons attribution 4.0 international",)),
    ("MIT", ("permission is hereby granted, free of charge", 'the software is provided "as is"')),
    ("ISC", ("permission to use, copy, modify, and/or distribute this software",)),
    ("Zlib", ("altered source versions must be plainly marked as such",)),
    (
        "BSD-3-Clause",
        ("redistribution and use in source and binary forms", "may be used to endorse or promote"),
    ),
    ("BSD-2-Clause", ("redistribution and use in source and binary forms",)),
)
"""SPDX identifier and the phrases that must all occur; the first match wins, so the texts that
quote others (the LGPL names the GPL) come first."""


def identify_license(text: str) -> str:
    """The SPDX identifier of a license text, or "" when it is not one of those known here."""
    tag = _SPDX.search(text)
    if tag:
        return tag[1].strip()
    flat = " ".join(text.lower().split())
    for identifier, phrases in _MARKERS:
        if all(phrase in flat for phrase in phrases):
            return identifier
    return ""


def license_of_tree(tree: FileTree) -> str:
    """The license named by the license file at the root of ``tree``, or "" without one."""
    for name in _FILES:
        try:
            if tree.is_file(name) and tree.size(name) <= _READ_BYTES:
                found = identify_license(tree.read(name).decode("utf-8", "replace"))
                if found:
                    return found
        except FileProblemError:
            continue
    return ""


PERMISSIVE = (
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT",
    "MIT-0", "NCSA", "Unlicense", "Zlib", "Apache-2.0 WITH LLVM-exception",
)  # fmt: skip
"""Licenses that allow redistribution in a data set with attribution alone."""


class LicenseSettings(StrictModel):
    """Which licenses a row may have. ``allow: null`` takes all; names are SPDX identifiers."""

    allow: list[str] | None = None
    unknown: bool = True
    """Whether rows without a recognized license pass."""


def is_allowed(expression: str, allowed: frozenset[str]) -> bool:
    """Whether an SPDX expression can be met with ``allowed`` licenses (lower case).

    ``OR`` needs one side, ``AND`` both; parentheses are read as written.
    """
    text = expression.strip()
    if text.lower() in allowed:
        return True
    for word, needed in (("OR", any), ("AND", all)):
        parts = _split(text, word)
        if len(parts) > 1:
            return needed(is_allowed(part, allowed) for part in parts)
    if text.startswith("(") and text.endswith(")"):
        return is_allowed(text[1:-1], allowed)
    return False


def license_objection(
    row: Mapping[str, Any], settings: LicenseSettings
) -> tuple[Reason, str] | None:
    """Why the license of ``row`` is not allowed; None when it is."""
    if settings.allow is None:
        return None
    found = (row.get("license") or "").strip()
    if not found:
        if settings.unknown:
            return None
        return Reason.LICENSE_NOT_ALLOWED, "no license was recognized (licenses.unknown is false)"
    if is_allowed(found, frozenset(name.lower() for name in settings.allow)):
        return None
    return Reason.LICENSE_NOT_ALLOWED, f"{found} is not among licenses.allow"


def _split(expression: str, word: str) -> list[str]:
    """``expression`` cut at ``word`` outside parentheses."""
    parts, depth = [[]], 0  # type: tuple[list[list[str]], int]
    for piece in re.findall(r"[()]|[^\s()]+", expression):
        depth += (piece == "(") - (piece == ")")
        if depth == 0 and piece == word:
            parts.append([])
        else:
            parts[-1].append(piece)
    return [" ".join(part) for part in parts]
