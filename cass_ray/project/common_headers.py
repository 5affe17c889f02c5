"""Text that the translation puts into several files of a project, as one header for all of them.

A file on its own must hold what it needs. In a project the same hundred lines in each file make a
patch that nobody reads. The header lies in the folder that all of them are in or below. What is
read as text, or copied to another place, keeps its own.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from cass_ray.project.leaving_headers import copied_headers, installed_headers
from cass_ray.translate.project.build_files import configures
from cass_ray.translate.project.templates import is_for_programs
from cass_ray.translate.project.tree import COMPILED, SUFFIXES, is_source, source_files
from cass_ray.translate.rules.tables import snippets

_FEWEST_FILES = 2
_READ_AS_TEXT = re.compile(r"\b(?:(?:hip|nv)rtcCreateProgram|load_inline|RawModule|RawKernel)\b")
"""What compiles text while it runs, which finds no header beside it."""


def share_snippets(root: Path) -> list[Path]:
    """Make headers of what files below ``root`` have in common; returns them.

    Nothing is done where text is compiled while a program runs. Headers of projects whose build
    files copy some keep their own text, and where folders are installed each of them gets a header
    of its own.
    """
    texts = _texts(root)
    if _compiles_text(texts):
        return []
    copied, installed = copied_headers(texts), installed_headers(root, texts)
    made: list[Path] = []
    # A long one may hold a short one.
    for name, snippet in sorted(snippets().items(), key=lambda item: -len(item[1])):
        holders: defaultdict[tuple[Path, str], list[Path]] = defaultdict(list)
        inside: list[Path] = []
        for path, text in texts.items():
            is_compiled = path.suffix in COMPILED
            stays = path.suffix not in SUFFIXES or (path in copied and not is_compiled)
            if stays or snippet not in text:
                continue
            if is_compiled or path not in installed:
                inside.append(path)
                continue
            within = [folder for folder in installed.folders if folder in path.parents]
            alone = max(within, key=lambda folder: len(folder.parts), default=path.parent)
            # A pattern that finds these files finds their header.
            holders[alone, path.suffix].append(path)
        headers = []
        for (_, suffix), paths in holders.items():
            if header := _header(paths, f"cass_{name}{suffix}", snippet):
                headers.append(header)
                _include(header, paths, snippet, texts)
        if not headers and (header := _header(inside, f"cass_{name}.h", snippet)):
            headers.append(header)
        if headers:
            _include(headers[0], inside, snippet, texts)
        made += headers
    return made


def _header(paths: list[Path], name: str, snippet: str) -> Path | None:
    """A header of ``snippet`` in the folder that ``paths`` are in or below, if it is worth one."""
    if len(paths) < _FEWEST_FILES:
        return None
    header = Path(os.path.commonpath([path.parent for path in paths])) / name
    if header.exists():
        return None
    header.write_text(snippet, "utf-8")
    return header


def _include(header: Path, paths: list[Path], snippet: str, texts: dict[Path, str]) -> None:
    for path in paths:
        there = Path(os.path.relpath(header, path.parent)).as_posix()
        texts[path] = texts[path].replace(snippet, f'#include "{there}"\n', 1)
        path.write_text(texts[path], "utf-8", newline="")


def headers_leave(root: Path) -> Callable[[str], bool]:
    """Whether a header below ``root`` is one that a build copies or installs, by its name there."""
    texts = _texts(root)
    copied, installed = copied_headers(texts), installed_headers(root, texts)
    return lambda name: root / name in copied or root / name in installed


def compiles_its_text(root: Path) -> bool:
    """Whether a program below ``root`` compiles text while it runs, or writes what is compiled."""
    return _compiles_text(_texts(root))


def _compiles_text(texts: dict[Path, str]) -> bool:
    return any(
        is_for_programs(path.name) or _READ_AS_TEXT.search(text) for path, text in texts.items()
    )


def _texts(root: Path) -> dict[Path, str]:
    return {path: text for path in source_files(root) if (text := _text(path)) is not None}


def _text(path: Path) -> str | None:
    """The content of a source, a build file or a module of Python."""
    if not (is_source(path.name) or configures(path.name) or path.suffix == ".py"):
        return None
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        return None
