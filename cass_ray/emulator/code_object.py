"""Code objects: where they are found, and what they say about their kernels.

Found in a file of their own, an offload bundle, or a host executable or object file (section
``.hip_fatbin``). Reading is done by the engine, which treats every file as untrusted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cass_ray.config import StrictModel
from cass_ray.emulator.engine_interface import Engine, load_engine
from cass_ray.toolchain.elf import DamagedFile, read_sections

_ELF = b"\x7fELF"
_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_COMPRESSED_BUNDLE = b"CCOB"
_MACHINE_AMDGPU = 224
_FAT_BINARY_SECTIONS = (".hip_fatbin", "__hip_fatbin")


class CodeObjectError(ValueError):
    """The file holds no code object that the engine can run; the message says why."""


class KernelArgument(StrictModel):
    """A kernel argument; sizes and offsets in bytes. ``hidden``: filled by the runtime."""

    name: str
    offset: int
    size: int
    kind: int
    hidden: bool


class KernelDescription(StrictModel):
    """What metadata and descriptor say about a kernel; sizes in bytes, scratch per work-item."""

    name: str
    kernarg_size: int
    lds_size: int
    private_size: int
    max_flat_workgroup_size: int
    vgpr_count: int
    sgpr_count: int
    vgpr_spill_count: int
    sgpr_spill_count: int
    wave_size: int
    uses_dynamic_stack: bool
    arguments: tuple[KernelArgument, ...]


class CodeObject(StrictModel):
    """A gfx11 code object: ``version`` 4, 5 or 6; ``variables`` are sizes by symbol."""

    target: str
    version: int
    kernels: tuple[KernelDescription, ...]
    variables: dict[str, int]


def find_device_binaries(data: bytes) -> list[bytes]:
    """The code objects and offload bundles in ``data``: itself, or those of a host ELF file."""
    if data.startswith((_BUNDLE, _COMPRESSED_BUNDLE)):
        return [data]
    if not data.startswith(_ELF):
        return []
    if int.from_bytes(data[18:20], "little") == _MACHINE_AMDGPU:
        return [data]
    return list(_bundles_in_sections(data))


def describe(data: bytes, engine: Engine | None = None) -> CodeObject:
    """Describe the code object in ``data`` (see :func:`find_device_binaries`).

    Raises :class:`CodeObjectError`.
    """
    binaries = find_device_binaries(data) or [data]
    text = (engine or load_engine()).describe(binaries[0])
    answer: dict[str, Any] = json.loads(text)
    if "error" in answer:
        raise CodeObjectError(answer["error"])
    return CodeObject.model_validate(answer)


def _bundles_in_sections(data: bytes) -> Iterator[bytes]:
    """Bundles in the fat binary sections of a host ELF file; none if the file is damaged."""
    try:
        sections = read_sections(data)
    except DamagedFile:
        return
    for section in sections:
        if section.name in _FAT_BINARY_SECTIONS:
            yield from _bundles(section.data)


def _bundles(content: bytes) -> Iterator[bytes]:
    """One bundle per translation unit, each on a page boundary."""
    for start in range(0, len(content), 4096):
        if content.startswith((_BUNDLE, _COMPRESSED_BUNDLE), start):
            yield content[start:]
