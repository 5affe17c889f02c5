"""Plans of cuFFT: one to three dimensions, complex and real, batches, strides, both directions."""

from __future__ import annotations

import math

import numpy as np

from tests.emulator.libraries.calls.suite import Call, Kind, expecting, values

HEADERS = ("cufft.h",)
START = """\
static bool begin() { return true; }
"""
_SHAPES = ((8,), (15,), (49,), (128,), (12, 10), (4, 6, 5))
_SLACK = 50.0
"""Of the type's tolerance: a transform of many points adds as many rounding errors."""


def calls(kind: Kind) -> list[Call]:
    """The transforms whose complex type is ``kind``; none for real types."""
    if not kind.is_complex:
        return []
    found = []
    for shape in _SHAPES:
        found += [_complex(kind, shape, direction) for direction in ("FORWARD", "INVERSE")]
        found += [_from_real(kind, shape), _to_real(kind, shape)]
    return [*found, *_batches(kind)]


def _names(kind: Kind) -> tuple[str, str, str]:
    """cuFFT's names of complex, real to complex, complex to real."""
    return ("C2C", "R2C", "C2R") if kind.letter == "C" else ("Z2Z", "D2Z", "Z2D")


def _plan(shape: tuple[int, ...], kind_of_plan: str) -> str:
    sizes = ", ".join(str(size) for size in shape)
    batch = ", 1" if len(shape) == 1 else ""
    make = f"cufftPlan{len(shape)}d(&plan, {sizes}, CUFFT_{kind_of_plan}{batch})"
    return f"cufftHandle plan; CHECK({make});"


def _complex(kind: Kind, shape: tuple[int, ...], direction: str) -> Call:
    size = math.prod(shape)
    given = values(kind, size, 1).reshape(shape)
    made = np.fft.fftn(given) if direction == "FORWARD" else np.fft.ifftn(given) * size
    name = _names(kind)[0]
    code = (
        f"  Array<{kind.name}> x({size}, 1), y({size}, 2); {_plan(shape, name)}\n"
        f"  CHECK(cufftExec{name}(plan, x.at, y.at, CUFFT_{direction})); y.show(label);"
        " CHECK(cufftDestroy(plan));"
    )
    label = "x".join(str(each) for each in shape)
    return expecting(f"{name}-{direction}-{label}", code, made, kind, _SLACK)


def _from_real(kind: Kind, shape: tuple[int, ...]) -> Call:
    size = math.prod(shape)
    made = np.fft.rfftn(values(kind.real, size, 1).reshape(shape))
    name = _names(kind)[1]
    code = (
        f"  Array<{kind.real.name}> x({size}, 1); Array<{kind.name}> y({made.size}, 2);"
        f" {_plan(shape, name)}\n  CHECK(cufftExec{name}(plan, x.at, y.at)); y.show(label);"
        " CHECK(cufftDestroy(plan));"
    )
    label = "x".join(str(each) for each in shape)
    return expecting(f"{name}-{label}", code, made, kind, _SLACK)


def _to_real(kind: Kind, shape: tuple[int, ...]) -> Call:
    """There and back, in one plan each: what comes back is the input times its size.

    A half of a spectrum that no real signal has is nobody's promise.
    """
    size = math.prod(shape)
    half = math.prod(shape[:-1]) * (shape[-1] // 2 + 1)
    there, back = _names(kind)[1:]
    code = (
        f"  Array<{kind.real.name}> x({size}, 1), z({size}, 3); Array<{kind.name}> y({half}, 2);\n"
        f"  {{ {_plan(shape, there)} CHECK(cufftExec{there}(plan, x.at, y.at)); }}\n"
        f"  {_plan(shape, back)} CHECK(cufftExec{back}(plan, y.at, z.at)); z.show(label);"
    )
    label = "x".join(str(each) for each in shape)
    return expecting(f"{back}-{label}", code, values(kind.real, size, 1) * size, kind, _SLACK)


def _batches(kind: Kind) -> list[Call]:
    """Three transforms at once: one behind the other, interleaved, and in place."""
    name, n, batch = _names(kind)[0], 16, 3
    given = values(kind, n * batch, 1)
    layouts = {
        "rows": (1, n, given.reshape(batch, n), 1),
        "columns": (batch, 1, given.reshape(n, batch), 0),
    }
    found = []
    for label, (stride, distance, array, axis) in layouts.items():
        for target in ("y", "x"):
            code = (
                f"  Array<{kind.name}> x({n * batch}, 1), y({n * batch}, 2); cufftHandle plan;"
                f" int n = {n};\n  CHECK(cufftPlanMany(&plan, 1, &n, &n, {stride}, {distance}, &n,"
                f" {stride}, {distance}, CUFFT_{name}, {batch}));\n"
                f"  CHECK(cufftExec{name}(plan, x.at, {target}.at, CUFFT_FORWARD));"
                f" {target}.show(label);"
            )
            made = np.fft.fft(array, axis=axis)
            place = "in-place" if target == "x" else "out-of-place"
            found.append(expecting(f"{name}-{label}-{place}", code, made, kind, _SLACK))
    return found
