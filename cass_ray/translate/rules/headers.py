"""``#include`` lines: CUDA's headers become HIP's, and nvcc's implicit one becomes explicit."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from cass_ray.csv_tables import read_mapping
from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules import groups, standard_library, tables, vectors
from cass_ray.translate.rules.rewrite import Rewrite

RUNTIME = "hip/hip_runtime.h"

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:(<)|")', re.MULTILINE)
_QUESTION = re.compile(r'\b__has_include(?:_next)?[ \t]*\([ \t]*(?:<|(?P<quote>"))')
_PATH = re.compile(r"[^\">\n]*")
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)
_GUARD = re.compile(
    r"\s*#[ \t]*(?:pragma[ \t]+once\b[^\n]*"
    r"|ifndef[ \t]+(\w+)[^\n]*\n\s*#[ \t]*define[ \t]+\1\b[^\n]*)"
)
_INCLUDE_FOLDERS = ("include", "inc", "common", "Common", "src")
_TEMPLATE = re.compile(r"\{%-?\s*macro\b")
"""Jinja's: each macro of a file may become a file of its own."""
_FIRST_CODE = re.compile(r"\S")
_DEVICE_SOURCES = (".cu", ".cu.cc", ".cu.cpp")
_HOST_SOURCES = (".cc", ".cpp", ".cxx", ".c++")
_HEADERS = (".h", ".hh", ".hpp", ".hxx")
_HIP_ALONE = ("#ifdef __HIPCC__", "#endif")
_WITH_HIP = ("#if defined(__HIPCC__) || defined(__HIP_PLATFORM_AMD__)", "#endif")
"""Where HIP's runtime header can be included at all: it asks other compilers for the platform."""
_OF_CUDA = re.compile(
    r"<<<|\b(?:__\w*(?:CUDA|global|device|host)\w*__|[Cc][Uu]da\w*|CUDA\w*|cu[A-Z]\w*|CU[A-Z]\w*|thrust|cub"
    r"|threadIdx|blockIdx)\b"
)
_OF_THE_RUNTIME = re.compile(
    r"\b(?:cuda[A-Z]\w*|threadIdx|blockIdx|blockDim|gridDim|__syncthreads)\b"
)


_DEFINITIONS = {
    "hipblas/hipblas.h": (
        *("HIPBLAS_V2", "ROCM_MATHLIBS_API_USE_HIP_COMPLEX", "HIPBLAS_USE_HIP_HALF"),
    ),
}
"""What a header of ROCm must find defined to declare what CUDA's does.

hipBLAS declares its ``…Ex`` functions with types of its own otherwise, and those of complex and
half numbers with types that are not hipComplex and half. The definitions are the same text in every
file, and what ``-DNAME`` of a build makes (PyTorch's has one), so that a second one does no harm.
"""


_RANDOM = "hiprand/hiprand_kernel.h"
_OF_RANDOM = {
    "uint2": "HIP_vector_base<unsigned int, 2>",
    "uint4": "HIP_vector_base<unsigned int, 4>",
    "ulonglong2": "HIP_vector_base<unsigned long long, 2>",
    "ulonglong4": "HIP_vector_base<unsigned long long, 4>",
}
"""Types of which rocRAND's header reads ``data``, which plain ones do not have."""


@dataclass(frozen=True, slots=True)
class _Include:
    start: int
    path_start: int
    path: str
    quoted: bool
    depth: int
    end: int


def rewrite_includes(unit: Rewrite) -> None:
    """Map every CUDA header, and add the runtime header where nvcc would have included it.

    The file's own include guard keeps its name: ``CUBLAS_COMMON_H`` would become that of a header
    of hipBLAS, which then declares nothing.
    """
    if guard := _GUARD.match(unit.source.code):
        unit.handled.update(unit.words.get(guard[1] or "", ()))
    includes = _includes(unit)
    if vectors.are_plain(unit):
        _add_vectors(unit, includes)
    template = _TEMPLATE.search(unit.source.text) is not None
    seen: set[str] = set()
    first_runtime: int | None = None
    for position, include in enumerate(includes):
        hip = _counterpart(unit, include)
        if hip == RUNTIME and first_runtime is None and include.depth == 0:
            first_runtime = position
        if hip is None or hip == include.path:
            seen.add(include.path if include.depth == 0 else "")
            continue
        if not hip or (hip in seen and not template):
            _remove_line(unit, include)
        else:
            path_end = include.path_start + len(include.path)
            unit.edits.replace(include.path_start, path_end, hip)
            _define(unit, include, hip)
            if include.depth == 0:
                seen.add(hip)
        unit.converted(include.start)
    _rewrite_questions(unit)
    _add_runtime(unit, includes, first_runtime)


def _rewrite_questions(unit: Rewrite) -> None:
    """``__has_include`` asks for the counterpart; what has none is not there, as it says."""
    for match in _QUESTION.finditer(unit.source.code):
        path = _PATH.match(unit.source.text, match.end())
        if path is None or path[0].startswith("hip/"):
            continue
        name, quoted = path[0].strip(), match["quote"] is not None
        found, advice = _known(unit, name, quoted=quoted), _advice(name)
        if found is not None and found.hip != name:
            unit.edits.replace(*path.span(), found.hip or RUNTIME)
            unit.converted(match.start())
        elif found is None and advice is not None and not _is_local(unit, name):
            message = f"the header {name} has no counterpart in HIP: the condition is false"
            unit.report(match.start(), name, Severity.WARNING, message, advice)


def _add_vectors(unit: Rewrite, includes: list[_Include]) -> None:
    """CUDA's vector types, before whatever brings HIP's headers first."""
    text = tables.plain_vectors().replace("\n", unit.source.newline)
    if _is_device_source(unit):
        top = _top(unit)
        if top is not None:
            unit.edits.insert(top[0], top[1] + text)
        return
    for include in includes:
        header = tables.header(include.path.strip())
        if header is not None and header.hip and not _is_local(unit, include.path.strip()):
            line = unit.source.text.rfind("\n", 0, include.start) + 1
            unit.edits.insert(line, text)
            return
    top = _top(unit)
    if top is not None and vectors.declares_forward(unit):
        unit.edits.insert(top[0], top[1] + text)


def _is_device_source(unit: Rewrite) -> bool:
    return unit.filename.endswith(_DEVICE_SOURCES) or "." not in posixpath.basename(unit.filename)


def _define(unit: Rewrite, include: _Include, header: str) -> None:
    line = unit.source.text.rfind("\n", 0, include.start) + 1
    if header == _RANDOM and vectors.are_plain(unit):
        before = ("#ifdef CASS_PLAIN_VECTORS", *(f"#define {n} {t}" for n, t in _OF_RANDOM.items()))
        after = (f"#undef {name}" for name in _OF_RANDOM)
        unit.edits.insert(line, _lines(unit, (*before, "#endif")))
        unit.edits.insert(include.end, _lines(unit, after))
    if header in _DEFINITIONS:
        unit.edits.insert(line, _lines(unit, (f"#define {n} 1" for n in _DEFINITIONS[header])))


def _lines(unit: Rewrite, lines: Iterable[str]) -> str:
    return "".join(f"{line}{unit.source.newline}" for line in lines)


def _includes(unit: Rewrite) -> list[_Include]:
    code, text = unit.source.code, unit.source.text
    conditionals = [(m.start(), 1 if m[1] == "if" else -1) for m in _CONDITIONAL.finditer(code)]
    guard = _GUARD.match(code)
    depth = -1 if guard and guard[1] else 0
    found: list[_Include] = []
    index = 0
    for match in _INCLUDE.finditer(code):
        while index < len(conditionals) and conditionals[index][0] < match.start():
            depth += conditionals[index][1]
            index += 1
        path = _PATH.match(text, match.end())
        end = text.find("\n", match.end())
        if path:
            found.append(
                _Include(
                    code.index("#", match.start()),
                    match.end(),
                    path.group(),
                    match[1] is None,
                    max(depth, 0),
                    len(text) if end < 0 else end + 1,
                )
            )
    return found


def _counterpart(unit: Rewrite, include: _Include) -> str | None:
    """The HIP header; empty when there is nothing to include; None to leave the line alone."""
    path = include.path.strip()
    if path.startswith("hip/"):
        return path
    if path in groups.HEADERS:
        unit.snippets.add(groups.HEADERS[path])
        return ""
    if path in groups.HOST_HEADERS:
        text = tables.snippet(groups.HOST_HEADERS[path])
        unit.edits.insert(include.end, text.replace("\n", unit.source.newline))
        return ""
    found = _known(unit, path, quoted=include.quoted)
    if found is None:
        if not _is_local(unit, path):
            _report_unsupported(unit, include, path)
        return None
    if found.library == standard_library.LIBRARY:
        if standard_library.is_plain(unit):
            return standard_library.plain_header(path)
        if unit.standard_library is None:
            unit.standard_library = include.start
    return found.hip


def _known(unit: Rewrite, path: str, *, quoted: bool) -> tables.Header | None:
    """CUDA's header at ``path``; None for the project's own, and for what HIP lacks."""
    found = tables.header(path)
    if found is None or (quoted and _is_local(unit, path)):
        return None
    lacks = found.library == standard_library.LIBRARY and _advice(path) is not None
    return None if lacks else found


def _is_local(unit: Rewrite, path: str) -> bool:
    """Whether ``path`` is a file of the tree that an include from this file could reach."""
    files = unit.context.files
    if not files:
        return False
    folder = posixpath.dirname(unit.filename)
    while True:
        for name in ("", *_INCLUDE_FOLDERS):
            if posixpath.normpath(posixpath.join(folder, name, path)) in files:
                return True
        parent = posixpath.dirname(folder)
        if parent == folder:
            return False
        folder = parent


@cache
def _unsupported_headers() -> tuple[tuple[str, str], ...]:
    return tuple(read_mapping(tables.FOLDER / "unsupported_headers.csv").items())


@lru_cache(1 << 12)
def _advice(path: str) -> str | None:
    """What to do about a header that HIP has no counterpart of; None for all others."""
    for pattern, advice in _unsupported_headers():
        if path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern:
            return advice
    return None


def _report_unsupported(unit: Rewrite, include: _Include, path: str) -> None:
    advice = _advice(path)
    if advice is not None:
        message = f"the header {path} has no counterpart in HIP"
        unit.report(include.start, path, Severity.ERROR, message, advice)


def _remove_line(unit: Rewrite, include: _Include) -> None:
    """Remove the directive; a comment that follows it on the line stays."""
    text = unit.source.text
    closing = include.path_start + len(include.path) + 1
    line = text.rfind("\n", 0, include.start) + 1
    if text[line : include.start].strip() or text[closing : include.end].strip():
        unit.edits.replace(include.start, closing, "")
    else:
        unit.edits.replace(line, include.end, "")


def _add_runtime(unit: Rewrite, includes: list[_Include], first_runtime: int | None) -> None:
    """Include the runtime first, as nvcc does for a ``.cu`` file.

    Not needed when the file itself includes it before anything else of its own: system headers may
    come before, the project's own headers may use it, and so does libhipcxx.
    """
    if unit.is_hip:
        return
    is_source = _is_device_source(unit)
    before = includes if first_runtime is None else includes[:first_runtime]
    is_used = any(item.quoted or item.path.startswith("cuda/") for item in before)
    if first_runtime is not None and not (is_source and is_used):
        unit.runtime_end = includes[first_runtime].end
        return
    if is_source:
        _insert_runtime(unit)
    elif _is_for_both(unit, includes):
        _insert_runtime(unit, _HIP_ALONE)


def _is_for_both(unit: Rewrite, includes: list[_Include]) -> bool:
    """Whether nvcc compiles a file that other compilers see as well, and gave it the runtime.

    Sources do so by ``-x cu`` or a link called ``.cu``, headers by whoever includes them.
    """
    if "__CUDACC__" not in unit.words or any(_is_runtime(unit, item) for item in includes):
        return False
    if unit.filename.endswith(_HOST_SOURCES):
        return True
    return unit.filename.endswith(_HEADERS) and _OF_THE_RUNTIME.search(unit.source.code) is not None


def _is_runtime(unit: Rewrite, include: _Include) -> bool:
    found = tables.header(include.path.strip())
    return found is not None and found.hip == RUNTIME


def _insert_runtime(unit: Rewrite, around: tuple[str, str] | None = None, behind: str = "") -> None:
    top = _top(unit)
    if top is None:
        return
    offset, line_end = top
    lines = [f"#include <{RUNTIME}>"]
    if around is None:
        unit.runtime_end = offset
    else:
        lines = [around[0], *lines, around[1]]
    text = "".join(f"{line}{unit.source.newline}" for line in lines)
    unit.edits.insert(offset, f"{line_end}{text}{behind}")


def is_plain_host(unit: Rewrite) -> bool:
    """Whether the file is a source of the host's compiler in which nothing is CUDA's."""
    return unit.filename.endswith(_HOST_SOURCES) and not _OF_CUDA.search(unit.source.code)


def may_be_without_runtime(unit: Rewrite) -> bool:
    """Whether the file is a header that sources of the host may include before CUDA's, or alone."""
    return unit.runtime_end is None and unit.filename.endswith(_HEADERS)


def insert_after_runtime(unit: Rewrite, text: str, *, for_hip_alone: bool = False) -> None:
    """Insert ``text`` behind the runtime header, which is included if nothing did.

    ``for_hip_alone``: the text is nothing to other compilers, and headers may be theirs as well.
    """
    if unit.runtime_end is None and for_hip_alone and unit.filename.endswith(_HEADERS):
        _insert_runtime(unit, _HIP_ALONE, text)
        return
    if unit.runtime_end is None and _asks_for_nvcc(unit):
        _insert_runtime(unit, (_WITH_HIP[0], f"{text}{_WITH_HIP[1]}"))
        return
    if unit.runtime_end is None:
        _insert_runtime(unit)
    if unit.runtime_end is not None:
        unit.edits.insert(unit.runtime_end, text)


def _asks_for_nvcc(unit: Rewrite) -> bool:
    """Whether the file is a header that other compilers may read without HIP's headers."""
    header = unit.filename.endswith((*_HEADERS, ".cuh"))
    return header and not {"__CUDACC__", "__CUDA_ARCH__"}.isdisjoint(unit.words)


def _top(unit: Rewrite) -> tuple[int, str] | None:
    """Where the code begins, behind comments and the include guard, and the line end it needs.

    A comment that ends on the line of the first code stays on its own line. None without code.
    """
    code, text = unit.source.code, unit.source.text
    guard = _GUARD.match(code)
    start = guard.end() if guard else 0
    first = _FIRST_CODE.search(code, start)
    if first is None:
        return None
    line = max(code.rfind("\n", 0, first.start()) + 1, start)
    if text[line : first.start()].strip() or (line and text[line - 1] != "\n"):
        return first.start(), unit.source.newline
    return line, ""
