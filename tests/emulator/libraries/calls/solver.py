"""Calls of cuSOLVER's dense part: factors, solutions, eigenvalues and singular values."""

from __future__ import annotations

import numpy as np
import scipy.linalg  # type: ignore[import-untyped]

from tests.emulator.libraries.calls.suite import Array, Call, Kind, expecting, heavy, matrix, values

HEADERS = ("cusolverDn.h",)
START = """\
static cusolverDnHandle_t handle;
static bool begin() { return cusolverDnCreate(&handle) == CUSOLVER_STATUS_SUCCESS; }
"""
_N, _LDA = 6, 7
_SLACK = 20.0
"""Of the type's tolerance, for what is computed in many steps."""


def calls(kind: Kind) -> list[Call]:
    """All calls of one type."""
    return [*_lu(kind), *_cholesky(kind), *_qr(kind), *_spectra(kind)]


def _square(kind: Kind) -> Array:
    return matrix(heavy(values(kind, _LDA * _N, 1), _N, _LDA), _N, _N, _LDA)


def _head(kind: Kind) -> str:
    t = kind.name
    return (
        f"  Array<{t}> a({_LDA * _N}, 1), b({2 * _N}, 2); a.heavy({_N}, {_LDA});"
        f" Array<int> pivots({_N}, 1), info(1, 1); int count = 0; (void)count;\n"
    )


def _work(kind: Kind) -> str:
    return f"{kind.name}* work = static_cast<{kind.name}*>(room(count * sizeof({kind.name})))"


def _lu(kind: Kind) -> list[Call]:
    """getrf with its pivots, getrs with each operation."""
    p = kind.letter
    of = _square(kind)
    factors, pivots = scipy.linalg.lu_factor(of)
    memory = heavy(values(kind, _LDA * _N, 1), _N, _LDA)
    matrix(memory, _N, _N, _LDA)[:] = factors
    factor = (
        f"{_head(kind)}  CHECK(cusolverDn{p}getrf_bufferSize(handle, {_N}, {_N}, a.at, {_LDA},"
        f" &count)); {_work(kind)};\n"
        f"  CHECK(cusolverDn{p}getrf(handle, {_N}, {_N}, a.at, {_LDA}, work, pivots.at,"
        " info.at));\n"
    )
    b = matrix(values(kind, 2 * _N, 2), _N, 2, _N)
    found = [
        expecting(f"{p}getrf", f"{factor}  a.show(label);", memory, kind, _SLACK),
        expecting(f"{p}getrf-pivots", f"{factor}  pivots.show(label);", pivots + 1.0, kind),
        expecting(f"{p}getrf-info", f"{factor}  info.show(label);", 0.0, kind),
    ]
    for operation, matrix_ in (("N", of), ("T", of.T), ("C", of.conj().T)):
        code = (
            f"{factor}  CHECK(cusolverDn{p}getrs(handle, CUBLAS_OP_{operation}, {_N}, 2, a.at,"
            f" {_LDA}, pivots.at, b.at, {_N}, info.at)); b.show(label);"
        )
        made = np.linalg.solve(matrix_, b).T.ravel()
        found.append(expecting(f"{p}getrs-{operation}", code, made, kind, _SLACK))
    return found


def _cholesky(kind: Kind) -> list[Call]:
    """potrf and potrs of both halves; the other half stays."""
    p = kind.letter
    b = matrix(values(kind, 2 * _N, 2), _N, 2, _N)
    found = []
    for fill, name in (("L", "LOWER"), ("U", "UPPER")):
        memory = heavy(values(kind, _LDA * _N, 1), _N, _LDA)
        of = matrix(memory, _N, _N, _LDA)
        of[np.diag_indices(_N)] *= 2  # so that it is definite
        half = np.tril(of, -1) if fill == "L" else np.triu(of, 1)
        whole = half + half.conj().T + np.diag(np.diag(of))
        factor = np.linalg.cholesky(whole)
        made = factor if fill == "L" else factor.conj().T
        keep = np.tril(of, -1) if fill == "U" else np.triu(of, 1)
        shape = f"handle, CUBLAS_FILL_MODE_{name}, {_N}"
        code = (
            f"{_head(kind)}  std::vector<{kind.name}> all = a.host();"
            f" for (int i = 0; i < {_N}; ++i)"
            f" all[i * {_LDA + 1}] = make<{kind.name}>(2 * (16 + i));\n"
            f"  Array<{kind.name}> c(all);\n"
            f"  CHECK(cusolverDn{p}potrf_bufferSize({shape}, c.at, {_LDA}, &count));"
            f" {_work(kind)};\n"
            f"  CHECK(cusolverDn{p}potrf({shape}, c.at, {_LDA}, work, count, info.at));\n"
        )
        of[:] = keep + made
        found.append(expecting(f"{p}potrf-{fill}", f"{code}  c.show(label);", memory, kind, _SLACK))
        code += (
            f"  CHECK(cusolverDn{p}potrs({shape}, 2, c.at, {_LDA}, b.at, {_N}, info.at));"
            " b.show(label);"
        )
        solution = np.linalg.solve(whole, b).T.ravel()
        found.append(expecting(f"{p}potrs-{fill}", code, solution, kind, _SLACK))
    return found


def _qr(kind: Kind) -> list[Call]:
    """geqrf, and the matrix that orgqr or ungqr makes of it: times R it is the one given."""
    p, t = kind.letter, kind.name
    generate = "ungqr" if kind.is_complex else "orgqr"
    of = _square(kind)
    memory = heavy(values(kind, _LDA * _N, 1), _N, _LDA)
    (packed, _), _ = scipy.linalg.qr(of, mode="raw")
    matrix(memory, _N, _N, _LDA)[:] = packed
    factor = (
        f"{_head(kind)}  Array<{t}> tau({_N}, 1); CHECK(cusolverDn{p}geqrf_bufferSize(handle, {_N},"
        f" {_N}, a.at, {_LDA}, &count)); {_work(kind)};\n"
        f"  CHECK(cusolverDn{p}geqrf(handle, {_N}, {_N}, a.at, {_LDA}, tau.at, work, count,"
        " info.at));\n"
    )
    orthogonal = (
        f"{factor}  CHECK(cusolverDn{p}{generate}_bufferSize(handle, {_N}, {_N}, {_N}, a.at,"
        f" {_LDA}, tau.at, &count)); {t}* more = static_cast<{t}*>(room(count * sizeof({t})));\n"
        f"  CHECK(cusolverDn{p}{generate}(handle, {_N}, {_N}, {_N}, a.at, {_LDA}, tau.at, more,"
        " count, info.at)); a.show(label);"
    )
    q = heavy(values(kind, _LDA * _N, 1), _N, _LDA)
    matrix(q, _N, _N, _LDA)[:] = np.linalg.qr(of)[0]
    return [
        expecting(f"{p}geqrf", f"{factor}  a.show(label);", memory, kind, _SLACK),
        expecting(f"{p}{generate}", orthogonal, q, kind, _SLACK),
    ]


def _spectra(kind: Kind) -> list[Call]:
    """Eigenvalues of a symmetric or Hermitian matrix, singular values of any."""
    p, t, real = kind.letter, kind.name, kind.real.name
    eigen = "heevd" if kind.is_complex else "syevd"
    of = _square(kind)
    half = np.tril(of, -1)
    found = []
    for mode in ("NOVECTOR", "VECTOR"):
        shape = (
            f"handle, CUSOLVER_EIG_MODE_{mode}, CUBLAS_FILL_MODE_LOWER, {_N}, a.at, {_LDA}, w.at"
        )
        code = (
            f"{_head(kind)}  Array<{real}> w({_N}, 1);"
            f" CHECK(cusolverDn{p}{eigen}_bufferSize({shape}, &count)); {_work(kind)};\n"
            f"  CHECK(cusolverDn{p}{eigen}({shape}, work, count, info.at)); w.show(label);"
        )
        made = np.linalg.eigvalsh(half + half.conj().T + np.diag(np.diag(of)))
        found.append(expecting(f"{p}{eigen}-{mode}", code, made, kind, _SLACK))
    code = (
        f"{_head(kind)}  Array<{real}> s({_N}, 1), more({_N}, 1); Array<{t}> u({_N * _N}, 1),"
        f" v({_N * _N}, 1); CHECK(cusolverDn{p}gesvd_bufferSize(handle, {_N}, {_N}, &count));"
        f" {_work(kind)};\n"
        f"  CHECK(cusolverDn{p}gesvd(handle, 'A', 'A', {_N}, {_N}, a.at, {_LDA}, s.at, u.at, {_N},"
        f" v.at, {_N}, work, count, more.at, info.at)); s.show(label);"
    )
    made = np.linalg.svd(of, compute_uv=False)
    return [*found, expecting(f"{p}gesvd", code, made, kind, _SLACK)]
