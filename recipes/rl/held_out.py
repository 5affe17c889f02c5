"""What reinforcement learning is measured with: programs that no run has learned from."""

from __future__ import annotations

import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recipes.judge.tools import OPTIMIZATION
from recipes.small.answers import read_programs, say
from recipes.small.pairs import (
    PROGRAMS,
    Row,
    by_rules,
    grafted_rows,
    ptx_programs,
    translated,
)

if TYPE_CHECKING:
    from cass_ray.llm.translation_format import TranslationFormat
    from cass_ray.train.rl.rollouts import EditQuestion, Rollout

_LONGEST = 15_000
"""Tokens of a program that is asked within a run: all that the model has the room for."""
_SEED = 900_000
"""Seeds from here on are those of no run, supervised or not."""
_FILES, _GRAFTS = 120, 80
"""Fresh files of inline PTX with a kernel, and held-out programs that such functions are put in."""


def write_programs(run: Path, folder: Path, path: Path) -> int:
    """Write the programs to be asked; how many there are.

    Those of held-out repositories that ``folder`` names (``judge.answers choose``), fresh files of
    inline PTX, and grafts of the former.
    """
    from cass_ray.train.data.recipe_files import stored_pairs
    from cass_ray.train.run_files import RunFiles

    chosen = set(json.loads((folder / PROGRAMS).read_text()))
    held_out = [
        {"id": row["id"], "repository": row["repository"], "cuda": row["cuda_source"]}
        for row in stored_pairs(RunFiles(run).recipe_held_out)
        if row["id"] in chosen
    ]
    rows = [*held_out, *_fresh(held_out)]
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    return len(rows)


def _fresh(held_out: list[Row]) -> Iterator[Row]:
    """With the kind in place of a repository, which marks them."""
    files = [row for seed in range(_SEED, _SEED + 5) for row in ptx_programs(seed)]
    grafts = grafted_rows(held_out, 4 * _GRAFTS, frozenset())
    for rows, most in ((files, _FILES), (grafts, _GRAFTS)):
        made = 0
        for row in rows:
            pair = translated(row) if made < most and "__global__" in row["cuda"] else None
            if pair is not None and "error" not in pair:
                made += 1
                yield {"id": f"fresh-{row['id']}", "repository": row["kind"], "cuda": row["cuda"]}


def held_out_questions(programs: Path, form: TranslationFormat) -> list[EditQuestion]:
    """Those of :func:`write_programs`, to be answered within a run of reinforcement learning: that
    can be answered by numbered edits."""
    from cass_ray.llm.line_edits import MARKS
    from cass_ray.train.rl.rollouts import EditQuestion

    made = [EditQuestion(program.name, program.text) for program in read_programs(programs)]
    return [
        question
        for question in made
        if len(question.lines) <= MARKS and len(form.edit_question(question.lines)) <= _LONGEST
    ]


def write_answers(answers: Iterable[Rollout], folder: Path) -> None:
    """Answers to :func:`held_out_questions`, as :func:`write_worth` and ``gains`` read them."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"task": answer.question.id, "temperature": 0.0, "tokens": len(answer.tokens)}
        | ({"problem": answer.problem} if answer.code is None else {"code": answer.code})
        for answer in answers
    ]
    with (folder / "public-edits.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)


def write_worth(
    answers: Path, programs: Path, tools: Path, path: Path, optimization: str = OPTIMIZATION
) -> None:
    """Judge the files ``public-*.jsonl`` in ``answers``; write a line of JSON each, say the sums.

    ``same``: the compiler makes the code of the rules' translation of it, as for the reward;
    ``to_the_word``: with the rules' helpers of ``min`` and ``max`` too, as in the first six runs.
    """
    asked = {program.name: program for program in read_programs(programs)}
    work = [
        (path.stem, row["task"], row["temperature"], asked[row["task"]].text, row.get("code"))
        for path in sorted(answers.glob("public-*.jsonl"))
        for row in map(json.loads, path.read_text().splitlines())
        if row["task"] in asked
    ]
    random.Random(0).shuffle(work)  # answers to one program lie together
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
        rows = list(pool.map(partial(_judged, tools, optimization), work, chunksize=2))
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        kind = asked[row["task"]].file if row["task"].startswith("fresh-") else "public"
        sums[f"{row['label']} {kind}"].update(
            answers=1,
            compile=row["compiles"],
            same=row["same"],
            to_the_word=row["to_the_word"],
            rules=row["as_rules"],
        )
    for label, counts in sorted(sums.items()):
        say(f"{answers.name} {label}: {dict(counts)}")


def gains(before: Path, after: Path) -> Iterator[str]:
    """Lines of a table of what :func:`write_worth` wrote of two models: by the kind of program and
    of answer, shares that are right before and after, and how many became right and wrong.

    What only one of them was asked or could not be judged for is left out.
    """
    sides = [_by_answer(path) for path in (before, after)]
    groups: dict[tuple[str, str], list[tuple[Row, Row]]] = defaultdict(list)
    for answer in sorted(sides[0].keys() & sides[1].keys()):
        label, task, _ = answer
        pair = sides[0][answer], sides[1][answer]
        for kind in (_kind(task), "all"):
            groups[label, kind].append(pair)
    yield "| answers | programs | number | right before | after | points | became right, wrong |"
    yield "|---|---|---|---|---|---|---|"
    for (label, kind), pairs in sorted(groups.items()):
        for what in ("same", "to_the_word", "compiles"):
            if any(what not in row for pair in pairs for row in pair):
                continue  # judged before there were two judges
            old, new = (sum(pair[side][what] for pair in pairs) for side in (0, 1))
            won = sum(b[what] > a[what] for a, b in pairs)
            yield (
                f"| {label.removeprefix('public-')}: {what} | {kind} | {len(pairs)} "
                f"| {old} ({old / len(pairs):.1%}) | {new} ({new / len(pairs):.1%}) "
                f"| {100 * (new - old) / len(pairs):+.1f} | {won}, {won - new + old} |"
            )


def _kind(task: str) -> str:
    return "-".join(task.split("-")[:2]) if task.startswith("fresh-") else "public"


def _by_answer(path: Path) -> dict[tuple[str, str, int], Row]:
    """Rows by label, program and the number of the sample."""
    found: dict[tuple[str, str, int], Row] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for row in map(json.loads, path.read_text().splitlines()):
        name = row["label"], row["task"]
        found[*name, seen[name]] = row
        seen[name] += 1
    return found


def _judged(
    tools: Path, optimization: str, work: tuple[str, str, float, str, str | None]
) -> dict[str, Any]:
    from cass_ray.execute.rewards.verdicts import Outcome
    from cass_ray.toolchain.sandbox.process import Starved
    from recipes.judge.tools import make_judge

    label, task, temperature, cuda, code = work
    row = {"label": label, "task": task, "temperature": temperature}
    if code is None:
        kinds = ("compiles", "same", "to_the_word", "as_rules")
        return row | {"outcome": "no program"} | dict.fromkeys(kinds, False)
    judge = make_judge(tools, optimization=optimization)
    verdict = judge.of(cuda, code)
    strict = replace(judge, extremes=False).of(cuda, code)
    try:
        compiles = judge.compiles(code)
    except Starved:
        compiles = False
    return row | {
        "outcome": verdict.outcome.value,
        "compiles": compiles,
        "same": verdict.outcome is Outcome.COMPILED and bool(verdict.reference),
        "to_the_word": strict.outcome is Outcome.COMPILED and bool(strict.reference),
        "as_rules": code == by_rules(cuda),
    }
