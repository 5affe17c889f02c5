"""The matrix instructions of AMD's processors that lifted code uses: data, no code.

All of them multiply 16 lines of A by 16 of B. Lines are lanes modulo 16; the depth is shared by
groups of sixteen lanes, or each group has all of it. Lines of A become registers of the result
(RDNA3 ISA and RDNA4 ISA, 7.9 WMMA; MI300 ISA, chapter 7, and AMD's matrix instruction calculator).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class MatrixInstruction:
    """One instruction, as LLVM's intrinsic for it."""

    intrinsic: str
    """Its name without ``llvm.amdgcn.``."""
    operand: str
    """LLVM's type of what a lane has of A, and of B."""
    words: int
    """32-bit words in that."""
    element: str
    """LLVM's type of an element of the result."""
    has_signs: bool = False
    """Whether it is told which of A and B are signed; else integers are."""


@dataclass(frozen=True)
class MatrixUnit:
    """How the matrix instructions of a processor lay out their operands."""

    groups: int
    """Groups of lanes that have different parts of the depth."""
    registers: int
    """Elements of the result in a lane."""
    line_of_half: int
    line_of_register: int
    """Element r of lane 16 h + c is line ``h * line_of_half + r * line_of_register``, column c."""
    is_mfma: bool
    """Whether a wave has 64 lanes, and intrinsics take the three modifiers of MFMA."""
    integers: Mapping[str, MatrixInstruction]
    """Instructions by the type of the elements that are multiplied."""
    floats: Mapping[str, MatrixInstruction]
    """The same; which order and precision they add in is not said."""


_RDNA3 = MatrixUnit(
    groups=1,
    registers=8,
    line_of_half=1,
    line_of_register=2,
    is_mfma=False,
    integers={
        "i8": MatrixInstruction("wmma.i32.16x16x16.iu8.v8i32.v4i32", "<4 x i32>", 4, "i32", True),
        "i4": MatrixInstruction("wmma.i32.16x16x16.iu4.v8i32.v2i32", "<2 x i32>", 2, "i32", True),
    },
    floats={
        "half": MatrixInstruction("wmma.f32.16x16x16.f16.v8f32.v16f16", "<16 x half>", 8, "float"),
        "bfloat": MatrixInstruction(
            "wmma.f32.16x16x16.bf16.v8f32.v16i16", "<16 x i16>", 8, "float"
        ),
    },
)
_RDNA4 = MatrixUnit(
    groups=2,
    registers=8,
    line_of_half=8,
    line_of_register=1,
    is_mfma=False,
    integers={
        "i8": MatrixInstruction("wmma.i32.16x16x16.iu8.v8i32.v2i32", "<2 x i32>", 2, "i32", True),
        "i4": MatrixInstruction("wmma.i32.16x16x32.iu4.v8i32.v2i32", "<2 x i32>", 2, "i32", True),
    },
    floats={
        "half": MatrixInstruction("wmma.f32.16x16x16.f16.v8f32.v8f16", "<8 x half>", 4, "float"),
        "bfloat": MatrixInstruction("wmma.f32.16x16x16.bf16.v8f32.v8i16", "<8 x i16>", 4, "float"),
    },
)
_OF_CDNA = {
    "half": MatrixInstruction("mfma.f32.16x16x16f16", "<4 x half>", 2, "float"),
    "bfloat": MatrixInstruction("mfma.f32.16x16x16bf16.1k", "<4 x i16>", 2, "float"),
    "float": MatrixInstruction("mfma.f32.16x16x4f32", "float", 1, "float"),
    "double": MatrixInstruction("mfma.f64.16x16x4f64", "double", 2, "double"),
}


def _cdna(bytes_instruction: MatrixInstruction) -> MatrixUnit:
    return MatrixUnit(
        groups=4,
        registers=4,
        line_of_half=4,
        line_of_register=1,
        is_mfma=True,
        integers={"i8": bytes_instruction},
        floats=_OF_CDNA,
    )


MATRIX_UNITS = {
    "RDNA 3": _RDNA3,
    "RDNA 3.5": _RDNA3,
    "RDNA 4": _RDNA4,
    "CDNA 2": _cdna(MatrixInstruction("mfma.i32.16x16x16i8", "i32", 1, "i32")),
    "CDNA 3": _cdna(MatrixInstruction("mfma.i32.16x16x32.i8", "i64", 2, "i32")),
}
"""Matrix units of each family of processors."""
