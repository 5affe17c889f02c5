"""Which headers of a project its build copies or installs: there they find nothing beside them.

They are known by their names, as build files list them, or by the folder that is copied. Where a
list is not understood, they are all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.translate.project.build_files import configures

Texts = Mapping[Path, str]

_NAME = re.compile(r"[\w.+-]+\.(?:h|hh|hpp|hxx|cuh|inl)(?![\w.])")
_HEADER = rf"(?:{_NAME.pattern}|\$[{{(]\w*(?:HEADER|HDR|INC|FILES|_H)\w*[)}}])"
_COPIES = re.compile(
    rf"\binstall\s*\([^()]*\bFILES\b[^()]*{_HEADER}[^()]*|\bPUBLIC_HEADER\b[^()]*"
    rf"|\bfile\s*\(\s*(?:COPY|INSTALL)\b[^()]*{_HEADER}[^()]*"
    rf"|\bconfigure_file\s*\(\s*[^\s()]*{_HEADER}"
    rf"|^\t[^\n]*(?<![\w.-])(?:cp|install)\s[^\n]*{_HEADER}[^\n]*(?=\s\S+$)",
    re.IGNORECASE | re.MULTILINE,
)
_TARGET = re.compile(r"\b(?:DESTINATION|COMPONENT|RENAME)\b.*", re.DOTALL)
_LIST = re.compile(r"\$[{(](\w+)[)}](?![/.\w])")
_WHOLE_FOLDER = re.compile(
    r"\binstall\s*\(\s*DIRECTORY\b|\bcopy_?(?:tree|directory)\b|\bcp\s+-\w*[rRa]", re.IGNORECASE
)
_FOLDERS = re.compile(
    r"\binstall\s*\(\s*DIRECTORY((?:\s+\"?[^\s()\"]*[^\s()\"A-Z_][^\s()\"]*\"?)+)"
)
_HERE = re.compile(r"^\$\{(?:CMAKE_CURRENT_(?:SOURCE|LIST)|(?:CMAKE|PROJECT)_SOURCE)_DIR\}/?")
_ELSEWHERE = re.compile(r"\.\./|\$\{(?!CMAKE_CURRENT_)")


@dataclass
class Headers:
    """Some of a project's headers: by name, in folders, or all."""

    names: set[str] = field(default_factory=set)
    folders: list[Path] = field(default_factory=list)
    all: bool = False

    def __contains__(self, path: Path) -> bool:
        inside = any(folder in path.parents for folder in self.folders)
        return self.all or inside or path.name in self.names


def copied_headers(texts: Texts) -> Headers:
    """Headers that build files copy one by one."""
    found, builds = Headers(), {path: texts[path] for path in texts if configures(path.name)}
    for text in builds.values():
        for match in _COPIES.finditer(text):
            _add(_TARGET.sub("", match[0]), builds, found, set())
    return found


def installed_headers(root: Path, texts: Texts) -> Headers:
    """Headers in folders below ``root`` that are copied whole."""
    found = Headers()
    for path, text in texts.items():
        if not (configures(path.name) or path.suffix == ".py"):
            continue
        for match in _WHOLE_FOLDER.finditer(text):
            named = _FOLDERS.match(text, match.start())
            places = [_folders(root, path, word) for word in named[1].split()] if named else []
            found.folders += (folder for each in places for folder in each)
            found.all |= not places or not all(places)
    return found


def _folders(root: Path, build_file: Path, word: str) -> list[Path]:
    """The folders below ``root`` that ``word`` of a file of CMake may mean."""
    below = _HERE.sub("", word.strip('"'))
    places = (build_file.parent / below, root / below)
    return [folder for folder in places if folder.is_dir() and folder != root]


def _add(listed: str, builds: Texts, found: Headers, seen: set[str]) -> None:
    """Add what the text ``listed`` names, with what is in the variables that it names."""
    found.names.update(_NAME.findall(listed))
    for variable in set(_LIST.findall(listed)) - seen:
        seen.add(variable)
        values = list(_values(variable, builds))
        found.all |= not values
        for path, value in values:
            if "*" not in value:
                _add(value, builds, found, seen)
            elif _ELSEWHERE.search(value):
                found.all = True
            else:
                found.folders.append(path.parent)


def _values(variable: str, builds: Texts) -> Iterator[tuple[Path, str]]:
    """Yield each value that a build file gives ``variable``, behind the file's path."""
    name = re.escape(variable)
    defined = re.compile(
        rf"\b(?:set|list\s*\(\s*APPEND|file\s*\(\s*GLOB(?:_RECURSE)?)\s*\(?\s*{name}\b([^()]*)"
        rf"|^{name}\s*[:+?]?=(.*)$",
        re.IGNORECASE | re.MULTILINE,
    )
    for path, text in builds.items():
        for match in defined.finditer(text):
            yield path, match[1] or match[2] or ""
