"""CUDA files that are parts of others, which include them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterable

from cass_ray.corpus.reading.filetree import FileProblemError, FileTree
from cass_ray.corpus.reading.include_paths import HEADER_SUFFIXES
from cass_ray.corpus.reading.includes import join_inside

_INCLUDED = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+\.cu)[">]', re.MULTILINE)
_INCLUDING = (".cu", ".cpp", ".cc", ".cxx", ".c", *HEADER_SUFFIXES)


def fragments(
    tree: FileTree, compiled: Container[str], largest: int, folders: Iterable[str]
) -> dict[str, str]:
    """Each ``.cu`` file of ``tree`` that is not ``compiled`` but part of a file that is, and the
    file that includes it.

    Included files are looked for beside the other file, then in ``folders``. Files of more than
    ``largest`` bytes are not read.
    """
    places = tuple(folders)
    inside: dict[str, list[str]] = {}
    for listed in tree.walk():
        if listed.problem is None and listed.path.lower().endswith(_INCLUDING):
            for name in _names(tree, listed.path, largest):
                for folder in (posixpath.dirname(listed.path), *places):
                    path = join_inside(folder, name)
                    if path and tree.is_file(path):
                        inside.setdefault(listed.path, []).append(path)
                        break
    parts: dict[str, str] = {}
    left = [path for path in inside if path in compiled]
    while left:
        includer = left.pop()
        for path in inside.get(includer, ()):
            if path not in parts and path not in compiled:
                parts[path] = includer
                left.append(path)
    return parts


def _names(tree: FileTree, path: str, largest: int) -> list[str]:
    try:
        data = tree.read(path) if tree.size(path) <= largest else b""
    except FileProblemError:
        return []
    return [each.decode(errors="replace") for each in _INCLUDED.findall(data)]
