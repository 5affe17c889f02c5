"""Which opcode forms of cubins the table has, and how many kernels are covered entirely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from cass_ray.assembly import sass
from cass_ray.lift.lowering.control_flow import DIVERGED_PATH, ENDS
from cass_ray.lift.lowering.families import forms


@dataclass
class LiftCoverage:
    """Counts over many listings; forms are mnemonics with all their modifiers."""

    instructions: int = 0
    covered_instructions: int = 0
    kernels: int = 0
    covered_kernels: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)

    @property
    def instruction_share(self) -> float:
        """Share of instructions whose form is covered; 1 without instructions."""
        return self.covered_instructions / self.instructions if self.instructions else 1.0

    @property
    def kernel_share(self) -> float:
        """Share of kernels all of whose forms are covered; 1 without kernels."""
        return self.covered_kernels / self.kernels if self.kernels else 1.0

    def add(self, listing: str) -> None:
        """Count the functions of one listing; device functions count as instructions only."""
        for function in sass.parse(listing).functions:
            found = Counter(instruction.mnemonic for instruction in function.instructions)
            missing = Counter({form: n for form, n in found.items() if not is_covered(form)})
            self.seen += found
            self.missing += missing
            self.instructions += found.total()
            self.covered_instructions += found.total() - missing.total()
            self.kernels += function.is_kernel
            self.covered_kernels += function.is_kernel and not missing


def is_covered(mnemonic: str) -> bool:
    """Whether the lifter knows the form, or never meets it."""
    known = mnemonic in forms() or mnemonic in DIVERGED_PATH
    return known or mnemonic.partition(".")[0] in ENDS


def measure(listings: Iterable[str]) -> LiftCoverage:
    """Coverage of all ``listings`` together."""
    coverage = LiftCoverage()
    for listing in listings:
        coverage.add(listing)
    return coverage
