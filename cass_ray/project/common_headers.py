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
from cass_ray.translate.project.templates import is_for_programs
from cass_ray.translate.project.tree import COMPILED, SUFFIXES, is_source, source_files
from cass_ray.translate.rules.tables import snippets

_FEWEST_FILES = 2
_READ_AS_TEXT = re.compile(r"\b(?:(?:hip|nv)rtcCreateProgram|load_inline|RawModule|RawKernel)\b")
"""What compiles text while it runs, which finds no header beside it."""
_HEADER = r"(?:\.(?:h|hh|hpp|hxx|cuh|inl)(?![\w.])|\$[{(]\w*(?:HEADER|HDR|INC|FILES|_H)\w*[)}])"
_COPIED = re.compile(
    rf"\binstall\s*\([^()]*\bFILES\b[^()]*{_HEADER}|\bPUBLIC_HEADER\b"
    rf"|\bfile\s*\(\s*(?:COPY|INSTALL)\b[^()]*{_HEADER}|\bconfigure_file\s*\(\s*[^\s()]*{_HEADER}"
    rf"|^\t[^\n]*(?<![\w.-])(?:cp|install)\s[^\n]*{_HEADER}",
    re.IGNORECASE | re.MULTILINE,
)
_INSTALLED = re.compile(
    r"\binstall\s*\(\s*DIRECTORY\b|\bcopy_?(?:tree|directory)\b|\bcp\s+-\w*[rRa]", re.IGNORECASE
)
"""What copies a folder of headers, so that one finds nothing above it."""
_FOLDERS = re.compile(
    r"\binstall\s*\(\s*DIRECTORY((?:\s+\"?[^\s()\"]*[^\s()\"A-Z_][^\s()\"]*\"?)+)"
)
_HERE = re.compile(r"^\$\{(?:CMAKE_CURRENT_(?:SOURCE|LIST)|(?:CMAKE|PROJECT)_SOURCE)_DIR\}/?")


def share_snippets(root: Path) -> list[Path]:
    """Make headers of what files below ``root`` have in common; returns them.

    Nothing is done where text is compiled while a program runs. Headers of projects whose build
    files copy some keep their own text, and where folders are installed each of them gets a header
    of its own.
    """
    texts = _texts(root)
    if _compiles_text(texts):
        return []
    wanted = COMPILED if _copies_headers(texts) else SUFFIXES
    installed = _installs_folders(texts)
    folders = _installed_folders(root, texts)
    made: list[Path] = []
    # A long one may hold a short one.
    for name, snippet in sorted(snippets().items(), key=lambda item: -len(item[1])):
        holders: defaultdict[tuple[Path, str], list[Path]] = defaultdict(list)
        inside: list[Path] = []
        for path, text in texts.items():
            if path.suffix not in wanted or snippet not in text:
                continue
            if not installed or path.suffix in COMPILED:
                inside.append(path)
                continue
            within = [folder for folder in folders if folder in path.parents]
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


def headers_leave(root: Path) -> bool:
    """Whether a build below ``root`` copies or installs headers, which find nothing above them."""
    texts = _texts(root)
    return _copies_headers(texts) or _installs_folders(texts)


def _copies_headers(texts: dict[Path, str]) -> bool:
    return any(_COPIED.search(text) for path, text in texts.items() if configures(path.name))


def _installs_folders(texts: dict[Path, str]) -> bool:
    builds = (text for path, text in texts.items() if configures(path.name) or path.suffix == ".py")
    return any(map(_INSTALLED.search, builds))


def _installed_folders(root: Path, texts: dict[Path, str]) -> list[Path]:
    """Folders below ``root`` that its files of CMake install whole."""
    named = (
        place / _HERE.sub("", word.strip('"'))
        for path, text in texts.items()
        if configures(path.name)
        for match in _FOLDERS.finditer(text)
        for word in match[1].split()
        for place in (path.parent, root)
    )
    return [folder for folder in named if folder.is_dir() and folder != root]


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
