"""Memory of the host that a program frees by its device pointer.

``cudaFree`` returns an error for what ``cudaHostAlloc`` gave, and the memory stays; programs
overlook that. ``hipFree`` releases it, and what the host reads from it afterwards is gone.
"""

from __future__ import annotations

from cass_ray.translate.rules.rewrite import Rewrite

_ASKED = ("cudaHostGetDevicePointer", "cudaHostAllocMapped", "cudaHostRegisterMapped")
_FREE, _CHECKED, _SNIPPET = "cudaFree", "cass::free_device_memory", "mapped_memory"


def keep_mapped_memory(unit: Rewrite) -> None:
    """Free what is the device's alone where a file has such pointers."""
    if unit.is_hip or unit.filename.endswith(".c") or unit.is_own(_FREE):
        return
    if not any(name in unit.words for name in _ASKED):
        return
    for offset in unit.words.get(_FREE, ()):
        if not unit.is_member(offset):
            unit.rename(offset, _FREE, _CHECKED)
            unit.snippets.add(_SNIPPET)
