"""Recognises the licence of a repository from the text of its licence file."""

from __future__ import annotations

import re

from cass_ray.corpus.filetree import FileProblemError, FileTree

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
    """The SPDX identifier of a licence text, or "" when it is not one of those known here."""
    tag = _SPDX.search(text)
    if tag:
        return tag[1].strip()
    flat = " ".join(text.lower().split())
    for identifier, phrases in _MARKERS:
        if all(phrase in flat for phrase in phrases):
            return identifier
    return ""


def license_of_tree(tree: FileTree) -> str:
    """The licence named by the licence file at the root of ``tree``, or "" without one."""
    for name in _FILES:
        try:
            if tree.is_file(name) and tree.size(name) <= _READ_BYTES:
                found = identify_license(tree.read(name).decode("utf-8", "replace"))
                if found:
                    return found
        except FileProblemError:
            continue
    return ""
