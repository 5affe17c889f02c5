"""Questions for reinforcement learning: what a small model may be asked that is not held out.

Public files with a kernel: those that the supervised run left for this (``--reserved``), as they
are and under invented names, and parts of them; those of the run itself, half of them under
invented names; and generated programs, inline PTX and grafts that the run has not seen. Each time
that a question is asked its names are others (:func:`in_other_words`).
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from cass_ray.train.rl.rollouts import EditQuestion
from recipes.judge.compiled import CompileJudge
from recipes.small.pairs import (
    REAL,
    RESERVED,
    Row,
    generated_programs,
    grafted_rows,
    ptx_programs,
    translated,
)

_FRESH_SEED = 100_000
"""Seeds from here on are not those of a supervised run."""
_PUBLIC = (*REAL, "grafted")
_GRAFTED_INTO = ("program", "grafted")
_SPELLINGS = 3
"""Questions of a program that is asked here alone."""
_LONG = 400
"""Tokens of a long answer are more: those that the first five runs never asked for."""
_PART_LINES = (25, 160)
"""Lines of a part of a file, at least and at most."""


@dataclass(frozen=True)
class Wanted:
    """Which questions are made."""

    most: int
    fresh: int
    """Programs that are made anew."""
    longest_answer: int
    """Tokens of the rules' answer, at most."""
    unseen_only: bool = False
    """Nothing of the supervised run: neither its files, which a model knows by heart, nor grafts
    into them, nor generated programs, which are right eight times out of eight."""
    parts: int = 0
    """Parts of the files that are asked here alone."""
    long_share: float = 1.0
    """Of the questions, those whose answer by the rules is long, at most."""


def write_questions(run: Path, path: Path, wanted: Wanted, tools: Path | None) -> int:
    """Write questions of the run whose folder is ``run``; how many there are.

    With ``tools`` (of ``recipes.judge.tools unpack``) only those whose known translation compiles.
    """
    from cass_ray.train.data.recipe_files import stored_pairs
    from cass_ray.train.run_files import RunFiles

    files, chance = RunFiles(run), random.Random("questions")
    pairs = [row for row in stored_pairs(files.recipe_pairs) if row["kind"] in _PUBLIC]
    public = [row for row in pairs if "__global__" in row["cuda_source"]]
    later = run.parent / RESERVED
    reserved = list(stored_pairs(later)) if later.exists() else []
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
        work = [(row, number) for number in range(_SPELLINGS) for row in reserved]
        work += [(row, 0) for row in _parts_of(reserved, wanted.parts, pool)]
        known = [] if wanted.unseen_only else public
        rest = [*known, *_fresh_pairs([*known, *reserved], wanted, pool)]
        chance.shuffle(rest)
        work += [(row, number % 2) for number, row in enumerate(rest)]
        asked = ((row, str(files.tokenizer), number) for row, number in work)
        fitting = partial(_fitting, longest_answer=wanted.longest_answer)
        made = [row for row in pool.map(fitting, asked, chunksize=32) if row is not None]
        made = fewer_long(made, wanted.long_share)[: wanted.most]
        if tools is not None:
            compiled = pool.map(partial(_compiles, tools), made, chunksize=4)
            made = [row for row, compiles in zip(made, compiled, strict=True) if compiles]
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in made)
    return len(made)


def fewer_long(rows: list[Row], share: float) -> list[Row]:
    """``rows``, of those of long answers the first ones, ``share`` of what is left at most."""
    long = [row["answer_tokens"] > _LONG for row in rows]
    short = len(rows) - sum(long)
    left = len(rows) if share >= 1 else int(short * share / (1 - share))
    made = []
    for row, is_long in zip(rows, long, strict=True):
        left -= is_long
        if not is_long or left >= 0:
            made.append(row)
    return made


def _fresh_pairs(public: list[Row], wanted: Wanted, pool: ProcessPoolExecutor) -> Iterator[Row]:
    """A sixth generated programs, unless they are not wanted, half files of inline PTX, a third
    grafts into ``public`` programs."""
    fresh = wanted.fresh
    programs = [row for row in public if row["kind"] in _GRAFTED_INTO]

    def seeds(number: int) -> range:  # 50 files each
        return range(_FRESH_SEED, _FRESH_SEED + max(1, number // 50))

    generated = range(0) if wanted.unseen_only else seeds(fresh // 6)
    found = [row for rows in pool.map(generated_programs, generated) for row in rows]
    found += [row for rows in pool.map(ptx_programs, seeds(fresh // 2)) for row in rows]
    sources = [
        {"id": f"rl-{row['id']}", "repository": "", "cuda": row["cuda_source"]} for row in programs
    ]
    random.Random("fresh grafts").shuffle(sources)
    found += grafted_rows(sources, fresh // 3, frozenset())
    for pair in pool.map(translated, found, chunksize=16):
        if pair is not None and "error" not in pair:
            yield pair


def _parts_of(rows: list[Row], number: int, pool: ProcessPoolExecutor) -> Iterator[Row]:
    """``number`` parts of files as pairs of their own, fewer where rules have findings: most files
    of people are too long to be asked whole."""
    chance = random.Random("parts")
    found = [
        {"id": f"part-{place}-{row['id']}", "kind": "file", "cuda": part}
        for place, row in enumerate(chance.choice(rows) for _ in range(number if rows else 0))
        if (part := cut(row["cuda_source"], chance)) is not None
    ]
    for pair in pool.map(translated, found, chunksize=16):
        if pair is not None and "error" not in pair:
            yield pair


def cut(cuda: str, chance: random.Random) -> str | None:
    """A run of whole declarations of a file with a kernel: from its first line or one behind a
    brace that closes in the first column, to such a brace; None where chance finds none."""
    lines = cuda.replace("\r\n", "\n").split("\n")
    ends = [place for place, line in enumerate(lines, 1) if line in ("}", "};")]
    begins = [0, *ends]
    least, most = _PART_LINES
    for _ in range(4):
        first = chance.choice(begins) if chance.random() < 0.5 else 0
        fitting = [place for place in ends if least <= place - first <= most]
        part = "\n".join(lines[first : chance.choice(fitting)]) if fitting else ""
        if "__global__" in part:
            return part + "\n"
    return None


def _compiles(tools: Path, row: Row) -> bool:
    from cass_ray.execute.rewards.verdicts import Outcome
    from recipes.judge.tools import make_judge

    verdict = make_judge(tools).of(row["cuda"], row["translation"])  # kept for the run
    return verdict.outcome is Outcome.COMPILED


_form: Any = None


def _fitting(work: tuple[Row, str, int], longest_answer: int) -> Row | None:
    """The question of a pair, under invented names but for its first; None where it is too long.

    ``work``: the pair, the folder of the tokenizer, which of its questions.
    """
    from cass_ray.train.data.augment import respell
    from cass_ray.train.rl.request import question_of

    row, tokenizer, number = work
    name, cuda, hip = row["id"], row["cuda_source"], row["hip_source"]
    if row["kind"] in _PUBLIC and number:
        sides = respell(cuda.split("\n"), hip.split("\n"), random.Random(f"{number} {name}"))
        cuda, hip = ("\n".join(side) for side in sides)
        name = f"respelled-{number}-{name}"
    form = _form_of(tokenizer)
    made = question_of(name, cuda, hip, form, LONGEST_QUESTION, longest_answer)
    return None if made is None else asdict(made)


def foresee_questions(
    questions: Iterable[EditQuestion], judge: Callable[[], CompileJudge], seconds: float
) -> tuple[int, int]:
    """Let the judge know the rules' translations of ``questions``, of those that answers are judged
    in the words of (:mod:`recipes.rl.canonical_names`); how many compile, and how many are
    known when ``seconds`` have passed."""
    until = time.monotonic() + seconds
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
        work = [(judge, question.cuda, until) for question in questions]
        found = [made for made in pool.map(_foreseen, work, chunksize=4) if made is not None]
    return sum(found), len(found)


def _foreseen(work: tuple[Callable[[], CompileJudge], str, float]) -> bool | None:
    judge, cuda, until = work
    return judge().foresee(cuda) if time.monotonic() < until else None


def in_other_words(question: EditQuestion, chance: random.Random) -> EditQuestion:
    """The same question with a share of its own names invented anew, on both sides alike."""
    from cass_ray.train.data.augment import invented_names, renamed

    sides = question.lines, question.translation.split("\n")
    names = invented_names(*sides, chance)
    cuda, translation = ("\n".join(renamed(side, names)) for side in sides)
    return replace(
        question,
        id=f"{question.id}~{chance.getrandbits(32):08x}",
        cuda=cuda,
        translation=translation,
        of=question.id,
        names={fresh: name for name, fresh in names.items()},
    )


LONGEST_QUESTION = 3500
"""Tokens of a question."""


def _form_of(tokenizer: str) -> Any:
    global _form
    if _form is None:
        from cass_ray.llm.pretrained import load_tokenizer
        from cass_ray.llm.translation_format import TranslationFormat
        from cass_ray.translate.rules.tables import snippets

        _form = TranslationFormat.known_to(load_tokenizer(tokenizer), snippets())
    return _form


def read_questions(path: Path) -> Iterable[EditQuestion]:
    """What :func:`write_questions` wrote."""
    with path.open(encoding="utf-8") as stream:
        return [EditQuestion(**json.loads(line)) for line in stream]
