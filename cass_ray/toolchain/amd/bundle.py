"""The container in which a HIP executable carries its device code.

Format: LLVM's "Bundled Binary File Layout" (ClangOffloadBundler documentation). All integers are
64-bit little-endian: magic, number of entries, then offset, size, length of identifier and
identifier of each entry; the binaries follow at their offsets.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from cass_ray.toolchain.elf import BinaryReader, DamagedFile

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
HOST_IDENTIFIER = "host-x86_64-unknown-linux-gnu-"
DEVICE_PREFIX = "hipv4-amdgcn-amd-amdhsa--"

_ALIGNMENT = 4096  # what hipcc asks of clang-offload-bundler; the loader maps pages
_NUMBER = struct.Struct("<Q")
_ENTRY = struct.Struct("<QQQ")


def bundle(code_objects: Mapping[str, bytes]) -> bytes:
    """A fat binary with one code object per processor (``{"gfx1100": elf}``)."""
    entries = [(HOST_IDENTIFIER, b"")]
    entries += [(DEVICE_PREFIX + processor, code) for processor, code in code_objects.items()]
    header_size = len(MAGIC) + _NUMBER.size
    header_size += sum(_ENTRY.size + len(identifier) for identifier, _ in entries)
    header = MAGIC + _NUMBER.pack(len(entries))
    body = b""
    first = _aligned(header_size)
    for identifier, code in entries:
        body += bytes(_aligned(len(body)) - len(body))
        header += _ENTRY.pack(first + len(body), len(code), len(identifier)) + identifier.encode()
        body += code
    return header + bytes(first - len(header)) + body


def unbundle(data: bytes) -> dict[str, bytes]:
    """Code objects by processor. Raises :class:`ValueError` on anything but a whole bundle.

    Entries do not overlap, so that together they hold no more than the file.
    """
    if not data.startswith(MAGIC):
        raise ValueError("not an offload bundle: the magic string is missing")
    reader = BinaryReader(data)
    try:
        (count,) = reader.fields(_NUMBER, len(MAGIC))
        position = len(MAGIC) + _NUMBER.size
        total = 0
        code_objects = {}
        for _ in range(count):
            offset, size, length = reader.fields(_ENTRY, position)
            identifier = reader.part(position + _ENTRY.size, length).decode("ascii")
            position += _ENTRY.size + length
            total += size
            if total > len(data):
                raise ValueError("damaged offload bundle: its entries overlap")
            code = reader.part(offset, size)
            if identifier.startswith(DEVICE_PREFIX):
                code_objects[identifier.removeprefix(DEVICE_PREFIX)] = code
    except (DamagedFile, UnicodeDecodeError) as error:
        raise ValueError(f"damaged or cut short offload bundle: {error}") from error
    return code_objects


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
