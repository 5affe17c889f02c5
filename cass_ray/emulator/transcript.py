"""What moved between a program's host and the device, as the device process recorded it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

_RECORD = struct.Struct("<IIQQQQQ")
"""``Record`` of ``device/transcript.cpp``."""
TRANSCRIPT_BYTES = 64 << 20
"""More is not read."""


class MovementKind(IntEnum):
    """The numbers of ``Transcript::Kind``."""

    TO_DEVICE = 1
    TO_HOST = 2
    LAUNCH = 3
    FAILED_LAUNCH = 4
    SHARED_IN = 5
    SHARED_OUT = 6
    """Memory that both sides write directly; how much of it at once is a matter of time."""


@dataclass(frozen=True)
class Movement:
    """Bytes that moved from or to a place in device memory; sizes and offsets are bytes.

    ``key`` names the allocation or variable in the same way in each run; ``written`` are bytes that
    kernels wrote. ``data`` is None where only the digest was kept.
    """

    kind: MovementKind
    key: int
    offset: int
    size: int
    written: int
    digest: int
    data: bytes | None


@dataclass(frozen=True)
class Transcript:
    """The movements of one run, in order, and the kernel of each launch.

    ``failed`` has the kernels of launches that the runtime answered with an error.
    """

    movements: tuple[Movement, ...] = ()
    kernels: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def written(self) -> int:
        """Bytes that kernels wrote and the host got."""
        return sum(each.written for each in self.movements)

    @property
    def to_host(self) -> list[Movement]:
        """What the host got, in order."""
        return [each for each in self.movements if each.kind is MovementKind.TO_HOST]

    @property
    def receives(self) -> bool:
        """Whether anything moved from the host to the device."""
        inward = (MovementKind.TO_DEVICE, MovementKind.SHARED_IN)
        return any(each.kind in inward for each in self.movements)

    @property
    def shares_memory(self) -> bool:
        """Whether both sides write some memory directly."""
        shared = (MovementKind.SHARED_IN, MovementKind.SHARED_OUT)
        return any(each.kind in shared for each in self.movements)

    @property
    def to_device(self) -> list[Movement]:
        """What the device got, in order."""
        return [each for each in self.movements if each.kind is MovementKind.TO_DEVICE]


def encode_transcript(transcript: Transcript) -> bytes:
    """``transcript`` as records, for :func:`parse_transcript`."""
    parts: list[bytes] = []
    launches = (MovementKind.LAUNCH, transcript.kernels)
    failures = (MovementKind.FAILED_LAUNCH, transcript.failed)
    for kind, kernels in (launches, failures):
        for kernel in kernels:
            name = kernel.encode()
            parts += [_RECORD.pack(kind, len(name), 0, 0, len(name), 0, 0), name]
    for each in transcript.movements:
        data = each.data or b""
        sizes = (each.key, each.offset, each.size, each.written, each.digest)
        parts += [_RECORD.pack(each.kind, len(data), *sizes), data]
    return b"".join(parts)


def parse_transcript(data: bytes) -> Transcript:
    """The records in ``data``; one that was cut by a kill ends it."""
    movements: list[Movement] = []
    launches: dict[int, list[str]] = {MovementKind.LAUNCH: [], MovementKind.FAILED_LAUNCH: []}
    at = 0
    while at + _RECORD.size <= len(data):
        kind, stored, key, offset, size, written, digest = _RECORD.unpack_from(data, at)
        at += _RECORD.size
        content = data[at : at + stored]
        at += stored
        if len(content) < stored or kind not in MovementKind.__members__.values():
            break
        if kind in launches:
            launches[kind].append(content.decode("utf-8", "replace"))
            continue
        kept = content if stored == size else None
        movements.append(Movement(MovementKind(kind), key, offset, size, written, digest, kept))
    successful, failed = launches[MovementKind.LAUNCH], launches[MovementKind.FAILED_LAUNCH]
    return Transcript(tuple(movements), tuple(successful), tuple(failed))
