"""How often the judge that only compiles agrees with the whole compilation of this machine.

    python -m recipes.judge.tools unpack PARTS --to TOOLS
    python -m recipes.judge.agreement DIR --tools TOOLS --out OUT.json

``DIR`` is what ``small.model pack`` wrote. Of random public programs with a kernel three answers
are judged: the rules' translation, the same with one call left in CUDA, and with a name misspelt.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path, PurePosixPath

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import unit_on_disk
from cass_ray.execute.rewards.verdicts import Outcome
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.unit import CompileFailure
from recipes.judge.compiled import CompileJudge
from recipes.judge.tools import toolchain_in
from recipes.small.pairs import Row, by_rules, unpacked

_COMPILED = (Outcome.COMPILED.value, Outcome.OTHER_CODE.value)
_LONGEST = 12_000
"""Characters."""
_FAULTS = {
    "the rules' translation": ("", ""),
    "a call left in CUDA": ("hipMemcpy(", "cudaMemcpy("),
    "a name misspelt": ("threadIdx.x", "threadIdx.q"),
}


def _compiles(code: str, toolchain: AmdToolchain) -> bool:
    """Both sides, as builds compile them."""
    main = PurePosixPath("main.hip")
    try:
        with unit_on_disk(Sources(main, {str(main): code.encode("utf-8", "replace")})) as unit:
            toolchain.compile(unit)
    except CompileFailure:
        return False
    return True


def agreement(folder: Path, tools: Path, number: int) -> Row:
    """Counts of (answer, the judge's outcome, whether it compiles whole), and seconds of both."""
    rows = [
        row
        for row in unpacked(folder)
        if " main(" in row["cuda"] and "__global__" in row["cuda"] and len(row["cuda"]) < _LONGEST
    ]
    random.Random(5).shuffle(rows)
    judge, whole = CompileJudge(toolchain_in(tools)), find_amd()
    counts: Counter[tuple[str, str, bool]] = Counter()
    judged = compiled = 0.0
    verdicts = 0
    for row in rows[:number]:
        hip = by_rules(row["cuda"])
        for name, (old, new) in _FAULTS.items():
            if old and old not in hip:
                continue
            answer = hip.replace(old, new, 1) if old else hip
            started = time.perf_counter()
            outcome = judge.of(row["cuda"], answer).outcome
            between = time.perf_counter()
            compiles = _compiles(answer, whole)
            judged, compiled = judged + between - started, compiled + time.perf_counter() - between
            counts[name, outcome.value, compiles] += 1
            verdicts += 1
    agree = sum(
        counted
        for (_, outcome, compiles), counted in counts.items()
        if (outcome in _COMPILED) == compiles
    )
    return {
        "answers": verdicts,
        "agree": agree,
        "seconds_judged": judged / verdicts,
        "seconds_whole": compiled / verdicts,
        "counts": [[*key, counted] for key, counted in sorted(counts.items())],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    made = agreement(options.folder, options.tools, options.programs)
    options.out.write_text(json.dumps(made, indent=1) + "\n")
    print(json.dumps(made, indent=1))


if __name__ == "__main__":
    main()
