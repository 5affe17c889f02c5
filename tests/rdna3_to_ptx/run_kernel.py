"""Run one kernel of a code object on the RDNA3 backend.

For a process of its own: the addresses of device memory belong to the engine where a process has
loaded that (tests of the engine do), and the HIP runtime needs them.
"""

from __future__ import annotations

import ctypes
from functools import cache

from tests.lift.vectors.run_lifted import Hip

COUNT = 250  # not a multiple of a wave: the last one is partial
WORDS = 1024


@cache
def _hip() -> Hip:
    return Hip()


def run_kernel(code_object: bytes, kernel: str, given: bytes) -> bytes:
    """The ``WORDS`` 32-bit words that ``kernel(given, words, COUNT)`` leaves, zero before.

    Raises:
        HipError: A call of the HIP runtime failed.
    """
    hip = _hip()
    module, function = hip.load(code_object), ctypes.c_void_p()
    hip.call("hipModuleGetFunction", ctypes.byref(function), module, kernel.encode())
    places = []
    for content in (given, bytes(4 * WORDS)):
        place = ctypes.c_void_p()
        hip.call("hipMalloc", ctypes.byref(place), ctypes.c_size_t(len(content)))
        hip.call("hipMemcpy", place, content, ctypes.c_size_t(len(content)), 1)
        places.append(place)
    arguments = [*places, ctypes.c_int(COUNT)]
    pointers = (ctypes.c_void_p * 3)(
        *(ctypes.cast(ctypes.pointer(item), ctypes.c_void_p) for item in arguments)
    )
    hip.call("hipModuleLaunchKernel", function, 2, 1, 1, 128, 1, 1, 0, None, pointers, None)
    hip.call("hipDeviceSynchronize")
    made = ctypes.create_string_buffer(4 * WORDS)
    hip.call("hipMemcpy", made, places[1], ctypes.c_size_t(4 * WORDS), 2)
    return made.raw
