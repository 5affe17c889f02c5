"""Pairs for a small model: public files, and what is generated, all translated by the rules."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa

SOURCES, QUESTIONS = "sources.zst", "bench.json"
PROGRAMS = "programs.json"
"""Ids of the held-out programs that are asked; all of them where there is no such file."""
RESERVED = "reserved.arrow"
"""Pairs that a run leaves to reinforcement learning, in its folder."""
REAL = ("program", "file")
"""Kinds of pairs that people wrote, with more than few changed lines."""
_FEW = 4
"""A public file with fewer changed lines is of the kind ``few``."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Amounts:
    """How much is generated, and how many public files are read at most."""

    generated: int
    drills: int
    ptx: int
    """Files of inline PTX."""
    grafted: int
    """Public programs that functions of inline PTX are put into."""
    most: int | None
    """Public files that are learned from, at most; what is held out is always read."""
    asked_only: bool = False
    """Of what is held out, only the programs that are asked (``PROGRAMS``)."""
    reserved: float = 0.0
    """Share of the repositories whose files with a kernel are kept for reinforcement learning."""


def is_reserved(repository: str, share: float) -> bool:
    """Whether a repository is among ``share`` of them: by its name alone."""
    place = hashlib.sha256(repository.encode()).digest()[:4]
    return bool(repository) and int.from_bytes(place, "big") < share * 2**32


def pack(sources: Path, out: Path) -> None:
    """The files and the questions of CASS-Bench, in ``out``."""
    from recipes.small.from_scratch import bench_questions

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


@lru_cache(maxsize=1)
def _translator() -> Any:
    from cass_ray.translate.rules import RulesTranslator

    return RulesTranslator()


def translated(row: Row) -> Row | None:
    """``row`` as a pair; None where the rules have a finding or nothing to do."""
    try:
        translation = _translator().translate(row["cuda"])
    except Exception as error:
        return {"error": repr(error), "path": row.get("path")}
    if translation.errors:
        return None
    kind = row.get("kind") or ("program" if " main(" in row["cuda"] else "file")
    if translation.source == row["cuda"] and not row.get("kind"):
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


def generated_programs(seed: int) -> list[Row]:
    """50 generated programs."""
    from cass_ray.corpus.generate.options import GeneratorOptions
    from cass_ray.corpus.generate.program import generate
    from recipes.small.from_scratch import SHORT

    knobs = GeneratorOptions.model_validate(SHORT if seed % 2 else {})
    return [
        {"id": f"generated-{seed}-{number}", "kind": "synthetic", "cuda": program.source}
        for number, program in enumerate(generate(50, seed, knobs))
    ]


def drill_rows(count: int) -> Iterator[Row]:
    """Drills over the mapping tables of the rules."""
    from cass_ray.translate.rules import tables
    from recipes.small.asm_programs.drills import drills

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
        functions=[*names["function"] * 2, *[name for name in forms for _ in range(24)]],
        types=names["type"],
        enumerators=names["enumerator"],
        device=list(tables.device_functions()),
        sizes=forms,
        headers=tables.header_names(),
    )
    for number, source in enumerate(made):
        yield {"id": f"drill-{number}", "kind": "drill", "cuda": source}


def ptx_programs(seed: int) -> list[Row]:
    """50 files of inline PTX."""
    from recipes.small.asm_programs.files import ptx_files

    return [
        {"id": f"ptx-{seed}-{number}", "kind": "ptx", "cuda": source}
        for number, source in enumerate(ptx_files(50, seed))
    ]


def grafted_rows(rows: list[Row], count: int, held_out: frozenset[str]) -> Iterator[Row]:
    """Public programs of moderate length with functions of inline PTX in them."""
    from recipes.small.asm_programs.files import grafted

    chance = random.Random("grafted")
    fitting = [
        row
        for row in rows
        if " main(" in row["cuda"]
        and row["cuda"].count("\n") < 350
        and row["repository"] not in held_out
    ]
    for number in range(count if fitting else 0):
        row = chance.choice(fitting)
        source = grafted(chance, row["cuda"])
        if source is not None:
            yield {"id": f"grafted-{number}-{row['id']}", "kind": "grafted", "cuda": source}


def pairs(folder: Path, amounts: Amounts, held_out: frozenset[str]) -> list[Row]:
    """All pairs of the run, made on all cores."""
    started = time.monotonic()
    counts: Counter[str] = Counter()
    made: list[Row] = []
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
        programs = pool.map(generated_programs, range(amounts.generated // 50))
        assembly = pool.map(ptx_programs, range(amounts.ptx // 50))
        known = list(unpacked(folder))
        apart = [row for row in known if row["repository"] in held_out]
        if amounts.asked_only:
            asked = set(json.loads((folder / PROGRAMS).read_text()))
            apart = [row for row in apart if row["id"] in asked]
        rows = [row for row in known if row["repository"] not in held_out][: amounts.most] + apart
        later = {
            row["repository"] for row in known if is_reserved(row["repository"], amounts.reserved)
        }
        rows += list(grafted_rows(rows, amounts.grafted, held_out | later))
        rows += [*drill_rows(amounts.drills), *shipped_rows()]
        random.Random(0).shuffle(rows)
        for pair in pool.map(translated, rows, chunksize=16):
            _count(pair, made, counts)
        more = [row for part in (*programs, *assembly) for row in part]
        for pair in pool.map(translated, more, chunksize=16):
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


@lru_cache(maxsize=4096)
def by_rules(cuda: str) -> str:
    return str(_translator().translate(cuda.replace("\r\n", "\n")).source)
