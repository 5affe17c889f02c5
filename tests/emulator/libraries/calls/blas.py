"""Calls of cuBLAS in four types, with padding, strides and layouts; here those of vectors."""

from __future__ import annotations

import numpy as np

from tests.emulator.libraries.calls.blas_matrices import matrix_calls
from tests.emulator.libraries.calls.layouts import (
    DIAGONALS,
    FILLS,
    OPERATIONS,
    SHAPES,
    hermitian,
    triangle,
    unbanded,
    unpacked,
)
from tests.emulator.libraries.calls.suite import (
    Call,
    Kind,
    expecting,
    heavy,
    matrix,
    operated,
    scalar,
    values,
)

HEADERS = ("cublas_v2.h", "cuda_fp16.h")
START = """\
static cublasHandle_t handle;
static bool begin() { return cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS; }
"""


def calls(kind: Kind) -> list[Call]:
    """All calls of one type."""
    return [
        *_vectors(kind),
        *_reductions(kind),
        *_matrix_vector(kind),
        *_updates(kind),
        *_triangular_vector(kind),
        *matrix_calls(kind),
    ]


def _vectors(kind: Kind) -> list[Call]:
    """axpy, scal, copy, swap, rot with several increments."""
    p, t = kind.letter, kind.name
    alpha_text, alpha = scalar(kind, 1.5, -0.5)
    found = []
    for n, incx, incy in ((1, 1, 1), (9, 1, 1), (70, 2, 3)):
        x, y = values(kind, n * incx, 1), values(kind, n * incy, 2)
        head = f"  Array<{t}> x({n * incx}, 1), y({n * incy}, 2); const {t} alpha = {alpha_text};\n"
        xs, ys = x[::incx], y[::incy]
        made = y.copy()
        made[::incy] += alpha * xs
        code = f"  CHECK(cublas{p}axpy(handle, {n}, &alpha, x.at, {incx}, y.at, {incy}));"
        found.append(expecting(f"{p}axpy-{n}", f"{head}{code} y.show(label);", made, kind))
        made = x.copy()
        made[::incx] *= alpha
        code = f"  CHECK(cublas{p}scal(handle, {n}, &alpha, x.at, {incx}));"
        found.append(expecting(f"{p}scal-{n}", f"{head}{code} x.show(label);", made, kind))
        made = y.copy()
        made[::incy] = xs
        code = f"  CHECK(cublas{p}copy(handle, {n}, x.at, {incx}, y.at, {incy}));"
        found.append(expecting(f"{p}copy-{n}", f"{head}{code} y.show(label);", made, kind))
        made = x.copy()
        made[::incx] = ys
        code = f"  CHECK(cublas{p}swap(handle, {n}, x.at, {incx}, y.at, {incy}));"
        found.append(expecting(f"{p}swap-{n}", f"{head}{code} x.show(label);", made, kind))
        real = kind.real.name
        name = {"C": "Cs", "Z": "Zd"}.get(p, p)
        made = x.copy()
        made[::incx] = 0.6 * xs + 0.8 * ys
        code = (
            f"  const {real} c = 0.6, s = 0.8;"
            f" CHECK(cublas{name}rot(handle, {n}, x.at, {incx}, y.at, {incy}, &c, &s));"
        )
        found.append(expecting(f"{p}rot-{n}", f"{head}{code} x.show(label);", made, kind))
    return found


def _reductions(kind: Kind) -> list[Call]:
    p, t, real = kind.letter, kind.name, kind.real.name
    found = []
    of_real = {"C": "Sc", "Z": "Dz"}.get(p, p)
    for n, inc in ((9, 1), (70, 2)):
        x, y = values(kind, n * inc, 1), values(kind, n, 2)
        xs = x[::inc]
        head = f"  Array<{t}> x({n * inc}, 1), y({n}, 2); {t} value; {real} size; int index;\n"
        absolute = np.abs(xs.real) + np.abs(xs.imag)
        dots = {"": xs @ y} if not kind.is_complex else {"u": xs @ y, "c": xs.conj() @ y}
        for suffix, made in dots.items():
            code = f"  CHECK(cublas{p}dot{suffix}(handle, {n}, x.at, {inc}, y.at, 1, &value));"
            name = f"{p}dot{suffix}-{n}"
            found.append(expecting(name, f"{head}{code} show(label, value);", made, kind))
        for function, size in (("nrm2", np.linalg.norm(xs)), ("asum", absolute.sum())):
            code = f"  CHECK(cublas{of_real}{function}(handle, {n}, x.at, {inc}, &size));"
            name = f"{p}{function}-{n}"
            found.append(expecting(name, f"{head}{code} show(label, size);", size, kind))
        for function, place in (("amax", absolute.argmax()), ("amin", absolute.argmin())):
            code = f"  CHECK(cublasI{p.lower()}{function}(handle, {n}, x.at, {inc}, &index));"
            name = f"{p}{function}-{n}"
            found.append(expecting(name, f"{head}{code} show(label, index);", place + 1.0, kind))
    return found


def _matrix_vector(kind: Kind) -> list[Call]:
    """gemv, gbmv, symv or hemv, sbmv or hbmv, spmv or hpmv."""
    p, t = kind.letter, kind.name
    m, n, lda = 5, 7, 6
    alpha_text, alpha = scalar(kind, 1.5, -0.5)
    beta_text, beta = scalar(kind, 0.5, 0.25)
    scalars = f"  const {t} alpha = {alpha_text}, beta = {beta_text};\n"
    found = []
    for operation in "NTC":
        a, x, y = values(kind, lda * n, 1), values(kind, n, 2), values(kind, n, 3)
        of = operated(matrix(a, m, n, lda), operation)
        rows, columns = of.shape
        made = alpha * of @ x[:columns] + beta * y[:rows]
        code = (
            f"{scalars}  Array<{t}> a({lda * n}, 1), x({n}, 2), y({rows}, 3);"
            f" CHECK(cublas{p}gemv(handle, {OPERATIONS[operation]}, {m}, {n}, &alpha, a.at, {lda},"
            " x.at, 1, &beta, y.at, 1)); y.show(label);"
        )
        found.append(expecting(f"{p}gemv-{operation}", code, made, kind))
        lower, upper = 2, 1
        band = values(kind, lda * n, 1)
        dense = np.zeros((m, n), band.dtype)
        for i in range(m):
            for j in range(n):
                if j - upper <= i <= j + lower:
                    dense[i, j] = band[j * lda + upper + i - j]
        made = alpha * operated(dense, operation) @ x[:columns] + beta * y[:rows]
        code = (
            f"{scalars}  Array<{t}> a({lda * n}, 1), x({n}, 2), y({rows}, 3);"
            f" CHECK(cublas{p}gbmv(handle, {OPERATIONS[operation]}, {m}, {n}, {lower}, {upper},"
            f" &alpha, a.at, {lda}, x.at, 1, &beta, y.at, 1)); y.show(label);"
        )
        found.append(expecting(f"{p}gbmv-{operation}", code, made, kind))
    names = ("hemv", "hbmv", "hpmv") if kind.is_complex else ("symv", "sbmv", "spmv")
    for fill in "LU":
        n = 5
        x, y = values(kind, n, 2), values(kind, n, 3)
        arrays = f"{scalars}  Array<{t}> a({lda * n}, 1), x({n}, 2), y({n}, 3);"
        full = hermitian(matrix(values(kind, lda * n, 1), n, n, lda), fill)
        packed = unpacked(values(kind, lda * n, 1), n, fill)
        banded = unbanded(values(kind, lda * n, 1), n, lda, 2, fill)
        layouts = (
            (names[0], full, f"{n}, &alpha, a.at, {lda}"),
            (names[1], hermitian(banded, fill), f"{n}, 2, &alpha, a.at, {lda}"),
            (names[2], hermitian(packed, fill), f"{n}, &alpha, a.at"),
        )
        for function, dense, arguments in layouts:
            code = (
                f"{arrays} CHECK(cublas{p}{function}(handle, {FILLS[fill]}, {arguments},"
                " x.at, 1, &beta, y.at, 1)); y.show(label);"
            )
            made = alpha * dense @ x + beta * y
            found.append(expecting(f"{p}{function}-{fill}", code, made, kind))
    return found


def _updates(kind: Kind) -> list[Call]:
    """ger, syr or her, syr2 or her2: only their half of the matrix is written."""
    p, t = kind.letter, kind.name
    m, n, lda = 5, 4, 6
    alpha_text, alpha = scalar(kind, 1.5, -0.5)
    head = (
        f"  const {t} alpha = {alpha_text}; const {kind.real.name} size = 1.5; (void)alpha;"
        f" (void)size; Array<{t}> a({lda * n}, 1), x({m}, 2), y({m}, 3);\n"
    )
    x, y = values(kind, m, 2), values(kind, m, 3)
    found = []
    for suffix in ("u", "c") if kind.is_complex else ("",):
        memory = values(kind, lda * n, 1)
        of = matrix(memory, m, n, lda)
        of += alpha * np.outer(x, y[:n].conj() if suffix == "c" else y[:n])
        code = (
            f"{head}  CHECK(cublas{p}ger{suffix}(handle, {m}, {n}, &alpha, x.at, 1, y.at, 1, a.at,"
            f" {lda})); a.show(label);"
        )
        found.append(expecting(f"{p}ger{suffix}", code, memory, kind))
    first, second = ("her", "her2") if kind.is_complex else ("syr", "syr2")
    for fill in "LU":
        half = np.tril if fill == "L" else np.triu
        memory = values(kind, lda * n, 1)
        of = matrix(memory, n, n, lda)
        of += half(1.5 * np.outer(x[:n], x[:n].conj()))
        if kind.is_complex:  # of a Hermitian matrix: its diagonal becomes real
            of[np.diag_indices(n)] = np.diag(of).real
        code = (
            f"{head}  CHECK(cublas{p}{first}(handle, {FILLS[fill]}, {n}, &size, x.at, 1, a.at,"
            f" {lda})); a.show(label);"
        )
        found.append(expecting(f"{p}{first}-{fill}", code, memory, kind))
        memory = values(kind, lda * n, 1)
        of = matrix(memory, n, n, lda)
        product = alpha * np.outer(x[:n], y[:n].conj())
        of += half(product + product.conj().T)
        if kind.is_complex:
            of[np.diag_indices(n)] = np.diag(of).real
        code = (
            f"{head}  CHECK(cublas{p}{second}(handle, {FILLS[fill]}, {n}, &alpha, x.at, 1, y.at,"
            f" 1, a.at, {lda})); a.show(label);"
        )
        found.append(expecting(f"{p}{second}-{fill}", code, memory, kind))
    return found


def _triangular_vector(kind: Kind) -> list[Call]:
    """trmv, trsv, and tpmv, tpsv of packed ones."""
    p, t = kind.letter, kind.name
    n, lda = 6, 7
    found = []
    x = values(kind, n, 2)
    for fill, operation, diagonal in SHAPES:
        shape = f"{FILLS[fill]}, {OPERATIONS[operation]}, {DIAGONALS[diagonal]}, {n}"
        # Unit triangles of large elements amplify errors: these are small.
        of = matrix(heavy(values(kind, lda * n, 1), n, lda), n, n, lda)
        of = operated(triangle(of, fill, diagonal), operation)
        name = f"{fill}{operation}{diagonal}"
        head = f"  Array<{t}> a({lda * n}, 1), x({n}, 2); a.heavy({n}, {lda});\n"
        slack = 1.0 if diagonal == "N" else 100.0
        for function, made in (("trmv", of @ x), ("trsv", np.linalg.solve(of, x))):
            code = (
                f"{head}  CHECK(cublas{p}{function}(handle, {shape}, a.at, {lda}, x.at, 1));"
                " x.show(label);"
            )
            found.append(expecting(f"{p}{function}-{name}", code, made, kind, slack))
        packed = operated(
            triangle(unpacked(values(kind, lda * n, 1), n, fill), fill, diagonal), operation
        )
        head = f"  Array<{t}> a({lda * n}, 1), x({n}, 2);\n"
        code = f"{head}  CHECK(cublas{p}tpmv(handle, {shape}, a.at, x.at, 1)); x.show(label);"
        found.append(expecting(f"{p}tpmv-{name}", code, packed @ x, kind))
    return found
