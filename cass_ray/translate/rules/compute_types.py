"""The type in which cuBLAS' products of mixed types compute.

Until cuBLAS 11 it was a ``cudaDataType``, for which ``cublas_api.h`` still has overloads in C++;
hipBLAS takes a compute type alone.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite

_CALLS = {"cublasGemmEx": 19, "cublasGemmBatchedEx": 20, "cublasGemmStridedBatchedEx": 23}
"""Function -> arguments; the last one but one is the compute type."""
_MEMBER = re.compile(r"(?:[A-Za-z_]\w*(?:\.|->|::))*([A-Za-z_]\w*)")
_OF_DATA = {
    "CUDA_R_16F": "HIPBLAS_COMPUTE_16F",
    "CUDA_R_32F": "HIPBLAS_COMPUTE_32F",
    "CUDA_R_64F": "HIPBLAS_COMPUTE_64F",
    "CUDA_R_32I": "HIPBLAS_COMPUTE_32I",
    "CUDA_C_32F": "HIPBLAS_COMPUTE_32F",
    "CUDA_C_64F": "HIPBLAS_COMPUTE_64F",
}
"""As the overload in ``cublas_api.h`` maps them."""


def name_compute_types(unit: Rewrite) -> None:
    """Give a compute type where a call gives a data type; ask where it gives a variable."""
    for word, count in _CALLS.items():
        for offset in unit.words.get(word, ()):
            before = unit.source.code[max(0, offset - 8) : offset].rstrip()
            call = None if before.endswith((".", "->")) else unit.call(offset, word)
            if call is None or len(call[0]) != count:
                continue  # a member is a wrapper's of the program's own
            start, end = call[0][-2]
            given = unit.source.code[start:end].strip()
            start = unit.source.code.find(given, start)
            end = start + len(given)
            if (compute := _OF_DATA.get(given)) is not None:
                unit.edits.replace(start, end, compute)
                unit.converted(start)
            elif _holds_data_type(unit, given):
                unit.edits.insert(start, "cass::compute_type(")
                unit.edits.insert(end, ")")
                unit.snippets.add("blas")


def _holds_data_type(unit: Rewrite, given: str) -> bool:
    """Whether ``given`` is a variable or member that some file of the tree declares as a type of
    data. Another of the name stays what it is: the snippet takes compute types too."""
    before = r"\bcudaDataType(?:_t)?\s+(?:[^;(){}]{0,400},\s*)?"
    if re.search(rf"{before}{re.escape(given)}\b", unit.source.code):
        return True
    name = _MEMBER.fullmatch(given)
    return name is not None and f"data type {name[1]}" in unit.context.declared
