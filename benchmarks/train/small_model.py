"""``jobs/configs/train_small.yaml`` on one borrowed GPU: translate, train, answer, take home.

    P="python -m benchmarks.train.small_model"
    python -m benchmarks.train.public_sources CONFIG.yaml --clones DIR --out SOURCES
    $P pack SOURCES --out DIR                   # here: files and questions, compressed
    $P run DIR --out OUT --seconds 1000         # there: pairs, tokens, a trained model
    $P answer OUT/run/model DIR --out ANSWERS   # there: CASS-Bench and held-out programs

The files are translated by the rules on all cores of the machine with the GPU; generated programs
and drills are made there too. ``answer`` writes files of JSON lines: ``code``, or the ``problem``.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa

from cass_ray.config import load
from cass_ray.llm.line_edits import MARKS
from cass_ray.train.settings import TrainSettings

CONFIG = Path(__file__).parents[2] / "jobs/configs/train_small.yaml"
SOURCES, QUESTIONS = "sources.zst", "bench.json"
DRILLS, GENERATED = 9000, 6000
_FEW = 4
"""A public file with fewer changed lines is of the kind ``few``."""
Row = dict[str, Any]


# --- here


def pack(sources: Path, out: Path) -> None:
    """The files and the questions of CASS-Bench, in ``out``."""
    from benchmarks.train.small_from_scratch import bench_questions

    out.mkdir(parents=True, exist_ok=True)
    text = sources.read_bytes()
    packed = pa.Codec("zstd", compression_level=12).compress(text, asbytes=True)
    (out / SOURCES).write_bytes(len(text).to_bytes(8, "little") + packed)
    (out / QUESTIONS).write_text(json.dumps(bench_questions()))
    print(f"{len(text):,} bytes in {len(packed):,}")


def unpacked(folder: Path) -> Iterator[Row]:
    """The rows of ``pack``."""
    data = (folder / SOURCES).read_bytes()
    size = int.from_bytes(data[:8], "little")
    text = pa.Codec("zstd").decompress(data[8:], decompressed_size=size, asbytes=True)
    yield from (json.loads(line) for line in text.split(b"\n") if line)


# --- on the machine with a GPU


@lru_cache(maxsize=1)
def _translator() -> Any:
    from cass_ray.translate.rules import RulesTranslator

    return RulesTranslator()


def _translated(row: Row) -> Row | None:
    """``row`` as a pair; None where the rules have a finding or nothing to do."""
    try:
        translation = _translator().translate(row["cuda"])
    except Exception as error:
        return {"error": repr(error), "path": row.get("path")}
    if translation.errors:
        return None
    kind = row.get("kind") or ("program" if " main(" in row["cuda"] else "file")
    if translation.source == row["cuda"]:
        kind = "same"
    elif kind == "file" and _changed(row["cuda"], translation.source) < _FEW:
        kind = "few"
    return {
        "id": row["id"],
        "kind": kind,
        "repository": row.get("repository", ""),
        "cuda_source": row["cuda"],
        "hip_source": translation.source,
    }


def _changed(cuda: str, hip: str) -> int:
    """Lines of ``hip`` that ``cuda`` has not."""
    known = set(cuda.split("\n"))
    return sum(line not in known for line in hip.split("\n"))


def shipped_rows() -> Iterator[Row]:
    """The programs that come with the package, but those that are like the benchmark."""
    from cass_ray.corpus.dedup.shingles import hash_sets, source_tokens
    from cass_ray.corpus.reading.encoding import decode
    from cass_ray.corpus.screening.decontaminate import Decontamination, DecontaminationSettings
    from cass_ray.corpus.sources.shipped import SHIPPED_ROOT

    settings = DecontaminationSettings(source_similarity=0.5, opcodes=False)
    paths = sorted((SHIPPED_ROOT / "programs").rglob("*.cu"))
    texts = {path: decode(path.read_bytes()).text for path in paths}
    sets = hash_sets([source_tokens(text) for text in texts.values()])
    overlaps = Decontamination(settings, lambda _: None).by_source(sets)
    for (path, text), overlap in zip(texts.items(), overlaps, strict=True):
        if overlap is None:
            yield {"id": f"shipped-{path.stem}", "kind": "shipped", "cuda": text}


def _generated(seed: int) -> list[Row]:
    from benchmarks.train.small_from_scratch import SHORT
    from cass_ray.corpus.generate.knobs import Knobs
    from cass_ray.corpus.generate.program import generate

    knobs = Knobs.model_validate(SHORT if seed % 2 else {})
    return [
        {"id": f"generated-{seed}-{number}", "kind": "synthetic", "cuda": program.source}
        for number, program in enumerate(generate(50, seed, knobs))
    ]


def drill_rows(count: int) -> Iterator[Row]:
    """Drills over the mapping tables of the rules."""
    from cass_ray.corpus.generate.drills import drills
    from cass_ray.translate.rules import tables

    with (tables.FOLDER / "names.csv").open(newline="", encoding="utf-8") as stream:
        rows = [(row["cuda"], row["kind"]) for row in csv.DictReader(stream)]
    names: dict[str, list[str]] = {}
    for name, kind in rows:
        if name.startswith("cuda"):
            names.setdefault(kind, []).append(name)
    forms = {
        function: tuple(
            n for n, call in calls.items() if call.hip and not call.append.startswith("-")
        )
        for function, calls in tables.calls().items()
    } | {name: tuple(calls) for name, calls in tables.calls().items() if name.startswith("surf")}
    forms = {
        name: sizes for name, sizes in forms.items() if sizes and name.startswith(("cuda", "surf"))
    }
    made = drills(
        count,
        0,
        functions=[*names["function"] * 2, *[name for name in forms for _ in range(6)]],
        types=names["type"],
        enumerators=names["enumerator"],
        device=list(tables.device_functions()),
        sizes=forms,
    )
    for number, source in enumerate(made):
        yield {"id": f"drill-{number}", "kind": "drill", "cuda": source}


def pairs(folder: Path, generated: int, drilled: int, most: int | None) -> list[Row]:
    """All pairs of the run, made on all cores."""
    started = time.monotonic()
    counts: Counter[str] = Counter()
    made: list[Row] = []
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
        programs = pool.map(_generated, range(generated // 50))
        rows = list(unpacked(folder))[:most] + list(drill_rows(drilled)) + list(shipped_rows())
        random.Random(0).shuffle(rows)
        for pair in pool.map(_translated, rows, chunksize=16):
            _count(pair, made, counts)
        more = [row for part in programs for row in part]
        for pair in pool.map(_translated, more, chunksize=16):
            _count(pair, made, counts)
    print(f"{time.monotonic() - started:.0f} s: {dict(counts)}", flush=True)
    return made


def _count(pair: Row | None, made: list[Row], counts: Counter[str]) -> None:
    if pair is None:
        counts["with findings"] += 1
    elif "error" in pair:
        counts["errors"] += 1
        print(pair, flush=True)
    else:
        counts[pair["kind"]] += 1
        made.append(pair)


def run(folder: Path, out: Path, options: argparse.Namespace) -> None:
    """Train for about ``seconds``; the model is in ``out/run/model``."""
    import torch

    from cass_ray.train.data.recipe_files import prepare_recipe
    from cass_ray.train.distributed import DistributedContext
    from cass_ray.train.trainer import Trainer

    started = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    settings = load(TrainSettings, options.config, {"out": out / "run"})
    if options.base:
        settings = settings.model_copy(
            update={
                "model": settings.model.model_copy(update={"base": options.base, "fresh": None})
            }
        )
    made = pairs(folder, options.generated, options.drills, options.most)
    print(prepare_recipe(settings, [], made), f"{time.monotonic() - started:.0f} s", flush=True)
    context = DistributedContext(0, 1, device)
    times: list[float] = []
    trial = settings.model_copy(
        update={
            "steps": options.trial,
            "checkpoints": settings.checkpoints.model_copy(update={"url": str(out / "trial")}),
            "evaluation": settings.evaluation.model_copy(update={"every": 10**6, "max_windows": 1}),
        }
    )

    def hear(step: int, values: dict[str, float]) -> None:
        times.append(values["seconds"])

    Trainer(trial, context, on_step=hear, say=_say).run()
    step_seconds = sorted(times[len(times) // 2 :])[len(times) // 4]
    left = started + options.seconds - time.monotonic()
    steps = max(options.trial, int(0.97 * left / step_seconds))
    _say(f"{step_seconds:.3f} s a step, {left:.0f} s left: {steps} steps")
    settings = settings.model_copy(
        update={
            "steps": steps,
            "checkpoints": settings.checkpoints.model_copy(update={"every": steps}),
            "evaluation": settings.evaluation.model_copy(update={"every": max(steps // 4, 1)}),
        }
    )
    summary = Trainer(settings, context, say=_say).run()
    _say(json.dumps(vars(summary)))


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


# --- answers


def answer(model: str, folder: Path, out: Path, options: argparse.Namespace) -> None:
    """Greedy answers and samples in both formats; a JSON object a line in ``out``."""
    import torch
    from transformers import AutoModelForCausalLM

    from cass_ray.llm.pretrained import load_tokenizer
    from cass_ray.llm.translation_format import TranslationFormat
    from cass_ray.train.data.recipe_files import stored_pairs
    from cass_ray.train.run_files import RunFiles
    from cass_ray.translate.rules.tables import snippets

    out.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    loaded = AutoModelForCausalLM.from_pretrained(model, dtype=dtype).to(device).eval()
    form = TranslationFormat(load_tokenizer(model), snippets())
    bench = [
        Program(row["task"], row["file"], row["cuda"])
        for row in json.loads((folder / QUESTIONS).read_text())
    ][: options.first]
    held_out = [
        Program(row["id"], row["repository"], row["cuda_source"])
        for row in stored_pairs(RunFiles(Path(model).parent).recipe_held_out)
        if row["kind"] == "program"
    ][: options.first]
    decoder = _decoder(loaded, form, bench)
    asking = Asking(decoder, form, out, options.rows, options.longest, options.seconds)
    hot = [options.temperature] * options.samples
    asking.ask("bench-edits", bench, False, [0.0])
    asking.ask("bench-file", bench, True, [0.0])
    unanswered = asking.ask("bench-edits-samples", bench, False, hot)
    asking.ask("public-edits", held_out, False, [0.0])
    asking.ask("bench-file-samples", unanswered, True, hot)


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
        _say(f"plain attention: {error!r}")
        return plain
    same = sum(a == b for a, b in zip(*both, strict=True))
    _say(f"{same} of 8 answers begin alike with both kinds of attention")
    return fused if same >= 5 else plain


@dataclass(frozen=True)
class Program:
    """A program to ask for, by its name and the file it is in."""

    name: str
    file: str
    cuda: str

    @property
    def lines(self) -> list[str]:
        return self.cuda.replace("\r\n", "\n").split("\n")


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
    ) -> list[Program]:
        """Write ``label.jsonl``; those of ``programs`` that have no usable answer."""
        from cass_ray.llm.translation_format import UnusableAnswer

        counts: Counter[str] = Counter()
        answered: set[str] = set()
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
                            self._form.read_file(ids)
                            if whole_file
                            else self._form.read_edits(job.program.lines, ids)
                        )
                        counts["usable"] += 1
                        answered.add(job.program.name)
                        counts["as the rules"] += record["code"] == _by_rules(job.program.cuda)
                    except UnusableAnswer as error:
                        record["problem"] = str(error)
                        counts[str(error)[:40]] += 1
                    stream.write(json.dumps(record) + "\n")
        _say(f"{label}: {time.monotonic() - started:.0f} s, {dict(counts)}")
        return [program for program in programs if program.name not in answered]

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
                    form.file_question("\n".join(lines))
                    if whole_file
                    else form.edit_question(lines)
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
            say=_say,
        )
        return answers


@lru_cache(maxsize=4096)
def _by_rules(cuda: str) -> str:
    return str(_translator().translate(cuda.replace("\r\n", "\n")).source)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("sources", type=Path)
    packing.add_argument("--out", type=Path, required=True)
    training = commands.add_parser("run")
    training.add_argument("folder", type=Path)
    training.add_argument("--out", type=Path, required=True)
    training.add_argument("--seconds", type=float, default=1000)
    training.add_argument("--config", type=Path, default=CONFIG)
    training.add_argument("--generated", type=int, default=GENERATED)
    training.add_argument("--drills", type=int, default=DRILLS)
    training.add_argument("--most", type=int, help="Public files, at most.")
    training.add_argument("--trial", type=int, default=40, help="Steps that measure the speed.")
    training.add_argument("--base", help="A model of an earlier run to go on from.")
    asking = commands.add_parser("answer")
    asking.add_argument("model")
    asking.add_argument("folder", type=Path)
    asking.add_argument("--out", type=Path, required=True)
    asking.add_argument("--seconds", type=float, default=300)
    asking.add_argument("--samples", type=int, default=8)
    asking.add_argument("--temperature", type=float, default=0.6)
    asking.add_argument("--rows", type=int, default=320)
    asking.add_argument("--longest", type=int, default=10**6)
    asking.add_argument("--first", type=int, help="Programs, at most.")
    options = parser.parse_args()
    if options.command == "pack":
        pack(options.sources, options.out)
    elif options.command == "run":
        run(options.folder, options.out, options)
    else:
        answer(options.model, options.folder, options.out, options)


if __name__ == "__main__":
    main()
