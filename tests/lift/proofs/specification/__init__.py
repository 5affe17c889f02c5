"""What SASS instructions on integers, bits and predicates do, as z3 terms.

Nvidia documents SASS by names alone (CUDA Binary Utilities, "Instruction Set Reference"). Where a
PTX instruction has the same name or is compiled to one instruction, its semantics are those of the
PTX ISA; the rest was worked out. Either way ``tests/lift/proofs/test_silicon.py`` holds all of it
against what an H200 computed. Nothing is taken from the lifter but how operands are read.
"""

from __future__ import annotations

from tests.lift.proofs.specification import bits, packed, predicates, products, sums
from tests.lift.proofs.specification.state import SPECIFIED, NotSpecified, State, step

FAMILIES = (sums, products, bits, predicates, packed)
"""Importing them enters their mnemonics."""

__all__ = ["FAMILIES", "SPECIFIED", "NotSpecified", "State", "step"]
