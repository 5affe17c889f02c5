"""The folder that an agent works in: every path that it names lies inside, or is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cass_ray.translate.project.tree import SUFFIXES

WRITTEN_SUFFIXES = SUFFIXES | {".hip"}
"""Endings of the sources that a tool may write."""
FILE_BYTES = 4 << 20
"""The largest file that a tool reads."""


class WorkspaceError(ValueError):
    """A path that a tool does not take; the message says why."""


@dataclass(frozen=True)
class WorkspaceRoot:
    """Paths of an agent are relative to ``root``; links are followed before they are judged.

    This keeps a mistaken agent in its folder. It is no sandbox against programs that run at the
    same time under the same user and exchange folders for links.
    """

    root: Path

    def path(self, name: str) -> Path:
        """``name`` inside the root, whether it exists or not. Raises :class:`WorkspaceError`."""
        if not name or "\0" in name:
            raise WorkspaceError("give a path inside the workspace")
        root = self.root.resolve()
        try:
            resolved = (root / name).resolve()
        except (OSError, RuntimeError) as error:
            raise WorkspaceError(f"{name}: {error}") from None
        if not resolved.is_relative_to(root):
            raise WorkspaceError(f"{name} lies outside the workspace {root}")
        return resolved

    def visible(self, name: str) -> Path:
        """``name`` inside the root, where neither it nor what it links to has a hidden part."""
        path = self.path(name)
        for parts in (Path(name).parts, path.relative_to(self.root.resolve()).parts):
            if any(part.startswith(".") and part not in (".", "..") for part in parts):
                raise WorkspaceError(f"{name} has a hidden part: tools write visible files only")
        return path

    def file(self, name: str) -> Path:
        """An existing file of at most :data:`FILE_BYTES`."""
        path = self.path(name)
        if not path.is_file():
            raise WorkspaceError(f"{name} is not a file in the workspace {self.root.resolve()}")
        if path.stat().st_size > FILE_BYTES:
            raise WorkspaceError(f"{name} is larger than {FILE_BYTES >> 20} MiB")
        return path

    def folder(self, name: str) -> Path:
        path = self.path(name)
        if not path.is_dir():
            raise WorkspaceError(f"{name} is not a folder in the workspace {self.root.resolve()}")
        return path

    def new_file(self, name: str, *, overwrite: bool = False) -> Path:
        """A place for a source file; its folder is made. What exists is kept unless ``overwrite``.

        Other files are refused: what is written to ``.git/config`` or ``setup.py`` runs later.
        """
        path = self.visible(name)
        if path.suffix.lower() not in WRITTEN_SUFFIXES:
            endings = ", ".join(sorted(WRITTEN_SUFFIXES))
            raise WorkspaceError(f"{name} is no source file: end it with one of {endings}")
        if path.is_dir() or (path.exists() and not overwrite):
            raise WorkspaceError(f"{name} exists: choose another name, or set overwrite")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def shown(self, path: Path) -> str:
        """``path`` as the agent names it."""
        return path.resolve().relative_to(self.root.resolve()).as_posix() or "."
