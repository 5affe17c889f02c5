"""A tree with files laid over it: what a project's build wrote beside what is in its repository."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cass_ray.corpus.reading.filetree import FileTree, Listed, path_problem


@dataclass(frozen=True)
class OverlaidTree:
    """``tree`` with the files ``over`` (path -> content) in it, which win over its own."""

    tree: FileTree
    over: Mapping[str, bytes]

    def walk(self) -> Iterator[Listed]:
        """The files of the tree, then those that only the overlay has."""
        seen = set()
        for listed in self.tree.walk():
            seen.add(listed.path)
            yield Listed(listed.path) if listed.path in self.over else listed
        for path in sorted(self.over):
            if path not in seen:
                yield Listed(path, path_problem(path))

    def is_file(self, path: str) -> bool:
        return path in self.over or self.tree.is_file(path)

    def is_directory(self, path: str) -> bool:
        normal = posixpath.normpath(path)
        return self.tree.is_directory(path) or any(
            name.startswith(f"{normal}/") for name in self.over
        )

    def size(self, path: str) -> int:
        content = self.over.get(path)
        return len(content) if content is not None else self.tree.size(path)

    def read(self, path: str) -> bytes:
        content = self.over.get(path)
        return content if content is not None else self.tree.read(path)
