"""The mnemonics in a text of assembly, fast: one regular expression a line.

The parsers of :mod:`cass_ray.assembly` keep operands and labels, which takes fifty times as long;
tests hold both against each other.
"""

from __future__ import annotations

import re
from collections import Counter

from cass_ray.assembly.opcodes import InstructionSet

_LINES = {
    # After an optional guard; labels end in a colon, headers have one behind a space.
    InstructionSet.SASS: re.compile(
        r"^(?:@!?U?P[0-9T]+ )?([A-Z][A-Z0-9_.]*)(?=[ \n]|$)(?! :)", re.M
    ),
    InstructionSet.RDNA3: re.compile(
        r"^[ \t]+([sv]_\w+|ds_\w+|(?:global|flat|buffer|tbuffer|scratch|image|lds|exp)_?\w*)"
        r"(?:[^\n;]*:: (v_dual_\w+))?",
        re.M,
    ),
    InstructionSet.X86: re.compile(
        r"^(?:[\w.$]+:)?[ \t]+((?:(?:lock|rep[a-z]*|bnd|notrack)[ \t]+)?[a-z][a-z0-9]*)"
        r"(?=[\s;#]|$)(?!\s*=)",
        re.M,
    ),
}


def mnemonics(instruction_set: InstructionSet, text: str | None) -> Counter[str]:
    """How often each mnemonic occurs in ``text``.

    ``text`` is as data sets hold it: SASS normalised (:mod:`cass_ray.assembly.sass`), the others as
    the compilers write them.
    """
    if not text:
        return Counter()
    # Counted as they stand first: the loop is over different ones only.
    result: Counter[str] = Counter()
    for word, times in Counter(_LINES[instruction_set].findall(text)).items():
        for each in word if isinstance(word, tuple) else (word,):
            if each:
                result[" ".join(each.split())] += times
    return result
