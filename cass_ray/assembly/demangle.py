"""Demangling of C++ names, in this process, by the C++ runtime library."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from functools import cache, lru_cache

MAXIMUM_NAME_LENGTH = 16_384
"""Longer names are left mangled: demangling may take time and memory exponential in the length."""


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


@lru_cache(maxsize=65_536)
def demangle(name: str) -> str:
    """The C++ declaration that ``name`` (Itanium ABI) stands for, or ``name`` when it is none."""
    runtime = _runtime()
    if runtime is None or not name.startswith("_Z") or len(name) > MAXIMUM_NAME_LENGTH:
        return name
    try:
        encoded = name.encode()
    except UnicodeEncodeError:
        return name
    if b"\0" in encoded:
        return name
    status = ctypes.c_int()
    result = runtime.__cxa_demangle(encoded, None, None, ctypes.byref(status))
    if not result:
        return name
    try:
        return ctypes.string_at(result).decode(errors="replace")
    finally:
        runtime.free(result)
