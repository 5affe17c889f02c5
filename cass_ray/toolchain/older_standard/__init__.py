"""Headers for units that an older standard library compiled, in front of them on both sides."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
NEEDED = {
    "cass_stacks.h": re.compile(
        r"cannot call non-constexpr function \"sysconf\""
        r"|call to non-['‘]constexpr['’] function ['‘]long int sysconf\(int\)"
        r"|note: non-constexpr function 'sysconf' cannot be used"
    ),
    "cass_lerp.h": re.compile(
        r"['‘][^'’\n]*\blerp\([^'’\n]*['’] conflicts with a previous declaration"
        r"|more than one instance of overloaded function \"lerp\" matches"
        r"|error: declaration conflicts with target of using declaration [^\n]*\n[^\n]*\blerp\("
        r"|error: call to 'lerp' is ambiguous"
    ),
}
"""Header -> what compilers say of a unit that needs it."""
