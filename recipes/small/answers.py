"""Greedy answers and samples of a small model, for CASS-Bench and for programs held out."""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cass_ray.llm.line_edits import MARKS
from cass_ray.task import Direction
from recipes.small.pairs import PROGRAMS, QUESTIONS, Row, by_rules


def say(text: str) -> None:
    """``text`` with the time, at once."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def answer(model: str, folder: Path, out: Path, options: argparse.Namespace) -> None:
    """Greedy answers and samples in both formats; a JSON object a line in ``out``."""
    from cass_ray.train.data.recipe_files import stored_pairs
    from cass_ray.train.run_files import RunFiles
    from cass_ray.translate.engines.edits import load_form
    from cass_ray.translate.engines.model import Generator, ModelOptions

    out.mkdir(parents=True, exist_ok=True)
    loaded = Generator.load(model, ModelOptions())  # an int8 copy as well
    form = load_form(loaded.tokenizer)
    bench = [
        Program(row["task"], row["file"], row["cuda"])
        for row in json.loads((folder / QUESTIONS).read_text())
    ][: options.first]
    asked = (folder / PROGRAMS).exists() and set(json.loads((folder / PROGRAMS).read_text()))
    back = [
        Program(row["task"], row["hip_file"], row["hip"], Direction.HIP_TO_CUDA)
        for row in json.loads((folder / QUESTIONS).read_text())
        if "hip" in row
    ][: options.first]
    if options.programs:
        held_out = read_programs(options.programs)[: options.first]
    else:
        held_out = [
            Program(row["id"], row["repository"], row["cuda_source"])
            for row in stored_pairs(RunFiles(Path(model).parent).recipe_held_out)
            if row["kind"] == "program" and (not asked or row["id"] in asked)
        ][: options.first]
    decoder = _decoder(loaded.model, form, bench)
    asking = Asking(decoder, form, out, options.rows, options.longest, options.seconds)
    hot = [options.temperature] * options.samples
    edits, files = (options.form in (form, None) for form in ("edits", "file"))
    if edits and "public" in options.only and not options.no_greedy:
        asking.ask("public-edits", held_out, False, [0.0])
    if "public" in options.only and options.public_samples:
        asking.ask("public-edits-samples", held_out, False, [1.0] * options.public_samples)
    if "bench" in options.only:
        for label, wanted, whole, heat in (
            ("bench-edits", edits, False, [0.0]),
            ("bench-file", files, True, [0.0]),
            ("bench-edits-samples", edits, False, hot),
            ("bench-file-samples", files, True, hot),
        ):
            if wanted and heat:
                asking.ask(label, bench, whole, heat)
    if "back" in options.only:
        asking.ask("back-edits", back, False, [0.0])
        asking.ask("back-file", back, True, [0.0])
        asking.ask("back-edits-samples", back, False, hot)
        asking.ask("back-file-samples", back, True, hot)
    if options.form == "file" and "public" in options.only:  # long: only where it is wanted
        asking.ask("public-file", held_out, True, [0.0])


def read_programs(path: Path) -> list[Program]:
    """Programs of a file of JSON lines with ``id``, ``repository`` and ``cuda``."""
    with path.open(encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return [Program(row["id"], row["repository"], row["cuda"]) for row in rows]


def _decoder(model: Any, form: Any, programs: Sequence[Program]) -> Any:
    """With the kernel of our own, where it runs and begins answers as the plain products do."""
    from cass_ray.llm.batch_decode import BatchDecoder

    plain = BatchDecoder(model, fused=False)
    if not next(model.parameters()).is_cuda:
        return plain
    questions = [form.edit_question(program.lines) for program in programs[:8]]
    try:
        fused = BatchDecoder(model, fused=True)
        both = [made(questions, 64, [0.0] * 8, form.end) for made in (fused, plain)]
    except Exception as error:
        say(f"plain attention: {error!r}")
        return plain
    same = sum(a == b for a, b in zip(*both, strict=True))
    say(f"{same} of 8 answers begin alike with both kinds of attention")
    return fused if same >= 5 else plain


@dataclass(frozen=True)
class Program:
    """A program to ask for, by its name and the file it is in."""

    name: str
    file: str
    text: str
    direction: Direction = Direction.CUDA_TO_HIP

    @property
    def lines(self) -> list[str]:
        return self.text.replace("\r\n", "\n").split("\n")


@dataclass(frozen=True)
class _Job:
    program: Program
    question: list[int]
    temperature: float


class Asking:
    """Asks ``decoder`` for batches of ``rows`` answers until ``seconds`` have passed."""

    def __init__(
        self, decoder: Any, form: Any, out: Path, rows: int, longest: int, seconds: float
    ) -> None:
        self._decoder, self._form, self._out = decoder, form, out
        self._longest, self._rows = longest, rows
        self._until = time.monotonic() + seconds

    def ask(
        self,
        label: str,
        programs: Sequence[Program],
        whole_file: bool,
        temperatures: list[float],
    ) -> None:
        """Write ``label.jsonl``."""
        from cass_ray.llm.translation_format import UnusableAnswer

        counts: Counter[str] = Counter()
        jobs = self._jobs(programs, whole_file, temperatures, counts)
        started = time.monotonic()
        with (self._out / f"{label}.jsonl").open("w") as stream:
            while jobs:
                batch, jobs = jobs[: self._rows], jobs[self._rows :]
                for job, ids in zip(batch, self._answers(batch, whole_file, counts), strict=False):
                    record: Row = {
                        "task": job.program.name,
                        "file": job.program.file,
                        "temperature": job.temperature,
                        "tokens": len(ids),
                    }
                    try:
                        record["code"] = (
                            self._form.read_file(ids, job.program.direction)
                            if whole_file
                            else self._form.read_edits(job.program.lines, ids)
                        )
                        counts["usable"] += 1
                        if job.program.direction is Direction.CUDA_TO_HIP:
                            rules = by_rules(job.program.text)
                            counts["as the rules"] += record["code"] == rules
                    except UnusableAnswer as error:
                        record["problem"] = str(error)
                        counts[str(error)[:40]] += 1
                    stream.write(json.dumps(record) + "\n")
        say(f"{label}: {time.monotonic() - started:.0f} s, {dict(counts)}")

    def _jobs(
        self,
        programs: Sequence[Program],
        whole_file: bool,
        temperatures: list[float],
        counts: Counter[str],
    ) -> list[_Job]:
        from cass_ray.llm.translation_format import UnusableAnswer

        form, jobs = self._form, []
        for program in programs:
            lines = program.lines
            try:
                question = (
                    form.file_question("\n".join(lines), program.direction)
                    if whole_file
                    else form.edit_question(lines, direction=program.direction)
                )
            except UnusableAnswer:
                counts["not to be asked"] += 1
                continue
            jobs += [_Job(program, question, temperature) for temperature in temperatures]
        return sorted(jobs, key=lambda job: len(job.question))

    def _answers(
        self, batch: list[_Job], whole_file: bool, counts: Counter[str]
    ) -> list[list[int]]:
        """Answers of at most what a right one may need; none when the time is over."""
        from cass_ray.llm.batch_decode import EditMarks

        form, size = self._form, len(batch[-1].question)
        most = int(1.3 * size) + 300 if whole_file else min(3000, size + 500)
        most = min(most, 16000 - size, self._longest)
        left = self._until - time.monotonic()
        if most < 16 or left < 5:
            counts["not asked"] += len(batch)
            return []
        lines = [None if whole_file else len(job.program.lines) for job in batch]
        answers: list[list[int]] = self._decoder(
            [job.question for job in batch],
            most,
            [job.temperature for job in batch],
            form.end,
            edits=EditMarks(form.first_mark, MARKS, lines),
            seconds=left,
            say=say,
        )
        return answers
