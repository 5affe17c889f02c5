"""Calls of cuBLAS that multiply, solve and update matrices."""

from __future__ import annotations

import numpy as np

from tests.emulator.libraries.calls.layouts import (
    DIAGONALS,
    FILLS,
    OPERATIONS,
    SHAPES,
    SIDES,
    hermitian,
    triangle,
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


def matrix_calls(kind: Kind) -> list[Call]:
    """All calls of one type."""
    return [
        *_gemm(kind),
        *_symmetric(kind),
        *_rank(kind),
        *_triangular(kind),
        *_extensions(kind),
    ]


def _gemm(kind: Kind) -> list[Call]:
    p, t = kind.letter, kind.name
    alpha_text, alpha = scalar(kind, 1.5, -0.5)
    beta_text, beta = scalar(kind, 0.5, 0.25)
    found = []
    adjoint = ("CN", "NC", "CC") if kind.is_complex else ()
    layouts = [(layout[0], layout[1]) for layout in ("NN", "NT", "TN", "TT", *adjoint)]
    for m, n, k in ((5, 4, 3), (33, 17, 40)):
        for first, second in layouts:
            a_shape = (m, k) if first == "N" else (k, m)
            b_shape = (k, n) if second == "N" else (n, k)
            lda, ldb, ldc = a_shape[0] + 1, b_shape[0] + 2, m + 1
            sizes = lda * a_shape[1], ldb * b_shape[1], ldc * n
            a = matrix(values(kind, sizes[0], 1), *a_shape, lda)
            b = matrix(values(kind, sizes[1], 2), *b_shape, ldb)
            memory = values(kind, sizes[2], 3)
            c = matrix(memory, m, n, ldc)
            c[:] = alpha * operated(a, first) @ operated(b, second) + beta * c
            code = (
                f"  const {t} alpha = {alpha_text}, beta = {beta_text};\n"
                f"  Array<{t}> a({sizes[0]}, 1), b({sizes[1]}, 2), c({sizes[2]}, 3);\n"
                f"  CHECK(cublas{p}gemm(handle, {OPERATIONS[first]}, {OPERATIONS[second]}, {m},"
                f" {n}, {k}, &alpha, a.at, {lda}, b.at, {ldb}, &beta, c.at, {ldc}));"
                " c.show(label);"
            )
            found.append(expecting(f"{p}gemm-{first}{second}-{m}", code, memory, kind))
    return [*found, *_batches(kind)]


def _batches(kind: Kind) -> list[Call]:
    """Three products at once: of strided matrices, and of matrices by their pointers."""
    p, t = kind.letter, kind.name
    n, size = 4, 16
    a, b = values(kind, 3 * size, 1), values(kind, 3 * size, 2)
    products = [
        (matrix(a[i * size :], n, n, n) @ matrix(b[i * size :], n, n, n)).T.ravel()
        for i in range(3)
    ]
    head = (
        f"  const {t} alpha = make<{t}>(1), beta = make<{t}>(0);\n"
        f"  Array<{t}> a({3 * size}, 1), b({3 * size}, 2), c({3 * size}, 3);\n"
    )
    strided = (
        f"{head}  CHECK(cublas{p}gemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, {n}, {n},"
        f" {n}, &alpha, a.at, {n}, {size}, b.at, {n}, {size}, &beta, c.at, {n}, {size}, 3));"
        " c.show(label);"
    )
    batched = (
        f"{head}  {t}* lists[9]; for (int i = 0; i < 3; ++i) lists[i] = a.at + i * {size},"
        f" lists[3 + i] = b.at + i * {size}, lists[6 + i] = c.at + i * {size};\n"
        f"  {t}** all = static_cast<{t}**>(room(sizeof lists));"
        " ok(cudaMemcpy(all, lists, sizeof lists, cudaMemcpyHostToDevice));\n"
        f"  CHECK(cublas{p}gemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, {n}, {n}, {n}, &alpha,"
        f" all, {n}, all + 3, {n}, &beta, all + 6, {n}, 3)); c.show(label);"
    )
    made = np.concatenate(products)
    return [
        expecting(f"{p}gemmStridedBatched", strided, made, kind),
        expecting(f"{p}gemmBatched", batched, made, kind),
    ]


def _symmetric(kind: Kind) -> list[Call]:
    """symm, and hemm of complex types, from both sides."""
    p, t = kind.letter, kind.name
    m, n = 5, 4
    alpha_text, alpha = scalar(kind, 1.5, -0.5)
    beta_text, beta = scalar(kind, 0.5, 0.25)
    found = []
    for function in ("symm", "hemm") if kind.is_complex else ("symm",):
        for side, fill in (("L", "L"), ("R", "U")):
            order = m if side == "L" else n
            lda = order + 1
            a = matrix(values(kind, lda * order, 1), order, order, lda)
            b, c = values(kind, m * n, 2), values(kind, m * n, 3)
            half = np.tril(a, -1) if fill == "L" else np.triu(a, 1)
            of = half + half.T + np.diag(np.diag(a))
            if function == "hemm":
                of = hermitian(a, fill)
            second = matrix(b, m, n, m)
            product = of @ second if side == "L" else second @ of
            target = matrix(c, m, n, m)
            target[:] = alpha * product + beta * target
            code = (
                f"  const {t} alpha = {alpha_text}, beta = {beta_text};\n"
                f"  Array<{t}> a({lda * order}, 1), b({m * n}, 2), c({m * n}, 3);\n"
                f"  CHECK(cublas{p}{function}(handle, {SIDES[side]}, {FILLS[fill]}, {m}, {n},"
                f" &alpha, a.at, {lda}, b.at, {m}, &beta, c.at, {m})); c.show(label);"
            )
            found.append(expecting(f"{p}{function}-{side}{fill}", code, c, kind))
    return found


def _rank(kind: Kind) -> list[Call]:
    """syrk, syr2k, and herk, her2k of complex types."""
    p, t, real = kind.letter, kind.name, kind.real.name
    n, k, ldc = 5, 3, 6
    alpha_text, alpha = scalar(kind, 1.5, -0.5)
    beta_text, beta = scalar(kind, 0.5, 0.25)
    found = []
    for fill, operation in (("L", "N"), ("U", "T")):
        half = np.tril if fill == "L" else np.triu
        rows, columns = (n, k) if operation == "N" else (k, n)
        a = matrix(values(kind, rows * columns, 1), rows, columns, rows)
        b = matrix(values(kind, rows * columns, 2), rows, columns, rows)
        arrays = (
            f"  Array<{t}> a({n * k}, 1), b({n * k}, 2), c({ldc * n}, 3);"
            f" const {t} alpha = {alpha_text}, beta = {beta_text};"
            f" const {real} size = 1.5, other = 0.5;"
            " (void)alpha, (void)beta, (void)size, (void)other;\n"
        )
        shape = f"{FILLS[fill]}, {OPERATIONS[operation]}, {n}, {k}"
        x, y = operated(a, operation), operated(b, operation)
        results = [
            ("syrk", f"&alpha, a.at, {rows}, &beta", alpha * x @ x.T, beta),
            (
                "syr2k",
                f"&alpha, a.at, {rows}, b.at, {rows}, &beta",
                alpha * (x @ y.T + y @ x.T),
                beta,
            ),
        ]
        for function, arguments, product, factor in results:
            memory = values(kind, ldc * n, 3)
            c = matrix(memory, n, n, ldc)
            keep = c - half(c)
            c[:] = keep + half(product + factor * c)
            code = (
                f"{arrays}  CHECK(cublas{p}{function}(handle, {shape}, {arguments}, c.at, {ldc}));"
                " c.show(label);"
            )
            found.append(expecting(f"{p}{function}-{fill}{operation}", code, memory, kind))
        if not kind.is_complex:
            continue
        adjoint = "N" if operation == "N" else "C"
        shape = f"{FILLS[fill]}, {OPERATIONS[adjoint]}, {n}, {k}"
        x, y = operated(a, adjoint), operated(b, adjoint)
        product = alpha * x @ y.conj().T
        if adjoint == "C":  # of A^H B, not of A B^H
            product = alpha * a.conj().T @ b
        results = [
            ("herk", f"&size, a.at, {rows}, &other", 1.5 * x @ x.conj().T, 0.5),
            (
                "her2k",
                f"&alpha, a.at, {rows}, b.at, {rows}, &other",
                product + product.conj().T,
                0.5,
            ),
        ]
        for function, arguments, product, factor in results:
            memory = values(kind, ldc * n, 3)
            c = matrix(memory, n, n, ldc)
            keep = c - half(c)
            made = half(product + factor * c)
            made[np.diag_indices(n)] = np.diag(made).real
            c[:] = keep + made
            code = (
                f"{arrays}  CHECK(cublas{p}{function}(handle, {shape}, {arguments}, c.at, {ldc}));"
                " c.show(label);"
            )
            found.append(expecting(f"{p}{function}-{fill}{adjoint}", code, memory, kind))
    return found


def _triangular(kind: Kind) -> list[Call]:
    """trmm, which in cuBLAS writes a third matrix, and trsm, from both sides."""
    p, t = kind.letter, kind.name
    m, n = 6, 4
    alpha_text, alpha = scalar(kind, 1.5, -0.5)
    found = []
    for side in "LR":
        order = m if side == "L" else n
        lda = order + 1
        for fill, operation, diagonal in SHAPES:
            a = matrix(heavy(values(kind, lda * order, 1), order, lda), order, order, lda)
            of = operated(triangle(a, fill, diagonal), operation)
            b = matrix(values(kind, m * n, 2), m, n, m)
            head = (
                f"  const {t} alpha = {alpha_text}; Array<{t}> a({lda * order}, 1), b({m * n}, 2),"
                f" c({m * n}, 3); a.heavy({order}, {lda});\n"
            )
            shape = (
                f"{SIDES[side]}, {FILLS[fill]}, {OPERATIONS[operation]},"
                f" {DIAGONALS[diagonal]}, {m}, {n}, &alpha, a.at, {lda}, b.at, {m}"
            )
            name = f"{side}{fill}{operation}{diagonal}"
            product = alpha * (of @ b if side == "L" else b @ of)
            code = f"{head}  CHECK(cublas{p}trmm(handle, {shape}, c.at, {m})); c.show(label);"
            found.append(expecting(f"{p}trmm-{name}", code, product.T.ravel(), kind))
            if side == "L":
                solution = np.linalg.solve(of, alpha * b)
            else:
                solution = np.linalg.solve(of.T, alpha * b.T).T
            slack = 1.0 if diagonal == "N" else 100.0
            code = f"{head}  CHECK(cublas{p}trsm(handle, {shape})); b.show(label);"
            found.append(expecting(f"{p}trsm-{name}", code, solution.T.ravel(), kind, slack))
    return found


def _extensions(kind: Kind) -> list[Call]:
    """geam and dgmm, cuBLAS's own."""
    p, t = kind.letter, kind.name
    m, n = 5, 4
    alpha_text, alpha = scalar(kind, 1.5, -0.5)
    beta_text, beta = scalar(kind, 0.5, 0.25)
    head = (
        f"  const {t} alpha = {alpha_text}, beta = {beta_text}; (void)alpha, (void)beta;\n"
        f"  Array<{t}> a({m * n}, 1), b({m * n}, 2), c({m * n}, 3), x({m}, 4);\n"
    )
    a, b = values(kind, m * n, 1), values(kind, m * n, 2)
    x = values(kind, m, 4)
    sum_ = alpha * matrix(a, n, m, n).T + beta * matrix(b, m, n, m)
    geam = (
        f"{head}  CHECK(cublas{p}geam(handle, CUBLAS_OP_T, CUBLAS_OP_N, {m}, {n}, &alpha, a.at,"
        f" {n}, &beta, b.at, {m}, c.at, {m})); c.show(label);"
    )
    found = [expecting(f"{p}geam", geam, sum_.T.ravel(), kind)]
    for side, order in (("L", m), ("R", n)):
        of = matrix(a, m, n, m)
        scaled = x[:order, None] * of if side == "L" else of * x[:order]
        code = (
            f"{head}  CHECK(cublas{p}dgmm(handle, {SIDES[side]}, {m}, {n}, a.at, {m}, x.at, 1,"
            f" c.at, {m})); c.show(label);"
        )
        found.append(expecting(f"{p}dgmm-{side}", code, scaled.T.ravel(), kind))
    return found
