"""What a prelude was made of, and whether a unit's tree has the same."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from cass_ray.cache import digest

_WORD = re.compile(r"(?:\\.|[^\s\\])+")
_ESCAPED = re.compile(r"\\([\\ #])")


@dataclass(frozen=True)
class PreludeFiles:
    """The files that a compiler read. ``tree``: path in the tree, digest of the content.

    ``outside``: path, size and time of change. ``same_names``: further files of the tree that have
    the name of one that was read: the compiler passed them over.
    """

    tree: dict[str, str]
    outside: dict[str, tuple[int, int]]
    same_names: list[str]

    @classmethod
    def read(cls, dependencies: str, main: str, root: Path, inside: Path) -> PreludeFiles | None:
        """Of the rule of ``make`` in ``dependencies``, for the tree ``root`` seen at ``inside``.

        ``main``, the file that was compiled, is left out. None where something is not there.
        """
        tree, outside = {}, {}
        for word in _WORD.findall(dependencies.partition(":")[2].replace("\\\n", " ")):
            path = os.path.normpath(inside / _ESCAPED.sub(r"\1", word).replace("$$", "$"))
            in_tree = Path(path).is_relative_to(inside)
            if in_tree and (name := os.path.relpath(path, inside)) != main:
                tree[name] = _content(root / name)
            elif not in_tree:
                outside[path] = _state(path)
        if not all(tree.values()) or not all(any(state) for state in outside.values()):
            return None
        same_names = _same_names(root, (*tree, *outside)) - tree.keys()
        return cls(tree, outside, sorted(same_names))

    def fit(self, root: Path) -> bool:
        """Whether a compiler that looks into ``root`` reads the same."""
        if any(_content(root / name) != content for name, content in self.tree.items()):
            return False
        if any(_state(path) != tuple(state) for path, state in self.outside.items()):
            return False
        there = _same_names(root, (*self.tree, *self.outside))
        return there <= {*self.tree, *self.same_names}

    def to_json(self) -> str:
        """For :meth:`from_json`."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> PreludeFiles:
        """Raises ``ValueError`` and ``TypeError``."""
        return cls(**json.loads(text))


def _content(path: Path) -> str:
    try:
        return digest([path.read_bytes()])
    except OSError:
        return ""


def _state(path: str) -> tuple[int, int]:
    try:
        status = Path(path).stat()
    except OSError:
        return (0, 0)
    return (status.st_size, status.st_mtime_ns)


def _same_names(root: Path, names: Iterable[str]) -> set[str]:
    """Files below ``root`` that are called as one of ``names`` is."""
    wanted = {Path(name).name for name in names}
    return {
        str(Path(folder, name).relative_to(root))
        for folder, _, files in os.walk(root)
        for name in wanted.intersection(files)
    }
