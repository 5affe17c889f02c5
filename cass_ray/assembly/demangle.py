"""Demangling of C++ names.

A mangled name may stand for a declaration exponentially longer: each back reference can double what
stands before it. Names that cannot grow much are demangled in this process by the C++ runtime
library, the others by ``c++filt`` in the sandbox, as many at once as there are.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from cass_ray.toolchain.sandbox.isolation import IsolationUnavailableError, View
from cass_ray.toolchain.sandbox.process import Limits, run

MAXIMUM_NAME_LENGTH = 16_384
"""Longer names are left mangled."""
MAXIMUM_TEXT_LENGTH = 65_536
"""Names whose declaration is longer are left mangled."""

_BACK_REFERENCE = re.compile(r"[ST][0-9A-Z]{0,8}_")
_MOST_REFERENCES = 8
_LONGEST_HERE = 1024
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_PACK = re.compile(r"Dp|sp|sP|sZ")
"""A pattern printed once for each element of a pack: more than a doubling."""

_FILTER = Path("/usr/bin/c++filt")
_FILTER_LIMITS = Limits(
    cpu_seconds=5,
    wall_seconds=20,
    memory_bytes=256 << 20,
    address_space_bytes=512 << 20,
    file_bytes=0,
    output_bytes=8 << 20,
    processes=8,
    open_files=64,
)
_BATCH_CHARACTERS = 256 << 10
_KEPT_CHARACTERS = 16 << 20


@cache
def _runtime() -> ctypes.CDLL | None:
    """The first C++ runtime found; PyArrow needs one, so there is one."""
    for library in ("libstdc++.so.6", ctypes.util.find_library("c++abi"), "libc++.1.dylib"):
        if library is None or (library.endswith(".dylib") and sys.platform != "darwin"):
            continue
        try:
            runtime = ctypes.CDLL(library)
            runtime.__cxa_demangle.restype = ctypes.c_void_p
        except (OSError, AttributeError):
            continue
        runtime.__cxa_demangle.argtypes = [
            ctypes.c_char_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int),
        ]
        runtime.free.argtypes = [ctypes.c_void_p]
        return runtime
    return None


class _Kept:
    """Results by name; all are forgotten when they have become many."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._characters = 0
        self._lock = threading.Lock()

    def get(self, name: str) -> str | None:
        return self._texts.get(name)

    def put(self, name: str, text: str) -> None:
        with self._lock:
            if self._characters > _KEPT_CHARACTERS:
                self._texts, self._characters = {}, 0
            self._texts[name] = text
            self._characters += len(name) + len(text)


_kept = _Kept()


def demangle(name: str) -> str:
    """The C++ declaration that ``name`` (Itanium ABI) stands for, or ``name`` when it is none."""
    return demangle_all((name,))[name]


def demangle_all(names: Iterable[str]) -> dict[str, str]:
    """:func:`demangle` for each of ``names``, with one process for those that may grow."""
    result: dict[str, str] = {}
    growing: list[str] = []
    for name in dict.fromkeys(names):
        kept = _kept.get(name)
        if kept is not None:
            result[name] = kept
        elif not _is_mangled(name):
            result[name] = name
        elif may_grow(name):
            growing.append(name)
        else:
            result[name] = _demangled_here(name)
            _kept.put(name, result[name])
    # The harmless first: at the first name beyond the limits the others of its batch are lost.
    growing.sort(key=lambda name: (len(_BACK_REFERENCE.findall(name)), len(name)))
    for batch in _batches(growing):
        for name, text in zip(batch, _demangled_apart(batch), strict=True):
            result[name] = text if len(text) <= MAXIMUM_TEXT_LENGTH else name
            _kept.put(name, result[name])
    return result


def may_grow(name: str) -> bool:
    """Whether the declaration of ``name`` may be more than some 256 times longer than ``name``."""
    return (
        len(name) > _LONGEST_HERE
        or len(_BACK_REFERENCE.findall(name)) > _MOST_REFERENCES
        or _PACK.search(name) is not None
    )


def _is_mangled(name: str) -> bool:
    if not name.startswith("_Z") or len(name) > MAXIMUM_NAME_LENGTH:
        return False
    return "\0" not in name and "\n" not in name and not _SURROGATE.search(name)


def _demangled_here(name: str) -> str:
    runtime = _runtime()
    if runtime is None:
        return name
    status = ctypes.c_int()
    result = runtime.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if not result:
        return name
    try:
        text = ctypes.string_at(result).decode(errors="replace")
    finally:
        runtime.free(result)
    return text if len(text) <= MAXIMUM_TEXT_LENGTH else name


def _batches(names: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for name in names:
        if batch and characters + len(name) > _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
        batch.append(name)
        characters += len(name) + 1
    if batch:
        yield batch


def _demangled_apart(names: list[str]) -> list[str]:
    """The declarations of ``names``; what is not reached within the limits stays mangled."""
    # Without -i, std::string is written out, which the runtime library does not do.
    # Line by line, so that what was done before a limit was met is not lost with the buffer.
    command = ["/usr/bin/stdbuf", "-oL", str(_FILTER), "-n", "-i", *names]
    try:
        done = run(command, cwd=Path("/usr"), limits=_FILTER_LIMITS, view=View())
    except IsolationUnavailableError:
        return names
    texts = done.stdout_text.split("\n")[:-1][: len(names)]  # a last line that was cut is none
    return [*texts, *names[len(texts) :]]
