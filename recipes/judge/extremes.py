"""Each ``min`` and ``max`` of the rules' translations spelled otherwise, one by one: what is right?

    python -m recipes.judge.extremes PROGRAMS --tools TOOLS --out OUT.json

``PROGRAMS`` is what ``rl.loop held-out`` wrote, ``TOOLS`` what ``judge.tools unpack`` made. A call
with the rules' helper is written without it, another one with it. What the judge takes for right at
-O0 is compiled at -O2 as it is: of one type, the optimizer leaves nothing of the helper. Code that
differs there is written down, to be read; lines are counted as without the helper.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import unit_on_disk
from cass_ray.execute.rewards.verdicts import Outcome
from cass_ray.toolchain.amd.precompiled import CompilationSide
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.translate.rules.tables import snippets
from recipes.judge.compiled import without_origin
from recipes.judge.tools import UNOPTIMIZED, make_judge
from recipes.small.answers import read_programs
from recipes.small.pairs import Row, by_rules

_CALL = re.compile(r"(?<![\w.>:])(cass::mixed_)?(min|max)\(")
_HELPER = "extremes"
_RUNTIME = "#include <hip/hip_runtime.h>\n"
_HIDDEN = "cass_snippet_"


def spelled_otherwise(translation: str) -> Iterator[tuple[str, str, str]]:
    """For each call of the program's own: how it is spelled now, the program, and the same with the
    lines of the original counted."""
    for name, text in snippets().items():
        translation = translation.replace(text, f"{_HIDDEN}{name}\n")

    def whole(code: str) -> str:
        for name, text in snippets().items():
            code = code.replace(f"{_HIDDEN}{name}\n", text)
        return code

    for call in _CALL.finditer(translation):
        word = call[2] if call[1] else f"cass::mixed_{call[2]}"
        made = f"{translation[: call.start()]}{word}({translation[call.end() :]}"
        counted, helper = made, f"{_HIDDEN}{_HELPER}\n"
        if helper not in made:
            before, runtime, after = made.partition(_RUNTIME)
            if not runtime:
                continue
            line = whole(before).count("\n") + 2
            made = f"{before}{runtime}{helper}{after}"
            counted = f"{before}{runtime}{helper}#line {line}\n{after}"
        yield "without the helper" if call[1] else "with the helper", whole(made), whole(counted)


def _optimized(code: str, toolchain: AmdToolchain) -> str:
    main = PurePosixPath("main.hip")
    content = code.encode("utf-8", "replace")
    with unit_on_disk(Sources(main, {str(main): content}, (PurePosixPath("."),))) as unit:
        return "\n".join(
            without_origin(toolchain.text_as_it_is(unit, side, optimization="-O2"))
            for side in (CompilationSide.DEVICE, CompilationSide.HOST)
        )


def agreement(programs: Path, tools: Path) -> Row:
    """Counts of (how it is spelled now, the verdict), and the differences of accepted ones."""
    judge = make_judge(tools, optimization=UNOPTIMIZED)
    counts: Counter[tuple[str, str]] = Counter()
    same, differences, seen = 0, [], 0
    for program in read_programs(programs):
        translation = by_rules(program.text)
        for way, answer, counted in spelled_otherwise(translation):
            seen += 1
            outcome = judge.of(program.text, answer).outcome
            counts[way, outcome.value] += 1
            if outcome is not Outcome.COMPILED:
                continue
            old, new = (
                _optimized(code, judge.toolchain).split("\n") for code in (translation, counted)
            )
            differ = list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]
            same += not differ
            if differ:
                differences.append({"task": program.name, "way": way, "difference": differ[:20]})
    return {
        "calls": seen,
        "counts": [[*key, number] for key, number in sorted(counts.items())],
        "accepted_with_the_same_optimized_code": same,
        "others": differences,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=Path)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    made = agreement(options.programs, options.tools.resolve())
    options.out.write_text(json.dumps(made, indent=1) + "\n")
    print(json.dumps(made, indent=1))


if __name__ == "__main__":
    main()
