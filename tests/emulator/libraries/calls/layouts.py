"""Matrices of which cuBLAS is given a half, a band or a packed half."""

from __future__ import annotations

import numpy as np

from tests.emulator.libraries.calls.suite import Array

OPERATIONS = {"N": "CUBLAS_OP_N", "T": "CUBLAS_OP_T", "C": "CUBLAS_OP_C"}
SIDES = {"L": "CUBLAS_SIDE_LEFT", "R": "CUBLAS_SIDE_RIGHT"}
FILLS = {"L": "CUBLAS_FILL_MODE_LOWER", "U": "CUBLAS_FILL_MODE_UPPER"}
DIAGONALS = {"N": "CUBLAS_DIAG_NON_UNIT", "U": "CUBLAS_DIAG_UNIT"}


def hermitian(array: Array, fill: str) -> Array:
    """The matrix of which one half is stored; for real types the symmetric one."""
    half = np.tril(array, -1) if fill == "L" else np.triu(array, 1)
    whole: Array = half + half.conj().T + np.diag(np.diag(array).real)
    return whole


def unpacked(memory: Array, n: int, fill: str) -> Array:
    """The half that packed storage holds, column after column."""
    dense = np.zeros((n, n), memory.dtype)
    place = 0
    for j in range(n):
        for i in range(j, n) if fill == "L" else range(j + 1):
            dense[i, j] = memory[place]
            place += 1
    return dense


def unbanded(memory: Array, n: int, lda: int, width: int, fill: str) -> Array:
    """The half that banded storage holds."""
    dense = np.zeros((n, n), memory.dtype)
    for j in range(n):
        below, above = range(j, min(n, j + width + 1)), range(max(0, j - width), j + 1)
        for i in below if fill == "L" else above:
            dense[i, j] = memory[j * lda + (i - j if fill == "L" else width + i - j)]
    return dense


def triangle(array: Array, fill: str, diagonal: str) -> Array:
    """The half that counts; with a unit diagonal whatever is stored there."""
    half = np.tril(array) if fill == "L" else np.triu(array)
    if diagonal == "U":
        half = half - np.diag(np.diag(half)) + np.eye(len(half))
    return half


SHAPES = (("L", "N", "N"), ("U", "T", "N"), ("U", "N", "U"), ("L", "C", "U"))
"""Half, operation and diagonal of triangular matrices."""
