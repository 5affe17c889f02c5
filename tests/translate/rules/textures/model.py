"""What each fetch of ``matrix.cu`` gives, by the CUDA C++ Programming Guide ("Texture Fetching").

Coordinates are treated as the guide's table of address modes has it, in the coordinates' own terms;
the texels that filtering blends are those around ``x - 0.5``, each looked up at its middle.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

COUNT, SIZES = 40, (11, 6, 5)
LINE, PLANE, VOLUME, LINES, PLANES = range(5)
_AXES = {LINE: 1, PLANE: 2, VOLUME: 3, LINES: 1, PLANES: 2}
WRAP, CLAMP, MIRROR, BORDER = range(4)
"""``cudaTextureAddressMode``."""
SIGNED, UNSIGNED, FLOAT = range(3)
"""``cudaChannelFormatKind``."""
_BORDER = (1.5, -2.25, 3.0, 0.125)


class Random:
    """The program's generator."""

    def __init__(self, state: int) -> None:
        self.state = state

    def next(self) -> int:
        self.state = (self.state * 1664525 + 1013904223) & 0xFFFFFFFF
        return self.state >> 8


@dataclass(frozen=True)
class Format:
    """A line of the program's ``main``."""

    name: str
    bits: int
    channels: int
    kind: int
    normal: bool = False

    @property
    def has_fractions(self) -> bool:
        return self.normal or self.kind == FLOAT

    def texels(self, channels: int) -> list[float]:
        """What is read of that many channels in a row."""
        random = Random(self.bits * 10 + self.kind)
        return [self._read(random.next()) for _ in range(channels)]

    def _read(self, drawn: int) -> float:
        if self.kind == FLOAT:
            return drawn % 32 - 16 if self.bits == 16 else (drawn % 4096 - 2048) / 256
        value = ((drawn << 8 | drawn >> 16) & 0xFFFFFFFF) % (1 << self.bits)
        if self.kind == SIGNED and value >> (self.bits - 1):
            value -= 1 << self.bits
        if not self.normal:
            return value
        largest = (1 << (self.bits - (self.kind == SIGNED))) - 1
        return float(np.float32(max(value / largest, -1.0)))

    def bytes_of(self, values: Sequence[float]) -> bytes:
        """A texel as a kernel has it in memory."""
        if self.has_fractions:
            return struct.pack(f"<{len(values)}f", *np.asarray(values, np.float32))
        size = self.bits // 8
        return b"".join((int(v) % (1 << self.bits)).to_bytes(size, "little") for v in values)


FORMATS = (
    Format("float", 32, 1, FLOAT),
    Format("float2", 32, 2, FLOAT),
    Format("float4", 32, 4, FLOAT),
    Format("half", 16, 1, FLOAT),
    Format("half4", 16, 4, FLOAT),
    Format("uchar4 normal", 8, 4, UNSIGNED, normal=True),
    Format("char normal", 8, 1, SIGNED, normal=True),
    Format("ushort2 normal", 16, 2, UNSIGNED, normal=True),
    Format("short4 normal", 16, 4, SIGNED, normal=True),
    Format("int", 32, 1, SIGNED),
    Format("uint4", 32, 4, UNSIGNED),
    Format("short2", 16, 2, SIGNED),
    Format("uchar4", 8, 4, UNSIGNED),
)


@dataclass(frozen=True)
class Texture:
    """An array of a shape and how it is read."""

    format: Format
    shape: int
    address: int
    linear: bool
    normalized: bool

    @property
    def axes(self) -> int:
        return _AXES[self.shape]

    @property
    def extent(self) -> tuple[int, int, int]:
        """Texels along x and y, slices or layers."""
        rows = SIZES[1] if self.shape in (PLANE, VOLUME, PLANES) else 1
        return SIZES[0], rows, SIZES[2] if self.shape >= VOLUME else 1

    def fetch(self, values: Sequence[float], at: Sequence[np.float32], layer: int) -> list[float]:
        layer = min(max(layer, 0), SIZES[2] - 1) if self.shape in (LINES, PLANES) else 0
        places = [
            float(at[axis]) * (SIZES[axis] if self.normalized else 1) for axis in range(self.axes)
        ]
        if not self.linear:
            return self._nearest(values, places, layer)
        corners = []
        for place in places:
            first = math.floor(place - 0.5)
            weight = float(np.rint((place - 0.5 - first) * 256) / 256)
            corners.append(((first + 0.5, 1 - weight), (first + 1.5, weight)))
        terms: list[list[float]] = [[] for _ in range(self.format.channels)]
        for corner in itertools.product(*corners):
            weight = math.prod(part for _, part in corner)
            for sum_, value in zip(
                terms, self._nearest(values, [place for place, _ in corner], layer), strict=True
            ):
                sum_.append(weight * value)
        return [math.fsum(each) for each in terms]

    def _nearest(self, values: Sequence[float], places: Sequence[float], layer: int) -> list[float]:
        index = [0, 0, layer]
        for axis, place in enumerate(places):
            found = self._addressed(place, SIZES[axis])
            if found is None:
                border = _BORDER if self.format.kind == FLOAT else (0.0,) * 4
                return list(border[: self.format.channels])
            index[axis] = found
        width, height, _ = self.extent
        texel = (index[2] * height + index[1]) * width + index[0]
        return list(values[texel * self.format.channels :][: self.format.channels])

    def _addressed(self, place: float, size: int) -> int | None:
        """The texel of an axis; None on the border."""
        x = place / size
        if self.address == BORDER and not 0 <= x < 1:
            return None
        if self.normalized and self.address in (WRAP, MIRROR):
            place -= size * math.floor(x)
            if self.address == MIRROR and math.floor(x) % 2:
                place = size - place
        return min(max(math.floor(place), 0), size - 1)


def places(shape: int, mode: int, normalized: bool) -> Iterator[tuple[list[np.float32], int]]:
    """The coordinates and the layer of each fetch."""
    random = Random(1000 + 16 * shape + mode)
    for _ in range(COUNT):
        at = []
        for size in SIZES:
            steps = size * 4096
            texel = np.float32((random.next() % (4 * steps) - steps * 3 // 2) / 4096)
            at.append(np.float32(texel / np.float32(size)) if normalized else texel)
        yield at, random.next() % (SIZES[2] + 2) - 1


def expected() -> dict[str, list[str]]:
    """The words of each line that ``matrix.cu`` prints."""
    lines: dict[str, list[str]] = {}
    for form, shape, mode in itertools.product(FORMATS, range(5), range(16)):
        texture = Texture(form, shape, mode // 4, bool(mode & 2), bool(mode & 1))
        if texture.linear and not form.has_fractions:
            continue
        values = form.texels(math.prod(texture.extent) * form.channels)
        fetched = b"".join(
            form.bytes_of(texture.fetch(values, at, layer))
            for at, layer in places(shape, mode, texture.normalized)
        )
        words = struct.unpack(f"<{len(fetched) // 4}I", fetched)
        lines[f"{form.name} {shape} {mode}"] = [f"{word:x}" for word in words]
    return lines
