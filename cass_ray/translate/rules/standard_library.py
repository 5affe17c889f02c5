"""libcu++: ``cuda::std`` and its extensions, which AMD's libhipcxx has under the same names.

A file whose part of it the host's standard library has for devices as well (``cuda::std::plus``,
``cuda::std::tuple``) uses that: no released ROCm brings libhipcxx.

Barriers of a block, pipelines of a thread or block and the copies that belong to them, which it
lacks, are a snippet. libhipcxx keeps CUDA's include paths and namespaces (``<cuda/std/tuple>``,
``cuda::std::tuple``), so that what it has stays as it is. What it lacks is reported; the list is
from its documentation, "Limitations and unsupported APIs".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules import tables
from cass_ray.translate.rules.rewrite import Rewrite

LIBRARY = "libhipcxx"

_SYNCHRONIZATION = dict.fromkeys(
    ("barrier", "latch", "counting_semaphore", "binary_semaphore"),
    "libhipcxx has no <cuda/barrier>, <cuda/latch> or <cuda/semaphore>: use __syncthreads,"
    " cooperative groups or cuda::atomic",
)
_PIPELINE = dict.fromkeys(
    (
        *("pipeline", "pipeline_shared_state", "pipeline_role", "make_pipeline"),
        *("pipeline_consumer_wait_prior", "pipeline_producer_commit", "memcpy_async"),
    ),
    "libhipcxx has no <cuda/pipeline>: copy synchronously and use __syncthreads",
)
_ACCESS = dict.fromkeys(
    (
        *("annotated_ptr", "access_property", "associate_access_property"),
        "apply_access_property",
    ),
    "AMD hardware has no such control of its caches: use a plain pointer",
)
_HARDWARE = dict.fromkeys(
    ("ptx", "device", "experimental"), "functions for Nvidia hardware: write them in HIP"
)
LACKING = {**_SYNCHRONIZATION, **_PIPELINE, **_ACCESS, **_HARDWARE}
"""Name in ``cuda`` that libhipcxx lacks -> what to do; in ``cuda::std`` the first four."""

_OF_SNIPPET = {"barrier", "pipeline", "aligned_size_t", "pipeline_consumer_wait_prior"}
_FUNCTIONAL = {"maximum", "minimum", "ceil_div", "round_up", "round_down"}
_SCOPE = re.compile(r"\bcuda(?=\s*::\s*(?:barrier|pipeline(?:_shared_state)?)\s*<\s*\Z)")
_SUPPORTED = re.compile(
    r"\s*::\s*(?:barrier|pipeline(?P<shared>_shared_state)?)\s*<\s*cuda\s*::\s*"
    r"(?:thread_scope\s*::\s*)?thread_scope_(?:block|thread)\s*(?(shared),|>)"
)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>\n]*)", re.MULTILINE)
STANDARD_FOLDER = "cuda/std/"
_NAMES = re.compile(r"\s*::\s*(\w+)(?:\s*::\s*(\w+))?")
_QUALIFIER = re.compile(r"\w::\s*\Z")
"""A space before ``::cuda`` qualifies nothing: ``__device__ ::cuda::std::tuple<int>``."""
_NAMESPACE = re.compile(r"\bnamespace\s+\Z")
_BODY = re.compile(r"\s*\{")


def is_of_snippet(unit: Rewrite, offset: int, name: str) -> bool:
    """Whether the snippet has what ``cuda::name`` is here: barriers of a block and their kin."""
    code = unit.source.code
    if name in {"barrier", "pipeline", "pipeline_shared_state"}:
        return _SUPPORTED.match(code, offset + len("cuda")) is not None
    if name.startswith("thread_scope"):
        outer = _SCOPE.search(code, max(0, offset - 40), offset)
        return outer is not None and _SUPPORTED.match(code, outer.end()) is not None
    if name in {"memcpy_async", "make_pipeline"}:
        call = unit.call(code.index(name, offset), name)
        return call is not None and (len(call[0]) in ({4, 5} if name == "memcpy_async" else {0, 2}))
    return name in _OF_SNIPPET


def uses(unit: Rewrite) -> Iterator[tuple[int, re.Match[str]]]:
    """Where libcu++'s namespace stands, and the one or two names behind it."""
    code = unit.source.code
    offsets = unit.words.get("cuda", ())
    is_own = any(
        _BODY.match(code, offset + len("cuda"))
        and _NAMESPACE.search(code, max(0, offset - 24), offset)
        for offset in offsets
    )
    for offset in offsets:
        names = _NAMES.match(code, offset + len("cuda"))
        if names is None or offset in unit.handled or is_own:
            continue
        if f"cuda::{names[1]}" in unit.context.declared:
            continue  # Of a namespace of the project's own.
        if not _QUALIFIER.search(code, max(0, offset - 16), offset):
            yield offset, names  # Else a namespace in another one: cv::cuda.


def is_of_functional(names: re.Match[str]) -> bool:
    """Whether the snippet ``functional`` defines what stands behind ``cuda``."""
    return names[1] in _FUNCTIONAL or names.groups() == ("std", "identity")


def plain_header(path: str) -> str | None:
    """The counterpart of libcu++'s header ``path`` in the host's library, empty where a snippet is
    it; None where there is none."""
    if path in {"cuda/functional", "cuda/cmath"}:
        return ""
    name = path.removeprefix(STANDARD_FOLDER)
    known = path.startswith(STANDARD_FOLDER) and name in tables.standard_names().values()
    return name if known else None


def included(unit: Rewrite) -> set[str]:
    """The headers that the file includes with angle brackets."""
    text = unit.source.text
    found = _INCLUDE.finditer(unit.source.code)  # without what is in comments
    return {text[match.start(1) : match.end(1)].strip() for match in found}


def is_plain(unit: Rewrite) -> bool:
    """Whether the host's library and our snippets have all that the file uses of libcu++."""
    if unit.is_hip:
        return False
    if any(path.startswith("cuda/") and plain_header(path) is None for path in included(unit)):
        return False
    return all(
        is_of_snippet(unit, offset, names[1])
        or is_of_functional(names)
        or (names[1] == "std" and names[2] in tables.standard_names())
        for offset, names in uses(unit)
    )


def check_standard_library(unit: Rewrite) -> None:
    """Report what is used of libcu++ and libhipcxx lacks; say once that libhipcxx is needed."""
    for offset, names in uses(unit):
        if is_of_snippet(unit, offset, names[1]):
            unit.rename(offset, "cuda", "cass")
            unit.snippets.add("barrier")
            continue
        is_standard = names[1] == "std"
        name = names[2] if is_standard else names[1]
        advice = (_SYNCHRONIZATION if is_standard else LACKING).get(name or "")
        if advice:
            unit.handled.add(offset)
            construct = f"cuda::{'std::' if is_standard else ''}{name}"
            message = f"{construct} has no counterpart in HIP"
            unit.report(offset, construct, Severity.ERROR, message, advice)
            continue
        unit.unchanged(offset)
        if unit.standard_library is None:
            unit.standard_library = offset
    if unit.standard_library is not None and not unit.is_hip:
        unit.report(
            unit.standard_library,
            LIBRARY,
            Severity.WARNING,
            "libcu++ is libhipcxx on AMD, under the same names: headers only, in ROCm from 10.1",
            "for an older ROCm put https://github.com/ROCm/libhipcxx on the include path",
        )
