"""Checkouts in archives: projects for machines that clone nothing.

``python -m benchmarks.project.given OUT --clones DIR [--list moat.yaml] [NAME ...]`` writes
``OUT/OWNER+NAME.tar.xz`` for each row of the list: its work tree with submodules, its dependencies,
the commit. What git keeps of the past, and pictures, films and sound of more than
:data:`LARGE_MEDIUM` bytes, are left out. ``python -m benchmarks.project --given OUT`` takes them.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.folders import REPOSITORY
from benchmarks.project.cloning import Checkout, CloneFailed, clone
from benchmarks.project.rows import ProjectRow, read_rows

LARGE_MEDIUM = 100_000
_MEDIA = (
    *(".avi", ".bmp", ".gif", ".glb", ".ico", ".ipynb", ".jpeg", ".jpg", ".mov", ".mp3", ".mp4"),
    *(".pdf", ".png", ".ppm", ".psd", ".svg", ".tif", ".tiff", ".wav", ".webm", ".webp"),
)
_TREE, _DEPENDENCIES, _COMMIT = "tree", "dependencies", "commit"


def archive_of(row: ProjectRow, folder: Path) -> Path:
    """Where the archive of ``row`` lies."""
    return folder / f"{row.project.replace('/', '+')}.tar.xz"


def pack(row: ProjectRow, folder: Path, mirrors: Path | None) -> Path:
    """Write the archive of ``row``; returns its path.

    Raises :class:`~benchmarks.project.cloning.CloneFailed`.
    """
    with tempfile.TemporaryDirectory(prefix="cass-given-") as work:
        checkout = clone(row, Path(work), mirrors)
        place = Path(work) / "packed"
        (place / _DEPENDENCIES).mkdir(parents=True)
        checkout.tree.rename(place / _TREE)
        (place / _COMMIT).write_text(checkout.commit)
        for name, source in checkout.dependencies.items():
            shutil.copytree(source, place / _DEPENDENCIES / name, symlinks=True)
        folder.mkdir(parents=True, exist_ok=True)
        path = archive_of(row, folder)
        members = "\n".join(sorted(_members(place)))
        command = ["tar", "-C", str(place), "--no-recursion", "-T-", "-cJf", str(path)]
        subprocess.run(command, input=members, text=True, check=True)
    return path


def unpack(row: ProjectRow, folder: Path, place: Path) -> Checkout:
    """The checkout of ``row`` in its archive, unpacked below ``place``, as a git repository.

    Raises :class:`~benchmarks.project.cloning.CloneFailed`.
    """
    path = archive_of(row, folder)
    if not path.is_file():
        raise CloneFailed(f"{path} is missing: python -m benchmarks.project.given writes it")
    there = place / row.project.replace("/", "+")
    there.mkdir()
    subprocess.run(["tar", "-C", str(there), "-xJf", str(path)], check=True)
    # A build that asks git for a version asks this tree's own, not one of a folder above it.
    git = ["git", "-C", str(there / _TREE), "-c", "user.name=given", "-c", "user.email=given@given"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "given"]):
        subprocess.run([*git, *command], check=True)
    named = (there / _DEPENDENCIES).glob("*")
    return Checkout(
        there / _TREE, (there / _COMMIT).read_text(), {each.name: each for each in named}
    )


def _members(place: Path) -> Iterator[str]:
    for path in place.rglob("*"):
        inside = path.relative_to(place)
        if ".git" not in inside.parts and not _is_large_medium(path):
            yield str(inside)


def _is_large_medium(path: Path) -> bool:
    return path.suffix.lower() in _MEDIA and path.lstat().st_size > LARGE_MEDIUM


def main() -> int:
    """Exit codes: 0 all were packed, 1 some could not be cloned."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.project.given")
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", type=Path, default=REPOSITORY / "benchmarks/project/moat.yaml")
    parser.add_argument("--clones", type=Path)
    chosen = parser.parse_intermixed_args()
    failed = 0
    for row in read_rows(chosen.list):
        if chosen.names and row.project not in chosen.names:
            continue
        try:
            path = pack(row, chosen.out, chosen.clones)
            print(f"{path.stat().st_size / 1e6:8.1f} MB  {row.project}", flush=True)
        except CloneFailed as error:
            failed += 1
            print(f"not packed: {row.project}: {error}", file=sys.stderr)
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
