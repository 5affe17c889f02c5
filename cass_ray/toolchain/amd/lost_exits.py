"""Whether LLVM has kept each branch by which lanes that are done leave a loop.

At the end of a loop that lanes leave one by one, LLVM takes those that are done out of EXEC
(``s_and_not1_b32 exec_lo, exec_lo, s0``; ``s_andn2_b64 exec, exec, s[0:1]``) and goes on only if
some are left: ``s_cbranch_execnz`` back, or ``s_cbranch_execz`` out of it. One of LLVM's last
passes deletes forward branches on an empty EXEC over less than twelve instructions, as nothing is
done there for no lane. Before LLVM 20 it does not see that these may end with a branch back to the
loop's beginning (pull request 120121): a wave then never leaves the loop.

Nothing else that LLVM makes has this form: where lanes wait for the other branch of a condition,
EXEC is saved by the same instruction (``s_and_saveexec``), or is exclusive-or'ed.

This file is also a program, which needs nothing but Python: in builds of projects a copy of it is
called (:mod:`cass_ray.toolchain.amd.compiler_driver`). They make objects; these are searched for
the two instructions as they are encoded, alike on gfx8 and gfx9, on gfx10, and from gfx11 on.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_UPDATE = re.compile(r"^[ \t]*(s_and(?:_not1|n2)_b(?:32 exec_lo, exec_lo|64 exec, exec),.*)$", re.M)
_KEPT = re.compile(r"s_cbranch_execn?z\b")
_BLOCK_ENDS = re.compile(
    r"(?!\.Ltmp\d+:)\S+:"  # a label, but not one of debuggers, to which no branch goes
    r"|s_c?branch|s_setpc|s_swappc|s_endpgm"
)

_WORD = 4
_ELF = b"\x7fELF"
_ENCODED_UPDATE = re.compile(
    # EXEC, and what it loses; into EXEC, of 64 or 32 bits.
    rb"(?=\x7e[\x00-\xff](?:\xfe[\x89\x8a\x91]|\x7e[\x8a\x91]))"
)
_ENCODED_BRANCH = re.compile(rb"[\x00-\xff]{2}[\x88\x89\xa5\xa6]\xbf")


def lost_exits(assembly: str) -> Iterator[str]:
    """Each instruction that takes lanes out of a loop which no branch leaves if none are left."""
    for update in _UPDATE.finditer(assembly):
        for line in _lines(assembly, update.end() + 1):
            text = line.strip()
            if _KEPT.match(text):
                break
            if _BLOCK_ENDS.match(text):
                yield update[1].partition(";")[0].strip()
                break


def _lines(text: str, start: int) -> Iterator[str]:
    """Those of ``text`` from ``start``, one of which begins there."""
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1


def lost_exits_of_object(code: bytes) -> Iterator[int]:
    """Where in an object file such an instruction is; or data that look like one.

    LLVM puts nothing between the instruction and its branch.
    """
    for update in _ENCODED_UPDATE.finditer(code):
        place = update.start()
        if place % _WORD == 0 and not _ENCODED_BRANCH.match(code, place + _WORD):
            yield place


def main(arguments: list[str]) -> int:
    """Say what is lost in the listing or the object ``arguments[0]``; 1 if anything is."""
    code = Path(arguments[0]).read_bytes()
    problems: list[object] = []
    if code.startswith(_ELF):
        problems += lost_exits_of_object(code)
    else:
        problems += lost_exits(code.decode(errors="replace"))
    for lost in problems:
        print(lost)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
