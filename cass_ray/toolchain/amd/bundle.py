"""The container in which a HIP executable carries its device code.

Format: LLVM's "Bundled Binary File Layout" (ClangOffloadBundler documentation). All integers are
64-bit little-endian: magic, number of entries, then offset, size, length of identifier and
identifier of each entry; the binaries follow at their offsets.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

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
    """Code objects by processor. Raises :class:`ValueError` on anything but a whole bundle."""
    if not data.startswith(MAGIC):
        raise ValueError("not an offload bundle: the magic string is missing")
    try:
        (count,) = _NUMBER.unpack_from(data, len(MAGIC))
        position = len(MAGIC) + _NUMBER.size
        code_objects = {}
        for _ in range(count):
            offset, size, length = _ENTRY.unpack_from(data, position)
            position += _ENTRY.size
            identifier = data[position : position + length].decode("ascii")
            position += length
            if offset + size > len(data) or position > len(data):
                raise ValueError(f"offload bundle is cut short at entry {identifier!r}")
            if identifier.startswith(DEVICE_PREFIX):
                processor = identifier.removeprefix(DEVICE_PREFIX)
                code_objects[processor] = data[offset : offset + size]
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"damaged offload bundle: {error}") from error
    return code_objects


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
