"""Which opcode forms of cubins the table has, what stands behind each, and which kernels lift."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from cass_ray.assembly import sass
from cass_ray.lift.form_evidence import FormEvidence, form_evidence, forms_in, is_covered


@dataclass
class LiftCoverage:
    """Counts over many listings; ``seen`` and ``missing`` are mnemonics with all modifiers."""

    instructions: int = 0
    covered_instructions: int = 0
    kernels: int = 0
    covered_kernels: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    forms: dict[str, Counter[str]] = field(default_factory=dict)
    """Architecture -> form, with its operands' kinds (``cass_ray.lift.forms``) -> instructions."""

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
            counts = Counter(instruction.mnemonic for instruction in function.instructions)
            missing = Counter({form: n for form, n in counts.items() if not is_covered(form)})
            self.seen += counts
            self.missing += missing
            self.instructions += counts.total()
            self.covered_instructions += counts.total() - missing.total()
            self.kernels += function.is_kernel
            self.covered_kernels += function.is_kernel and not missing
            self.forms.setdefault(function.architecture, Counter()).update(forms_in([function]))

    def evidence_totals(self, architecture: str) -> dict[FormEvidence, tuple[int, int]]:
        """How many forms, and how many instructions, have each kind of evidence."""
        totals = dict.fromkeys(FormEvidence, (0, 0))
        for form, count in self.forms[architecture].items():
            evidence = form_evidence(form)
            forms, instructions = totals[evidence]
            totals[evidence] = (forms + 1, instructions + count)
        return totals

    def only_lifted(self) -> Counter[str]:
        """Forms of which nothing is known, with the number of their instructions."""
        counts: Counter[str] = Counter()
        for forms in self.forms.values():
            counts.update(
                {f: n for f, n in forms.items() if form_evidence(f) is FormEvidence.LIFTED}
            )
        return counts


def measure(listings: Iterable[str]) -> LiftCoverage:
    """Coverage of all ``listings`` together."""
    coverage = LiftCoverage()
    for listing in listings:
        coverage.add(listing)
    return coverage
