"""``python -m cass_ray.commands.opcode_store``: opcode sets of the benchmark's programs."""

from __future__ import annotations

import sys
from pathlib import PurePosixPath

import numpy as np

from cass_ray.assembly import sass
from cass_ray.corpus.dedup.shingles import Hashes
from cass_ray.corpus.parsing.structure import opcode_set
from cass_ray.corpus.screening.evaluation import EvaluationProgram, benchmark_programs
from cass_ray.corpus.screening.opcode_store import STORE, read_store, source_key, write_store
from cass_ray.exit_codes import EXIT_DONE, EXIT_TOOL_MISSING
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.toolchain import DEFAULT_ARCHITECTURE, NvidiaToolchain
from cass_ray.toolchain.unit import CompileFailure, Unit

_SAVE_EVERY = 8
"""Programs after which the store is written, so that an interrupted run is not lost."""


def main() -> int:
    """Compile what is new, drop what is gone, write the store."""
    try:
        toolchain = find_nvidia()
    except ToolMissing as error:
        print(error, file=sys.stderr)
        return EXIT_TOOL_MISSING
    store = read_store()
    sets: dict[str, Hashes] = {}
    for program in benchmark_programs():
        if not program.name.endswith(".cu"):
            continue
        key = source_key(program)
        opcodes = store[key] if key in store else _compiled(program, toolchain)
        if opcodes is not None:
            sets[key] = opcodes
        if key not in store and len(sets) % _SAVE_EVERY == 0:
            write_store({**store, **sets})
    write_store(sets)
    print(f"{STORE}: {len(sets)} programs, {len(set(sets) - set(store))} of them new")
    return EXIT_DONE


def _compiled(program: EvaluationProgram, toolchain: NvidiaToolchain) -> Hashes | None:
    """The set of ``program``, empty for a small one; None for one that does not compile."""
    assert program.path is not None
    unit = Unit(program.path.parent, PurePosixPath(program.path.name))
    try:
        output = toolchain.compile(unit, (DEFAULT_ARCHITECTURE,))
    except CompileFailure as failure:
        print(f"{program.name}: {failure}", file=sys.stderr)
        return None
    (listing,) = toolchain.disassemble([output.cubins[DEFAULT_ARCHITECTURE]])
    opcodes = opcode_set(sass.normalize(listing))
    return opcodes if opcodes is not None else np.empty(0, np.uint32)


if __name__ == "__main__":
    sys.exit(main())
