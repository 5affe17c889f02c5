"""cuRAND's numbers: its device functions are a snippet's, whose sequences are cuRAND's own.

rocRAND has the same generators, seeded in another way. Generators of the host's interface order
their sequences as each library likes, and numbers of other distributions come by other algorithms:
these are reported.
"""

from __future__ import annotations

from cass_ray.translate.protocol import Severity
from cass_ray.translate.rules.rewrite import Rewrite

_GENERATORS = ("curandCreateGenerator", "curandCreateGeneratorHost")
_DISTRIBUTIONS = ("curand_poisson", "curand_poisson4", "curand_discrete", "curand_discrete4")
_ADVICE = "compare distributions, or read both programs' numbers from one file"


def rewrite_random_numbers(unit: Rewrite) -> None:
    """Rename ``curand(state)``; report whose numbers differ from cuRAND's."""
    if unit.is_hip:
        return
    for offset in unit.words.get("curand", ()):
        call = unit.call(offset, "curand")
        if call is None or len(call[0]) != 1 or unit.is_member(offset):
            continue
        if not unit.is_declaration(offset, "curand"):
            unit.rename(offset, "curand", "cass::random_bits")
            unit.snippets.add("random")
    for word in (*_GENERATORS, *_DISTRIBUTIONS):
        for offset in unit.words.get(word, ()):
            if unit.call(offset, word) is None or unit.is_own(word):
                continue
            message = f"the random numbers of {word} are not cuRAND's"
            unit.report(offset, word, Severity.WARNING, message, _ADVICE)
