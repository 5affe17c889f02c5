"""``python -m benchmarks.corpus.dedup``: near duplicates among generated files, beside datasketch.

Ours runs as the pipeline has it: one process makes sets and band keys of batches, one looks them
up. Files are made as they are needed and the time for that is reported apart. datasketch is used
plainly (``MinHash.update`` for each run of tokens, ``MinHashLSH.query`` and ``insert``) on the same
tokens, and once more with its batched update. Truth is the Jaccard similarity of each planted pair,
computed on the text of the runs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt
from datasketch import MinHash, MinHashLSH
from pydantic import BaseModel, ConfigDict

from benchmarks.corpus.dedup_corpus import Corpus
from benchmarks.folders import RESULTS
from benchmarks.measure.machine import MeasuredMachine, this_machine
from cass_ray.corpus.dedup.near import NearDuplicates
from cass_ray.corpus.dedup.shingles import Hashes, hash_sets, source_tokens

THRESHOLD = 0.8
_BATCH = 512
_MILLION = 1_000_000


class Figures(BaseModel):
    """One system on one corpus. CPU seconds leave out the making of the files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: str
    files: int
    wall_seconds: float
    cpu_seconds: float
    making_files_cpu_seconds: float
    idle_memory_mib: float
    """Peak before the first file: interpreter and libraries."""
    peak_memory_mib: float
    recall: float
    precision: float
    pairs_at_or_above_threshold: int

    @property
    def files_per_cpu_second(self) -> float:
        """Throughput of one core that does nothing else."""
        return self.files / self.cpu_seconds


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@dataclass
class Score:
    """Planted pairs found and missed."""

    corpus: Corpus
    found: int = 0
    missed: int = 0
    wrong: int = 0

    def add(self, number: int, match: int | None) -> None:
        """``match`` is the file that ``number`` is said to repeat."""
        planted = self.corpus.planted(number)
        similar = planted is not None and (
            exact_similarity(self.corpus, number, planted.original) >= THRESHOLD
        )
        right = planted is not None and match == planted.original
        if similar and right:
            self.found += 1
        elif similar:
            self.missed += 1
        if match is not None and not (right and similar):
            self.wrong += 1

    @property
    def recall(self) -> float:
        """Share of the pairs at or above the threshold that were found."""
        return self.found / (self.found + self.missed)

    @property
    def precision(self) -> float:
        """Share of what was found that is a pair at or above the threshold."""
        return self.found / (self.found + self.wrong)


def exact_similarity(corpus: Corpus, first: int, second: int) -> float:
    """Jaccard similarity on the text of the runs of five tokens."""
    a, b = (set(runs(corpus.source(number))) for number in (first, second))
    return len(a & b) / len(a | b)


def runs(source: str) -> list[str]:
    tokens = source_tokens(source)
    return [" ".join(tokens[i : i + 5]) for i in range(len(tokens) - 4)]


@dataclass
class _Part:
    start: int
    sets: list[Hashes]
    keys: npt.NDArray[np.uint64]
    making: float
    working: float


def _prepare(corpus: Corpus, start: int) -> _Part:
    began = time.process_time()
    numbers = range(start, min(start + _BATCH, corpus.files))
    sources = [corpus.source(number) for number in numbers]
    made = time.process_time()
    sets = hash_sets([source_tokens(source) for source in sources])
    keys = NearDuplicates(THRESHOLD).keys_of(sets)
    return _Part(start, sets, keys, made - began, time.process_time() - made)


def measure_ours(corpus: Corpus, spill: Path | None) -> Figures:
    """Two processes: one prepares, this one looks up."""
    idle = _peak_mib()
    duplicates = NearDuplicates(THRESHOLD, folder=spill)
    matches: dict[int, int] = {}
    making = working = 0.0
    began, cpu = time.perf_counter(), time.process_time()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        starts = range(0, corpus.files, _BATCH)
        for part in pool.imap(partial(_prepare, corpus), starts):
            names = [str(part.start + i) for i in range(len(part.sets))]
            found = duplicates.offer_sets(names, part.sets, part.keys)
            for name, similar in zip(names, found, strict=True):
                if similar is not None:
                    matches[int(name)] = int(similar.id)
            making += part.making
            working += part.working
    wall, lookup = time.perf_counter() - began, time.process_time() - cpu
    peak = _peak_mib()
    score = Score(corpus)
    for number in _judged(corpus, matches):
        score.add(number, matches.get(number))
    return Figures(
        system="cass-ray",
        files=corpus.files,
        wall_seconds=wall,
        cpu_seconds=working + lookup,
        making_files_cpu_seconds=making,
        idle_memory_mib=idle,
        peak_memory_mib=peak,
        recall=score.recall,
        precision=score.precision,
        pairs_at_or_above_threshold=score.found + score.missed,
    )


def _judged(corpus: Corpus, matches: dict[int, int]) -> Iterator[int]:
    """Files that were matched, and planted ones: all, or 5,000 of them evenly spread."""
    planted = range(corpus.copy_every - 1, corpus.files, corpus.copy_every)
    step = max(1, len(planted) // 5_000)
    judged = set(planted[::step])
    others = (number for number in matches if corpus.planted(number) is None)
    yield from sorted(judged.union(others))


def _one_by_one(signature: MinHash, shingles: list[str]) -> None:
    for shingle in shingles:
        signature.update(shingle.encode())


def _in_batch(signature: MinHash, shingles: list[str]) -> None:
    signature.update_batch([shingle.encode() for shingle in shingles])


def measure_datasketch(
    corpus: Corpus, name: str, update: Callable[[MinHash, list[str]], None]
) -> Figures:
    """One process, one file after another."""
    idle = _peak_mib()
    index = MinHashLSH(threshold=THRESHOLD, num_perm=128)
    score = Score(corpus)
    kept: dict[str, MinHash] = {}
    making = working = 0.0
    began = time.perf_counter()
    for number in range(corpus.files):
        start = time.process_time()
        source = corpus.source(number)
        made = time.process_time()
        signature = MinHash(num_perm=128)
        update(signature, runs(source))
        found = sorted(index.query(signature), key=int)
        if not found:
            index.insert(str(number), signature)
            kept[str(number)] = signature
        done = time.process_time()
        making += made - start
        working += done - made
        score.add(number, int(found[0]) if found else None)
    return Figures(
        system=name,
        files=corpus.files,
        wall_seconds=time.perf_counter() - began,
        cpu_seconds=working,
        making_files_cpu_seconds=making,
        idle_memory_mib=idle,
        peak_memory_mib=_peak_mib(),
        recall=score.recall,
        precision=score.precision,
        pairs_at_or_above_threshold=score.found + score.missed,
    )


class Report(BaseModel):
    """What ``results/dedup.json`` holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    machine: MeasuredMachine
    load_average: float
    """Runnable processes a minute before the end: above the cores, others were competing."""
    datasketch: str
    figures: list[Figures]


def _in_child(work: Callable[[], Figures]) -> Figures:
    """``work`` in a process of its own, so that peak memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work)


def markdown(report: Report) -> str:
    rows = "\n".join(
        f"| {f.system} | {f.files:,} | {f.files_per_cpu_second:,.0f} | "
        f"{f.files / f.wall_seconds:,.0f} | {f.peak_memory_mib:,.0f} | {f.recall:.4f} | "
        f"{f.precision:.4f} |"
        for f in report.figures
    )
    machine = report.machine
    return f"""# Near duplicates: cass-ray beside datasketch

Files of about 3 KB made on the fly (`benchmarks/corpus/dedup_corpus.py`); one in ten is a copy of
an earlier one in which up to 16% of the lines were changed. Threshold: Jaccard 0.8 over runs of
five
tokens. `python -m benchmarks.corpus.dedup` makes this page.

| system | files | files per CPU second | files/s (wall) | peak memory (MiB) | recall | precision |
|---|---|---|---|---|---|---|
{rows}

Files per CPU second leaves out the making of the files; files/s is with it, in two processes for
cass-ray (one makes and hashes files, one looks them up) and in one for datasketch. Peak memory is
that of the process with the index; the sets that decide lie in a file of about 4 KB a kept text.
Recall and precision are over planted pairs whose similarity, computed on the text of their runs, is
at or above the threshold. datasketch {report.datasketch}, `MinHashLSH(threshold=0.8,
num_perm=128)`, keeps what its index returns.

{note(report)}Machine: {machine.cores} cores ({machine.processor}), {machine.memory_gib} GiB; load
average at the end {report.load_average:.1f}.
"""


def note(report: Report) -> str:
    """What a run on fewer files than a million says about a million, as a paragraph."""
    ours = report.figures[-1]
    if ours.files >= _MILLION:
        return ""
    seconds = ours.cpu_seconds / ours.files * _MILLION
    memory = ours.idle_memory_mib + (ours.peak_memory_mib - ours.idle_memory_mib) * (
        _MILLION / ours.files
    )
    return (
        f"Extrapolated from {ours.files:,} files, not measured: a million files take about"
        f" {seconds:,.0f} CPU seconds and at most {memory:,.0f} MiB. Time and memory grow in"
        " proportion to the files, but for the merges of the index (a logarithm).\n\n"
    )


def main() -> None:
    """Measure and write ``results/dedup.json`` and ``results/dedup.md``."""
    import os

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--datasketch-files", type=int, default=20_000)
    parser.add_argument("--spill", type=Path, default=None, help="folder for the sets")
    arguments = parser.parse_args()
    beside = Corpus(arguments.datasketch_files)
    figures = [
        _in_child(partial(measure_datasketch, beside, "datasketch, plain", _one_by_one)),
        _in_child(partial(measure_datasketch, beside, "datasketch, update_batch", _in_batch)),
        measure_ours(Corpus(arguments.files), arguments.spill),
    ]
    report = Report(
        machine=this_machine(),
        load_average=os.getloadavg()[0],
        datasketch=version("datasketch"),
        figures=figures,
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "dedup.json").write_text(json.dumps(report.model_dump(), indent=2) + "\n")
    (RESULTS / "dedup.md").write_text(markdown(report))
    print(markdown(report))


if __name__ == "__main__":
    main()
