"""Text that the translation puts into several files of a project, as one header for all of them.

A file on its own must hold what it needs. In a project the same hundred lines in each file make a
patch that nobody reads. The header lies in the folder that all of them are in or below. What is
read as text, or copied to another place, keeps its own.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path

from cass_ray.translate.project.build_files import configures
from cass_ray.translate.project.tree import COMPILED, SUFFIXES, is_source, source_files
from cass_ray.translate.rules.tables import snippets

_FEWEST_FILES = 2
_READ_AS_TEXT = re.compile(r"\b(?:(?:hip|nv)rtcCreateProgram|load_inline|RawModule|RawKernel)\b")
"""What compiles text while it runs, which finds no header beside it."""
_HEADER = r"(?:\.(?:h|hh|hpp|hxx|cuh|inl)\b|\$[{(]\w*(?:HEADER|HDR|INC|FILES|_H)\w*[)}])"
_COPIED = re.compile(
    rf"\binstall\s*\([^()]*\bFILES\b[^()]*{_HEADER}|\bFILES_MATCHING\b|\bPUBLIC_HEADER\b"
    rf"|\b(?:file\s*\(\s*(?:COPY|INSTALL)\b|configure_file\s*\()[^()]*{_HEADER}"
    rf"|^\t[^\n]*(?<![\w.-])(?:cp|install)\s[^\n]*{_HEADER}",
    re.IGNORECASE | re.MULTILINE,
)
_INSTALLED = re.compile(
    r"\binstall\s*\(\s*DIRECTORY\b|\bcopy_?(?:tree|directory)\b|\bcp\s+-\w*[rRa]", re.IGNORECASE
)
"""What copies a folder of headers, so that one finds nothing above it."""


def share_snippets(root: Path) -> list[Path]:
    """Make headers of what files below ``root`` have in common; returns them.

    Nothing is done where text is compiled while a program runs. Headers of projects whose build
    files copy some keep their own text, and those of folders that are installed get a header in
    each folder.
    """
    texts = _texts(root)
    if _compiles_text(texts):
        return []
    wanted = COMPILED if _copies_headers(texts) else SUFFIXES
    installed = _installs_folders(texts)
    made = []
    # A long one may hold a short one.
    for name, snippet in sorted(snippets().items(), key=lambda item: -len(item[1])):
        holders: defaultdict[Path, list[Path]] = defaultdict(list)
        for path, text in texts.items():
            if path.suffix in wanted and snippet in text:
                apart = installed and path.suffix not in COMPILED
                holders[path.parent if apart else root].append(path)
        for paths in holders.values():
            header = Path(os.path.commonpath([path.parent for path in paths])) / f"cass_{name}.h"
            if len(paths) < _FEWEST_FILES or header.exists():
                continue
            header.write_text(snippet, "utf-8")
            made.append(header)
            for path in paths:
                there = Path(os.path.relpath(header, path.parent)).as_posix()
                texts[path] = texts[path].replace(snippet, f'#include "{there}"\n', 1)
                path.write_text(texts[path], "utf-8", newline="")
    return made


def headers_leave(root: Path) -> bool:
    """Whether a build below ``root`` copies or installs headers, which find nothing above them."""
    texts = _texts(root)
    return _copies_headers(texts) or _installs_folders(texts)


def _copies_headers(texts: dict[Path, str]) -> bool:
    return any(_COPIED.search(text) for path, text in texts.items() if configures(path.name))


def _installs_folders(texts: dict[Path, str]) -> bool:
    builds = (text for path, text in texts.items() if configures(path.name) or path.suffix == ".py")
    return any(map(_INSTALLED.search, builds))


def compiles_its_text(root: Path) -> bool:
    """Whether a source below ``root`` compiles text while its program runs."""
    return _compiles_text(_texts(root))


def _compiles_text(texts: dict[Path, str]) -> bool:
    return any(_READ_AS_TEXT.search(text) for text in texts.values())


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
