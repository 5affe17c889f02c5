"""Headers that a build would write from a template (``config.h.in``) and that no build wrote.

A project that could not be configured lacks them, and so does a dependency that was brought and not
built. A dependency is configured by its own CMake first; a template that is left then is configured
with the values that its CMake files state in plain words.
"""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cass_ray.builds.plans import BUILD_FOLDER, ROOT, BuildCommands, configured_alone
from cass_ray.toolchain.sandbox.outputs import read_written

_TEMPLATE = re.compile(r"\.in$|(?<=\.)in\.(?=\w+$)|\.(?:cmake|cmakein|tmpl)$")
_HEADER = re.compile(r"\.(?:h|hh|hpp|hxx|cuh|inc|inl)$", re.IGNORECASE)
_SOURCE = re.compile(r"\.(?:cuh?|hu?|hh|hpp|hxx|c|cc|cpp|cxx|inl|in)$", re.IGNORECASE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_PROJECT = re.compile(
    r"^[ \t]*project[ \t]*\(\s*\"?([\w.+-]+)\"?(?:[^()]*?\bVERSION\s+\"?([0-9][0-9.]*))?",
    re.MULTILINE | re.IGNORECASE,
)
_STATED = re.compile(
    r"^[ \t]*(?:set[ \t]*\(\s*(\w+)\s+(?:\"([^\"$\n;]*)\"|([\w.+/-]+))\s*(?:CACHE\b[^()]*)?\)"
    r"|option[ \t]*\(\s*(\w+)\s+\"[^\"]*\"\s*(ON|OFF|TRUE|FALSE)?\s*\))",
    re.MULTILINE | re.IGNORECASE,
)
_CONFIGURED = re.compile(
    r"^[ \t]*configure_file[ \t]*\(\s*\"?([\w.${}/+-]+)\"?\s+\"?([\w.${}/+-]+)",
    re.MULTILINE | re.IGNORECASE,
)
_WHOLE_VALUE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+\w+[ \t]+@(\w+)@[ \t]*$", re.MULTILINE)
_SWITCH = re.compile(r"(?:^|_)(?:CUDA|GPU)(?:_ENABLED|_SUPPORT)?$")
_FOLDER_VARIABLE = re.compile(r"^\$\{\w+\}/|^\./")
_VERSION_PARTS = ("MAJOR", "MINOR", "PATCH", "TWEAK")
_TEXT_BYTES = 1 << 20
_ALL_BYTES = 256 << 20
_MOST = 64
_SCRIPT_CHARACTERS = 64_000


@dataclass(frozen=True)
class HeaderTemplate:
    """``path`` of the template; ``header`` that is to be written; ``owner``: the folder whose
    CMakeLists.txt has the outermost ``project()`` around it. Paths are of the tree."""

    path: str
    header: str
    owner: str


def unwritten(root: Path, foreign: Iterable[str]) -> list[HeaderTemplate]:
    """Templates of headers that files of the tree include and the tree does not have.

    ``foreign``: folders of other projects in the tree."""
    paths = sorted(_paths(root))
    templates: dict[str, list[tuple[str, str]]] = {}
    for path, header in _templates(root, paths):
        templates.setdefault(posixpath.basename(header), []).append((path, header))
    if not templates:
        return []
    there: dict[str, list[str]] = {}
    for path in paths:
        there.setdefault(posixpath.basename(path), []).append(path)
    found: dict[str, HeaderTemplate] = {}
    folders = sorted(foreign, key=len, reverse=True)
    for name in _included(root, paths, templates):
        if any(_ends(path, name) for path in there.get(posixpath.basename(name), ())):
            continue
        for template, header in templates[posixpath.basename(name)]:
            if _ends(header, name):
                owner = _owner(root, template, folders)
                found.setdefault(template, HeaderTemplate(template, header, owner))
    return list(found.values())[:_MOST]


def _templates(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Templates, each with the header that it is for: by its own name, or as CMake's files say."""
    there = set(paths)
    for path in paths:
        name = _TEMPLATE.sub("", path)
        if name != path and _HEADER.search(name):
            yield path, name
        if posixpath.basename(path) == "CMakeLists.txt":
            folder = posixpath.dirname(path)
            for source, target in _CONFIGURED.findall(_text(root / path)):
                inside = [
                    posixpath.normpath(posixpath.join(folder, _FOLDER_VARIABLE.sub("", each)))
                    for each in (source, target)
                ]
                if inside[0] in there and _HEADER.search(target) and "$" not in inside[1]:
                    yield inside[0], inside[1]


def configured_dependencies(
    root: Path, templates: Iterable[HeaderTemplate], foreign: Iterable[str]
) -> Iterator[BuildCommands]:
    """Plans that configure, and do not build, each dependency that owns one of ``templates``."""
    folders = tuple(f"{folder}/" for folder in foreign)
    for owner in sorted({each.owner for each in templates if f"{each.owner}/".startswith(folders)}):
        if (root / owner / "CMakeLists.txt").is_file():
            yield configured_alone(root, owner)


def written_as_stated(root: Path, templates: Iterable[HeaderTemplate]) -> BuildCommands | None:
    """The plan that configures ``templates`` with what their owners' CMake files state; None where
    there are none."""
    commands, size = list[str](), 0
    for template in templates:
        command = _configures(root, template)
        size += len(command)
        if size > _SCRIPT_CHARACTERS:
            break
        commands.append(command)
    return BuildCommands("templates", ".", tuple(commands)) if commands else None


def _configures(root: Path, template: HeaderTemplate) -> str:
    """A shell command, for the sandbox: the tree is a stranger's to write."""
    text = _text(root / template.path)
    stated = {name: _unstated(name) for name in _WHOLE_VALUE.findall(text)}
    stated |= {name: value for name, value in _stated(root, template) if name in text}
    target = f"{BUILD_FOLDER}/templates/{template.header}"
    lines = [f"set({name} [====[{value}]====])" for name, value in sorted(stated.items())]
    places = " ".join(f"[====[{ROOT}/{path}]====]" for path in (template.path, target))
    lines.append(f"configure_file({places})")
    script = shlex.quote("\n".join(lines))
    return f"printf '%s\\n' {script} > /tmp/template.cmake; cmake -P /tmp/template.cmake"


def _unstated(name: str) -> str:
    """The value of a macro that a configure script finds out: conditions need one. CUDA is there;
    what else the script looks for is not."""
    return "1" if _SWITCH.search(name) else "0"


def _stated(root: Path, template: HeaderTemplate) -> Iterator[tuple[str, str]]:
    """Variables and their values, the outermost file's first: later ones win."""
    inside = posixpath.relpath(template.path, template.owner)
    folders = [posixpath.join(template.owner, str(each)) for each in Path(inside).parents]
    for folder in reversed(folders):
        text = _text(root / folder / "CMakeLists.txt")
        if (declared := _PROJECT.search(text)) is not None:
            yield from _of_project(declared[1], declared[2] or "")
        for match in _STATED.finditer(text):
            name, quoted, plain, option, default = match.groups()
            if option:
                yield option, default or "OFF"
            else:
                yield name, quoted if quoted is not None else plain


def _of_project(name: str, version: str) -> Iterator[tuple[str, str]]:
    yield "PROJECT_NAME", name
    yield "CMAKE_PROJECT_NAME", name
    if version:
        numbers = version.split(".")
        for owner in ("PROJECT", "CMAKE_PROJECT", name):
            yield f"{owner}_VERSION", version
            for part, number in zip(_VERSION_PARTS, numbers, strict=False):
                yield f"{owner}_VERSION_{part}", number


def _included(root: Path, paths: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    """Names in ``#include`` lines whose last part is one of ``names``, each once."""
    wanted = frozenset(names)
    seen = set[str]()
    total = 0
    for path in paths:
        if not _SOURCE.search(path):
            continue
        text = _text(root / path)
        total += len(text)
        if total > _ALL_BYTES:
            return
        for name in _INCLUDE.findall(text):
            if posixpath.basename(name) in wanted and name not in seen:
                seen.add(name)
                yield name


def _ends(path: str, name: str) -> bool:
    plain = posixpath.normpath(name)
    while plain.startswith("../"):
        plain = plain[3:]
    return f"/{path}".endswith(f"/{plain}")


def _owner(root: Path, path: str, foreign: Iterable[str]) -> str:
    """The dependency that ``path`` lies in; else the outermost folder with a ``project()``."""
    for folder in foreign:
        if path.startswith(f"{folder}/"):
            return folder
    for parent in reversed(Path(path).parents):
        if _PROJECT.search(_text(root / parent / "CMakeLists.txt")):
            return parent.as_posix()
    return "."


def _paths(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "CMakeFiles")]
        for name in names:
            path = Path(folder) / name
            if not path.is_symlink():
                yield path.relative_to(root).as_posix()


def _text(path: Path) -> str:
    return (read_written(path, _TEXT_BYTES) or b"").decode("utf-8", "replace")
