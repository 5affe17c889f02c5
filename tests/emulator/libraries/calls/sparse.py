"""Calls of cuSPARSE's generic interface: products, conversions and solutions, in four types."""

from __future__ import annotations

import numpy as np

from tests.emulator.libraries.calls.suite import (
    Array,
    Call,
    Kind,
    expecting,
    matrix,
    operated,
    scalar,
    values,
)

HEADERS = ("cusparse.h",)
START = """\
static cusparseHandle_t handle;
static bool begin() { return cusparseCreate(&handle) == CUSPARSE_STATUS_SUCCESS; }
#define INDICES CUSPARSE_INDEX_32I
#define BASE CUSPARSE_INDEX_BASE_ZERO
"""
_TYPES = {"S": "CUDA_R_32F", "D": "CUDA_R_64F", "C": "CUDA_C_32F", "Z": "CUDA_C_64F"}
_OPERATIONS = {
    "N": "CUSPARSE_OPERATION_NON_TRANSPOSE",
    "T": "CUSPARSE_OPERATION_TRANSPOSE",
    "C": "CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE",
}
_ROWS, _COLUMNS = 6, 5
_PLACES = ((0, 0), (0, 3), (1, 1), (2, 0), (2, 2), (2, 4), (4, 1), (4, 3), (4, 4), (5, 2))
"""Of the matrix that most calls have: row 3 is empty."""


def calls(kind: Kind) -> list[Call]:
    """All calls of one type."""
    return [*_products(kind), *_vectors(kind), *_conversions(kind), *_triangular(kind)]


def _listed(numbers: list[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _elements(kind: Kind) -> Array:
    return values(kind, len(_PLACES), 1)


def _dense(kind: Kind) -> Array:
    made = np.zeros((_ROWS, _COLUMNS), _elements(kind).dtype)
    for place, value in zip(_PLACES, _elements(kind), strict=True):
        made[place] = value
    return made


def _sparse(kind: Kind, form: str) -> str:
    """Statements that make the descriptor ``a`` of the matrix, in one of three formats."""
    rows = [row for row, _ in _PLACES]
    columns = [column for _, column in _PLACES]
    offsets = [sum(row < limit for row in rows) for limit in range(_ROWS + 1)]
    count, shape = len(_PLACES), f"{_ROWS}, {_COLUMNS}"
    head = f"  Array<{kind.name}> elements({count}, 1); cusparseSpMatDescr_t a;\n"
    column_array = f"  Array<int> columns(std::vector<int>{{{_listed(columns)}}});\n"
    if form == "csr":
        return (
            f"{head}{column_array}  Array<int> offsets(std::vector<int>{{{_listed(offsets)}}});\n"
            f"  CHECK(cusparseCreateCsr(&a, {shape}, {count}, offsets.at, columns.at, elements.at,"
            f" INDICES, INDICES, BASE, {_TYPES[kind.letter]}));\n"
        )
    return (
        f"{head}{column_array}  Array<int> rows(std::vector<int>{{{_listed(rows)}}});\n"
        f"  CHECK(cusparseCreateCoo(&a, {shape}, {count}, rows.at, columns.at, elements.at,"
        f" INDICES, BASE, {_TYPES[kind.letter]}));\n"
    )


def _scalars(kind: Kind) -> tuple[str, complex, complex]:
    alpha_text, alpha = scalar(kind, 1.5, -0.5)
    beta_text, beta = scalar(kind, 0.5, 0.25)
    return f"  const {kind.name} alpha = {alpha_text}, beta = {beta_text};\n", alpha, beta


def _products(kind: Kind) -> list[Call]:
    """SpMV and SpMM of two formats, with each operation and both orders of dense matrices."""
    p, t, data = kind.letter, kind.name, _TYPES[kind.letter]
    head, alpha, beta = _scalars(kind)
    found = []
    for form in ("csr", "coo"):
        for operation in "NTC" if kind.is_complex else "NT":
            of = operated(_dense(kind), operation)
            rows, columns = of.shape
            x, y = values(kind, columns, 2), values(kind, rows, 3)
            code = (
                f"{head}{_sparse(kind, form)}  Array<{t}> x({columns}, 2), y({rows}, 3);\n"
                "  cusparseDnVecDescr_t dx, dy; size_t bytes = 0;\n"
                f"  CHECK(cusparseCreateDnVec(&dx, {columns}, x.at, {data}));"
                f" CHECK(cusparseCreateDnVec(&dy, {rows}, y.at, {data}));\n"
                f"  CHECK(cusparseSpMV_bufferSize(handle, {_OPERATIONS[operation]}, &alpha, a, dx,"
                f" &beta, dy, {data}, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));\n"
                f"  CHECK(cusparseSpMV(handle, {_OPERATIONS[operation]}, &alpha, a, dx, &beta, dy,"
                f" {data}, CUSPARSE_SPMV_ALG_DEFAULT, room(bytes))); y.show(label);"
            )
            made = alpha * of @ x + beta * y
            found.append(expecting(f"{p}SpMV-{form}-{operation}", code, made, kind))
        for operation in "NT":
            for order in ("COL", "ROW"):
                of = operated(_dense(kind), operation)
                (rows, inner), width = of.shape, 3
                b, c = values(kind, inner * width, 2), values(kind, rows * width, 3)
                if order == "COL":
                    product = of @ matrix(b, inner, width, inner)
                    made = alpha * product.T.ravel() + beta * c
                else:
                    made = alpha * (of @ b.reshape(inner, width)).ravel() + beta * c
                lead_b, lead_c = (inner, rows) if order == "COL" else (width, width)
                layout = f"{data}, CUSPARSE_ORDER_{order}"
                arguments = (
                    f"handle, {_OPERATIONS[operation]}, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,"
                    f" a, db, &beta, dc, {data}, CUSPARSE_SPMM_ALG_DEFAULT"
                )
                code = (
                    f"{head}{_sparse(kind, form)}  Array<{t}> b({inner * width}, 2),"
                    f" c({rows * width}, 3); cusparseDnMatDescr_t db, dc; size_t bytes = 0;\n"
                    f"  CHECK(cusparseCreateDnMat(&db, {inner}, {width}, {lead_b}, b.at,"
                    f" {layout}));\n  CHECK(cusparseCreateDnMat(&dc, {rows}, {width}, {lead_c},"
                    f" c.at, {layout}));\n"
                    f"  CHECK(cusparseSpMM_bufferSize({arguments}, &bytes));"
                    f" CHECK(cusparseSpMM({arguments}, room(bytes))); c.show(label);"
                )
                found.append(expecting(f"{p}SpMM-{form}-{operation}-{order}", code, made, kind))
    return found


def _vectors(kind: Kind) -> list[Call]:
    """Axpby, Gather, Scatter and SpVV of a sparse vector and a dense one."""
    p, t, data = kind.letter, kind.name, _TYPES[kind.letter]
    head, alpha, beta = _scalars(kind)
    places, size = [1, 3, 4, 8], 10
    x, y = values(kind, len(places), 1), values(kind, size, 2)
    arrays = (
        f"{head}  (void)alpha, (void)beta; Array<{t}> x({len(places)}, 1), y({size}, 2);"
        f" Array<int> places(std::vector<int>{{{_listed(places)}}});\n"
        "  cusparseSpVecDescr_t dx; cusparseDnVecDescr_t dy;\n"
        f"  CHECK(cusparseCreateSpVec(&dx, {size}, {len(places)}, places.at, x.at, INDICES, BASE,"
        f" {data})); CHECK(cusparseCreateDnVec(&dy, {size}, y.at, {data}));\n"
    )
    sum_ = beta * y
    sum_[places] += alpha * x
    scattered = y.copy()
    scattered[places] = x
    dot = (
        f"{arrays}  size_t bytes = 0; {t} value; const auto as = CUSPARSE_OPERATION_NON_TRANSPOSE;"
        f" CHECK(cusparseSpVV_bufferSize(handle, as, dx, dy, &value, {data}, &bytes));\n"
        f"  CHECK(cusparseSpVV(handle, as, dx, dy, &value, {data}, room(bytes)));"
        " ok(cudaDeviceSynchronize()); show(label, value);"
    )
    return [
        expecting(
            f"{p}Axpby",
            f"{arrays}  CHECK(cusparseAxpby(handle, &alpha, dx, &beta, dy)); y.show(label);",
            sum_,
            kind,
        ),
        expecting(
            f"{p}Gather",
            f"{arrays}  CHECK(cusparseGather(handle, dy, dx)); x.show(label);",
            y[places],
            kind,
        ),
        expecting(
            f"{p}Scatter",
            f"{arrays}  CHECK(cusparseScatter(handle, dx, dy)); y.show(label);",
            scattered,
            kind,
        ),
        expecting(f"{p}SpVV", dot, x @ y[places], kind),
    ]


def _conversions(kind: Kind) -> list[Call]:
    """SparseToDense of both formats, DenseToSparse."""
    p, t, data = kind.letter, kind.name, _TYPES[kind.letter]
    dense = _dense(kind)
    found = []
    count = _ROWS * _COLUMNS
    for form in ("csr", "coo"):
        code = (
            f"{_sparse(kind, form)}  Array<{t}> b({count}, 2); cusparseDnMatDescr_t db;"
            " size_t bytes = 0;\n"
            f"  CHECK(cusparseCreateDnMat(&db, {_ROWS}, {_COLUMNS}, {_ROWS}, b.at, {data},"
            " CUSPARSE_ORDER_COL));\n"
            "  CHECK(cusparseSparseToDense_bufferSize(handle, a, db,"
            " CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &bytes));\n"
            "  CHECK(cusparseSparseToDense(handle, a, db, CUSPARSE_SPARSETODENSE_ALG_DEFAULT,"
            " room(bytes))); b.show(label);"
        )
        found.append(expecting(f"{p}SparseToDense-{form}", code, dense.T.ravel(), kind))
    text = ", ".join(
        f"make<{t}>({value.real}, {value.imag})" for value in dense.T.ravel().astype(complex)
    )
    stored = dense[dense != 0]  # in the order of rows
    code = (
        f"  Array<{t}> b(std::vector<{t}>{{{text}}}), elements({len(stored)}, 1);"
        f" Array<int> offsets({_ROWS + 1}, 1), columns({len(stored)}, 1);\n"
        "  cusparseSpMatDescr_t a; cusparseDnMatDescr_t db; size_t bytes = 0;"
        " const auto how = CUSPARSE_DENSETOSPARSE_ALG_DEFAULT;\n"
        f"  CHECK(cusparseCreateDnMat(&db, {_ROWS}, {_COLUMNS}, {_ROWS}, b.at, {data},"
        " CUSPARSE_ORDER_COL));\n"
        f"  CHECK(cusparseCreateCsr(&a, {_ROWS}, {_COLUMNS}, 0, offsets.at, nullptr, nullptr,"
        f" INDICES, INDICES, BASE, {data}));\n"
        "  CHECK(cusparseDenseToSparse_bufferSize(handle, db, a, how, &bytes));"
        " void* memory = room(bytes);\n"
        "  CHECK(cusparseDenseToSparse_analysis(handle, db, a, how, memory));\n"
        "  CHECK(cusparseCsrSetPointers(a, offsets.at, columns.at, elements.at));\n"
        "  CHECK(cusparseDenseToSparse_convert(handle, db, a, how, memory)); elements.show(label);"
    )
    return [*found, expecting(f"{p}DenseToSparse", code, stored, kind)]


def _triangular(kind: Kind) -> list[Call]:
    """SpSV of a lower triangle, as it is and transposed."""
    p, t, data = kind.letter, kind.name, _TYPES[kind.letter]
    n = 5
    places = [(i, j) for i in range(n) for j in range(i + 1) if i == j or (i + j) % 2]
    elements = values(kind, len(places), 1)
    dense = np.zeros((n, n), elements.dtype)
    diagonal = [number for number, (i, j) in enumerate(places) if i == j]
    for number, place in enumerate(places):
        dense[place] = 16.0 if place[0] == place[1] else elements[number]
    offsets = [sum(row < limit for row, _ in places) for limit in range(n + 1)]
    columns = [column for _, column in places]
    head, alpha, _ = _scalars(kind)
    arguments = f"handle, as, &alpha, a, dx, dy, {data}, how, plan"
    found = []
    for operation in "NT":
        code = (
            f"{head}  (void)beta; Array<{t}> first({len(places)}, 1), x({n}, 2), y({n}, 3);"
            f" std::vector<{t}> all = first.host(); for (int at : {{{_listed(diagonal)}}})"
            f" all[at] = make<{t}>(16); Array<{t}> elements(all);\n"
            f"  Array<int> offsets(std::vector<int>{{{_listed(offsets)}}}),"
            f" columns(std::vector<int>{{{_listed(columns)}}});\n"
            "  cusparseSpMatDescr_t a; cusparseDnVecDescr_t dx, dy; cusparseSpSVDescr_t plan;"
            " size_t bytes = 0;\n"
            f"  CHECK(cusparseCreateCsr(&a, {n}, {n}, {len(places)}, offsets.at, columns.at,"
            f" elements.at, INDICES, INDICES, BASE, {data}));\n"
            "  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;"
            " cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;\n"
            "  CHECK(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));"
            " CHECK(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal,"
            " sizeof diagonal));\n"
            f"  CHECK(cusparseCreateDnVec(&dx, {n}, x.at, {data}));"
            f" CHECK(cusparseCreateDnVec(&dy, {n}, y.at, {data}));"
            " CHECK(cusparseSpSV_createDescr(&plan));\n"
            f"  const auto as = {_OPERATIONS[operation]};"
            " const auto how = CUSPARSE_SPSV_ALG_DEFAULT;\n"
            f"  CHECK(cusparseSpSV_bufferSize({arguments}, &bytes));"
            f" CHECK(cusparseSpSV_analysis({arguments}, room(bytes)));\n"
            f"  CHECK(cusparseSpSV_solve({arguments})); y.show(label);"
        )
        made = np.linalg.solve(operated(dense, operation), alpha * values(kind, n, 2))
        found.append(expecting(f"{p}SpSV-{operation}", code, made, kind))
    return found
