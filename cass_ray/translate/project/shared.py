"""One source for both vendors: CUDA's text, and HIP's only where it is more than another name.

A tree and its translation become one tree. Names such as ``cudaMalloc`` stay; a header gives them
HIP's meaning where the compiler is AMD's. Whatever else the translation changed stands beside what
it was, between ``#ifdef CASS_HIP``, ``#else`` and ``#endif``. The preprocessor makes CUDA's tokens
of the result for NVIDIA's compiler, and for AMD's those of the translation.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path

from cass_ray.translate.project.hunks import Bound, SharedError, TextUnit, ended, hunks, opcodes
from cass_ray.translate.project.switches import (
    VendorSwitch,
    is_build_file,
    share_build_file,
    switch_of,
)
from cass_ray.translate.project.templates import is_template
from cass_ray.translate.project.tree import COMPILED, STATE, is_source, source_files
from cass_ray.translate.rules.text import SourceText, opaque, split_mark

HEADER = "cuda_hip.h"
MACRO = "CASS_HIP"
_BY_AMD = "defined(__HIP__) || defined(__HIP_PLATFORM_AMD__)"
_OF_DEVICES = re.compile(r"__host__|__device__|\b(?:cuda|hip)_runtime")

_TOKEN = re.compile(r"\w+|<<<|>>>|\\\r?\n|[^\w\s]")
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)")
_BOUNDS = {
    **dict.fromkeys(("if", "ifdef", "ifndef"), Bound.OPENS),
    **dict.fromkeys(("else", "elif", "elifdef", "elifndef"), Bound.DIVIDES),
    "endif": Bound.CLOSES,
}
_DEFINED = re.compile(r"\s*#\s*define\s+(\w+(?:\([^()]*\))?)")
_CUDA_NAME = re.compile(
    r"cu[A-Z]\w*|(?:cuda|cublas|cufft|curand|cusparse|cusolver|nvrtc)[A-Z_]\w*"
    r"|CU_\w+|(?:CUDA|CUBLAS|CUFFT|CURAND|CUSPARSE|CUSOLVER|NVRTC)_\w+"
)
"""Names that nothing but CUDA's own headers give: a macro of such a name changes no other code."""

_HEADER_TEXT = """\
// The names of CUDA that this project uses, for AMD's compiler. Include it before any of them.
#pragma once
"""
_NAMES = """\
#if {by_amd}
#define {macro} 1
#if defined(__HIP__)
#include <hip/hip_runtime.h>
#endif
{names}#endif
"""
_RUNTIME = f"#ifdef {MACRO}\n#include <hip/hip_runtime.h>\n#endif\n"
"""What nvcc includes by itself in files of CUDA, and the header in files of HIP."""


def share_tree(
    original: Path,
    translated: Path,
    output: Path,
    *,
    headers_leave: Callable[[str], bool] = lambda name: False,
) -> tuple[VendorSwitch, tuple[str, ...]]:
    """Write to ``output`` one tree for both vendors; what lay there goes.

    ``translated`` is the translation of ``original``. Files that are neither C, C++ or CUDA source
    nor build files of CMake or make are as in ``translated``. Each that ``headers_leave`` says
    leaves its place has the names that it uses, since it finds no header of the tree there.
    Returns what makes the build one for AMD, and which files of the original are in HIP's form
    alone.

    Raises :class:`~cass_ray.translate.project.hunks.SharedError`.
    """
    if (original / HEADER).exists():
        raise SharedError(f"{HEADER} is in the project already")
    shutil.rmtree(output, ignore_errors=True)
    pairs: dict[str, tuple[str, str]] = {}
    builds: dict[str, tuple[str, str]] = {}
    lost: list[str] = []
    for path in source_files(translated):
        name = path.relative_to(translated).as_posix()
        if name == STATE:
            continue
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, output / name)
        before = original / name
        if before.is_file() and is_source(name):
            pairs[name] = (_read(before), _read(path))
        elif before.is_file() and is_build_file(name):
            builds[name] = (_read(before), _read(path))
        elif before.is_file() and before.read_bytes() != path.read_bytes():
            lost.append(name)
    names = common_names(pairs)
    switch = switch_of(builds)
    for name, (cuda, hip) in (*builds.items(), *pairs.items()):
        if cuda == hip:
            continue
        try:
            if name in builds:
                text = share_build_file(name, cuda, hip, switch)
            else:
                leaves = Path(name).suffix not in COMPILED and headers_leave(name)
                if leaves or is_template(name):  # what is made of one may lie anywhere
                    used = {token: names[token] for token in _tokens(cuda) if token in names}
                    opening = _names_text(used)
                else:
                    header = Path(os.path.relpath(HEADER, Path(name).parent)).as_posix()
                    opening = f'#include "{header}"\n'
                text = share_file(cuda, hip, names, opening)
                if name.endswith(".cu"):
                    text = text.replace(opening + _RUNTIME, opening, 1)
        except SharedError as error:
            raise SharedError(f"{name}: {error}") from error
        (output / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    (output / HEADER).write_text(header_text(names))
    return switch, tuple(lost)


def header_text(names: Mapping[str, str]) -> str:
    """The header that gives ``names`` of CUDA HIP's meaning."""
    return _HEADER_TEXT + _names_text(names)


def _names_text(names: Mapping[str, str]) -> str:
    lines = (f"#define {cuda} {hip}\n" for cuda, hip in sorted(names.items()))
    return _NAMES.format(macro=MACRO, by_amd=_BY_AMD, names="".join(lines))


def common_names(pairs: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """CUDA's names and HIP's, of files and their translations, that a macro may stand for.

    Those with one meaning in all files: a name that stays anywhere, or that becomes two, is none.
    """
    found: dict[str, set[str]] = {}
    staying: set[str] = set()
    for cuda, hip in pairs.values():
        staying.update(_tokens(hip))
        if cuda == hip:
            continue
        before, after = _units(cuda), _units(hip)
        for part in opcodes([unit.text for unit in before], [unit.text for unit in after]):
            if not part.same:
                old, new = before[part.a : part.b], after[part.c : part.d]
                _collect(found, _all_tokens(old), _all_tokens(new))
    return {
        name: next(iter(targets))
        for name, targets in found.items()
        if len(targets) == 1 and name not in staying
    }


def share_repair(text: str, repaired: str) -> str:
    """``text`` with what a repair for AMD's compiler changed beside it, spaces too.

    Raises :class:`~cass_ray.translate.project.hunks.SharedError`.
    """
    by = "defined(__HIP__)" if gives_sides(text, repaired) else _BY_AMD
    return _shared(text, repaired, "", lambda unit, _: (unit.text,), {}, by)


def gives_sides(text: str, repaired: str) -> bool:
    """Whether a repair says for hosts and devices what stood in a file for hosts alone, perhaps.

    Their compilers do not know these words.
    """
    return "__host__" in repaired and _OF_DEVICES.search(text) is None


def share_file(cuda: str, hip: str, names: Mapping[str, str], opening: str) -> str:
    """One text of a file and its translation; its ``opening`` gives ``names`` HIP's meaning.

    Raises :class:`SharedError` where conditions of the preprocessor do not end.
    """
    return _shared(cuda, hip, opening, _key, names)


def _shared(
    cuda: str,
    hip: str,
    opening_text: str,
    key: Callable[[TextUnit, Mapping[str, str]], tuple[str, ...]],
    names: Mapping[str, str],
    by: str = _BY_AMD,
) -> str:
    mark, cuda = split_mark(cuda)
    before, after = _units(cuda), _units(split_mark(hip)[1])
    codes = opcodes([key(unit, names) for unit in before], [key(unit, {}) for unit in after])
    newline = SourceText(cuda).newline
    opening = next((n for n, unit in enumerate(before) if unit.code.strip()), 0)
    parts = [mark, *(unit.text for unit in before[:opening])]
    condition, otherwise = f"#ifdef {MACRO}{newline}", f"#ifndef {MACRO}{newline}"
    if opening_text:
        parts.append(opening_text.replace("\n", newline))
    else:
        condition, otherwise = f"#if {by}{newline}", f"#if !({by}){newline}"
    for hunk in hunks(codes, before, after):
        old = "".join(unit.text for unit in before[max(hunk.a, opening) : hunk.b])
        if hunk.same:
            parts.append(old)
            continue
        old = ended(old, newline)
        new = ended("".join(unit.text for unit in after[hunk.c : hunk.d]), newline)
        if not old:
            parts += [condition, new, f"#endif{newline}"]
        elif not new:
            parts += [otherwise, old, f"#endif{newline}"]
        else:
            parts += [condition, new, f"#else{newline}", old, f"#endif{newline}"]
    return "".join(parts)


def _directive(code: str) -> str:
    match = _DIRECTIVE.match(code)
    return match[1] if match else ""


def _unit(text: str, code: str) -> TextUnit:
    """Whole lines before and after which a directive may stand: no macro's call is cut."""
    bound = _BOUNDS.get(_directive(code))
    return TextUnit(text, code, (bound,) if bound else ())


def _units(text: str) -> list[TextUnit]:
    code = SourceText(text).code
    inside = {
        match.start() + offset
        for match in opaque(text)
        for offset, character in enumerate(match[0])
        if character == "\n"
    }
    units: list[TextUnit] = []
    start = line = depth = 0
    for match in re.finditer(r"\n|\Z", code):
        end = match.end()
        joined = code[line : match.start()].rstrip("\r").endswith("\\")
        if match.start() in inside or joined:
            continue
        logical = code[line:end]
        line = end
        if not _DIRECTIVE.match(logical):
            opened = len(re.findall(r"[(\[]", logical))
            depth = max(0, depth + opened - len(re.findall(r"[)\]]", logical)))
        if depth == 0 and end > start:
            units.append(_unit(text[start:end], code[start:end]))
            start = end
    if start < len(text):
        units.append(_unit(text[start:], code[start:]))
    return units


def _tokens(text: str) -> Iterator[str]:
    """Tokens of ``text``: words, literals whole, signs one by one; no comments."""
    done = 0
    for match in opaque(text):
        yield from _TOKEN.findall(text, done, match.start())
        if not match[0].startswith(("//", "/*")):
            yield match[0]
        done = match.end()
    yield from _TOKEN.findall(text, done)


def _all_tokens(units: list[TextUnit]) -> list[str]:
    return [token for unit in units for token in _tokens(unit.text)]


def _key(unit: TextUnit, names: Mapping[str, str]) -> tuple[str, ...]:
    """What a unit is to AMD's compiler with the header's macros ``names``."""
    if _directive(unit.code) == "include":
        return (unit.text.strip(),)  # a path is no code: ``<a//b>`` has no comment in it
    tokens = tuple(_tokens(unit.text))
    defined = _DEFINED.match(unit.code)
    if defined:
        # The body of a macro is replaced where it is used; its own name and parameters are not.
        head = sum(1 for _ in _tokens(defined[0]))
        return (*tokens[:head], *(names.get(token, token) for token in tokens[head:]))
    if _directive(unit.code):
        return tokens
    return tuple(names.get(token, token) for token in tokens)


def _collect(found: dict[str, set[str]], cuda: list[str], hip: list[str]) -> None:
    for tag, a, b, c, d in SequenceMatcher(None, cuda, hip, autojunk=False).get_opcodes():
        if tag != "replace" or b - a != d - c:
            continue
        for old, new in zip(cuda[a:b], hip[c:d], strict=True):
            if _CUDA_NAME.fullmatch(old) and new.isidentifier():
                found.setdefault(old, set()).add(new)


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")
