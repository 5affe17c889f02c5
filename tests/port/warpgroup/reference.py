"""What the instructions give, from the PTX ISA's fragments and cuTe's canonical layouts.

Only for whole numbers whose sums are exact, and for products with the identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.port.warpgroup.cases import ATOM_CHUNKS, CHUNK, IMAGE_BYTES, Case, Descriptor
from tests.port.warpgroup.forms import BITS, ROW_BYTES, ROWS, WARPGROUP, Form
from tests.port.warpgroup.numbers import (
    IDENTITY_LEADING,
    IDENTITY_PLACE,
    IDENTITY_STRIDE,
    Words,
    filled,
)

Matrix = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]


def _decoded(data: npt.NDArray[np.uint8], kind: str) -> npt.NDArray[np.float64] | Numbers:
    """Numbers of the bytes along the last axis."""
    if kind == "f16":
        return data.view("<f2").astype(np.float64)
    if kind == "bf16":
        return (data.view("<u2").astype(np.uint32) << np.uint32(16)).view("<f4").astype(np.float64)
    if kind == "tf32":
        return (data.view("<u4") & np.uint32(0xFFFFE000)).view("<f4").astype(np.float64)
    if kind == "b1":
        return np.unpackbits(data, axis=-1).astype(np.int64)
    if kind in ("s8", "u8"):
        return data.view("i1" if kind == "s8" else "u1").astype(np.int64)
    exponent_bits, fraction_bits = (4, 3) if kind == "e4m3" else (5, 2)
    exponent = (data >> fraction_bits & (1 << exponent_bits) - 1).astype(np.int64)
    fraction = (data & (1 << fraction_bits) - 1).astype(np.float64) / (1 << fraction_bits)
    bias = (1 << exponent_bits - 1) - 1
    magnitude = np.where(
        exponent > 0,
        (1 + fraction) * 2.0 ** (exponent - bias),
        fraction * 2.0 ** (1 - bias),
    )
    return np.where(data >> 7, -magnitude, magnitude)


def _index(coordinate: int, shape: Sequence[int], strides: Sequence[int]) -> int:
    """A coordinate taken apart, the first digit the lowest, in a layout of cuTe's."""
    total = 0
    for size, stride in zip(shape, strides, strict=True):
        total += coordinate % size * stride
        coordinate //= size
    return total


_REST = 1 << 20


def _places(
    descriptor: Descriptor, rows: int, row_bytes: int, *, transposed: bool, bytes_each: int
) -> Numbers:
    """The byte at which each element of a matrix is, rows × elements of K.

    cuTe, ``make_gmma_desc``: shapes ((T,W,m),(8,k)) and ((8,m),(T,2)).
    """
    width, each = ATOM_CHUNKS[descriptor.mode], CHUNK // bytes_each
    leading, stride = descriptor.leading, descriptor.stride
    if transposed and descriptor.mode == 0:
        across = (each, _REST), (bytes_each, stride)
        along = (8, _REST), (CHUNK, leading)
    elif transposed:
        across = (each, width, _REST), (bytes_each, CHUNK, leading)  # type: ignore[assignment]
        along = (8, _REST), (width * CHUNK, stride)
    else:
        across = (8, _REST), (width * CHUNK, stride)
        along = (each, width, _REST), (bytes_each, CHUNK, leading)  # type: ignore[assignment]
    rows_at = [_index(row, *across) for row in range(rows)]
    columns_at = [_index(k, *along) for k in range(row_bytes // bytes_each)]
    places = descriptor.start + np.add.outer(rows_at, columns_at)
    # Swizzle<log2 W, 4, 3>; what the base offset does, an H100 has shown (``hardware.json``).
    return np.asarray(places ^ ((places >> 7) - descriptor.base & width - 1) << 4, np.int64)


def _matrix(
    image: npt.NDArray[np.uint8],
    kind: str,
    descriptor: Descriptor,
    shape: tuple[int, int],
    *,
    transposed: bool,
) -> npt.NDArray[np.float64] | Numbers:
    """``shape``: rows, and bytes of each."""
    each = max(BITS[kind] // 8, 1)
    places = _places(descriptor, *shape, transposed=transposed, bytes_each=each)
    data = image[places[..., None] + np.arange(each)].reshape(shape)
    return _decoded(np.ascontiguousarray(data), kind)


def _image(case: Case) -> npt.NDArray[np.uint8]:
    image = np.frombuffer(filled(case.image, case.seed, IMAGE_BYTES // 4), np.uint8).copy()
    if case.image == "unique with identity":
        halves = image.view("<u2")
        for row, column in np.ndindex(16, 16):
            place = IDENTITY_PLACE + row // 8 * IDENTITY_STRIDE + column // 8 * IDENTITY_LEADING
            halves[place // 2 + row % 8 * 8 + column % 8] = 0x3C00 if row == column else 0
    return image


def _a_in_registers(case: Case) -> npt.NDArray[np.float64] | Numbers:
    if case.a == "identity":
        return np.tile(np.eye(16), (4, 1))
    words = np.frombuffer(filled(case.a, case.seed + 1, 4 * WARPGROUP), "<u4")
    held = words.reshape(4, 4, 8, 4)  # register, warp, group of lanes, lane in the group
    rows = np.empty((ROWS, ROW_BYTES // 4), np.uint32)
    for register, warp, group, lane in np.ndindex(*held.shape):
        row = 16 * warp + group + 8 * (register % 2)
        rows[row, lane + 4 * (register // 2)] = held[register, warp, group, lane]
    return _decoded(rows.view(np.uint8), case.form.a)


def _whole(
    stored: npt.NDArray[np.float64] | Numbers, case: Case
) -> npt.NDArray[np.float64] | Numbers:
    """A sparse matrix with its zeros. Which lane has a nibble: as an H100 has it
    (``docs/lift/what_is_lifted.md``)."""
    form, bits = case.form, BITS[case.form.a]
    held = np.frombuffer(filled(case.metadata, case.seed + 3, WARPGROUP), "<u4").reshape(4, 8, 4)
    whole = np.zeros((ROWS, form.depth), stored.dtype)
    step, kept = (2, 1) if bits == 32 else (4, 2)
    for row, chunk in np.ndindex(ROWS, form.depth // step):
        warp, upper, group = row // 16, row % 16 // 8, row % 8
        if bits == 8:
            word, place = held[warp, group, upper + 2 * (chunk // 8)], chunk % 8
        else:
            lane = 2 * form.selector + chunk // 4
            word, place = held[warp, group, lane], chunk % 4 + 4 * upper
        nibble = int(word) >> 4 * place & 15
        indices = [int(nibble == 0b1110)] if bits == 32 else [nibble & 3, nibble >> 2]
        for number, index in enumerate(indices):
            whole[row, step * chunk + index] = stored[row, kept * chunk + number]
    return whole


def _sums_before(case: Case) -> npt.NDArray[np.float64] | Numbers:
    form = case.form
    words = np.frombuffer(filled(case.sums, case.seed + 2, form.words * WARPGROUP), "<u4")
    held = words.reshape(form.words, WARPGROUP)
    if form.result == "f16":
        halves = held.view("<f2").reshape(form.words, WARPGROUP, 2).astype(np.float64)
        numbers = halves.transpose(0, 2, 1).reshape(2 * form.words, WARPGROUP)
    elif form.result == "f32":
        numbers = held.view("<f4").astype(np.float64)
    else:
        numbers = held.view("<i4").astype(np.int64)
    return np.asarray(numbers)


def _by_thread(matrix: Matrix, form: Form) -> Matrix:
    """The numbers of a result, 2 × 2 × tiles for each thread, in the order of its registers."""
    tiles = matrix.reshape(4, 2, 8, form.width // 8, 4, 2)  # warp, +8, group, tile, lane, column
    return tiles.transpose(3, 1, 5, 0, 2, 4).reshape(form.width // 2, WARPGROUP)


def result(case: Case) -> Words:
    """The registers of the result, register by register of all threads."""
    form = case.form
    image = _image(case)
    if form.a_in_registers:
        a = _a_in_registers(case)
    else:
        a = _matrix(image, form.a, case.of_a, (ROWS, ROW_BYTES), transposed=form.transposes_a)
    if form.sparse:
        a = _whole(a, case)
    row_bytes = ROW_BYTES * form.depth // form.products
    b = _matrix(image, form.b, case.of_b, (form.width, row_bytes), transposed=form.transposes_b)
    products = _by_thread(a @ b.T, form)
    if form.negates_a != form.negates_b:
        products = -products
    # A zero is positive, whatever its terms are.
    total = products + (_sums_before(case) if case.keeps else 0)
    if form.result == "f32":
        return np.asarray(total, "<f4").view("<u4").reshape(-1)
    if form.result == "f16":
        pairs = total.astype("<f2").reshape(form.words, 2, WARPGROUP).transpose(0, 2, 1)
        return np.ascontiguousarray(pairs).view("<u4").reshape(-1)
    if form.saturates:
        total = np.clip(total, -(1 << 31), (1 << 31) - 1)
    return np.asarray(total, np.int64).astype("<u4").reshape(-1)
