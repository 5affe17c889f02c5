"""A small model of the assembly level: SASS to RDNA3, by what the lifter made or what clang made.

    A="python -m recipes.small.assembly"
    $A commands SOURCES --out DIR > assembly.list     # data sets, a command each
    $A collect DIR/… --out DATA                       # one archive of pairs; CASS-Bench's questions
    $A run DATA --out OUT --seconds 600 --asking 200 --set data.rdna3=lifted      # on a GPU
    cass bench run --no-cluster --level assembly --arch sm_90 \\
        --system answers:OUT/answers-sm_90.jsonl

``commands`` takes folders of CUDA files (``NAME``) and of OpenCL files (``NAME.cl…``); each is
built into pairs by :mod:`benchmarks.pipeline.plain_loop`, which needs no Ray, by
:mod:`benchmarks.elsewhere.commands` where there are many processors.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from io import TextIOWrapper
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa

from cass_ray.assembly.compact import CompactError, compact, expand
from cass_ray.config import load, parse_overrides
from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.llm.chat_format import encode_prompt
from cass_ray.llm.prompts import prompt_format
from cass_ray.task import Direction, Level, Task
from cass_ray.train.data.examples import is_held_out
from cass_ray.train.settings import TrainSettings
from recipes.small.assembly_names import other_names, other_registers
from recipes.small.from_scratch import PAIRS, exact_answers, make_tokens, train_until

CONFIG = Path(__file__).parents[2] / "jobs/configs/train_small_assembly.yaml"
TASK = Task(Level.ASSEMBLY, Direction.CUDA_TO_HIP)
ARCHITECTURES = ("sm_80", "sm_90")
QUESTIONS = "bench.json"
SECONDS = 900
"""Of a command."""
ROWS = 64
"""Questions that are answered at once."""
LONG = 40_000
"""Characters of SASS from which a module does not fit the window whatever its answer is."""
_WORDS = (
    *("scale", "sum", "reduce", "apply", "kernel", "step", "update", "mix", "scan", "filter"),
    *("tile", "block", "row", "column", "matrix", "vector", "hash", "sort", "merge", "count"),
    *("forward", "backward", "init", "copy", "gather", "scatter", "find", "mark", "push", "relax"),
    *("blur", "edge", "pixel", "force", "move", "energy", "cell", "grid", "node", "path"),
)
"""What kernels are called."""
_BUILD = """\
sources: ['{source}']
out: {out}
nvidia_architectures: [sm_80, sm_90]
amd_architectures: [gfx1100]
optimization: -O3
lift: true
cache: false
"""


# --- Data: where there are many processors --------------------------------------------------------


def write_commands(sources: Path, out: Path) -> Iterator[str]:
    """A line of a list for each folder of ``sources`` and for what is shipped; writes settings."""
    folders = sorted(path for path in sources.iterdir() if path.is_dir())
    named = {path.name: f"{'opencl' if '.cl' in path.name else 'local'}:{path}" for path in folders}
    for name, source in (named | {name: name for name in ("shipped", "shipped-opencl")}).items():
        settings = sources / f"{name}.yaml"
        settings.write_text(_BUILD.format(source=source, out=out / name))
        yield f"{SECONDS}\tpython -m benchmarks.pipeline.plain_loop --config {settings}"


def collect(folders: Iterable[Path], out: Path) -> None:
    """Write the pairs of built data sets to ``out``, each program once, and the questions."""
    from cass_ray.train.data.prepare import pair_files, read_pairs

    counts: Counter[str] = Counter()
    seen: set[str] = set()
    out.mkdir(parents=True, exist_ok=True)
    columns = ("id", "origin", "repository", "verified", "cuda_device_by_arch", "hip_device")
    with pa.CompressedOutputStream(str(out / PAIRS), "zstd") as stream:
        for folder in folders:
            if not list((folder / "pairs").glob("*.parquet")):
                continue
            for row in read_pairs(pair_files([folder]), (*columns, "lifted")):
                if row["id"] in seen:
                    continue
                seen.add(row["id"])
                counts[row["origin"]] += 1
                counts["lifted"] += bool([x for x in row["lifted"] or () if x["rdna3"]])
                stream.write(json.dumps(row).encode() + b"\n")
    (out / "counts.json").write_text(json.dumps(counts))
    (out / QUESTIONS).write_text(json.dumps(questions()))
    print(dict(counts), flush=True)


def questions() -> list[dict[str, str]]:
    """The tasks of CASS-Bench at the assembly level: name, architecture, file and SASS."""
    from cass_ray.bench.evaluate import make_compilers
    from cass_ray.bench.programs import ask
    from cass_ray.bench.question import BenchLevel, QuestionKind
    from cass_ray.bench.task import load_tasks

    compilers, found = make_compilers(), []
    for task in load_tasks():
        for architecture in ARCHITECTURES:
            asked = ask(
                task, QuestionKind(BenchLevel.ASSEMBLY, architecture=architecture), compilers
            )
            found.append(
                {
                    "task": task.name,
                    "architecture": architecture,
                    "file": asked.asked[0],
                    "sass": asked.files[asked.main],
                }
            )
    return found


# --- The run: on a machine with a GPU -------------------------------------------------------------


def in_other_words(row: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """A pair whose SASS has other registers, and whose kernels have other names on both sides."""
    count = len(row["cuda_device_by_arch"] or ())
    listings = [other_registers(each["sass"], chance) for each in row["cuda_device_by_arch"] or ()]
    made = [each["rdna3"] for each in row["lifted"] or ()]
    sides = other_names((*listings, *made, row["hip_device"] or ""), chance, _invented)
    listings, made = list(sides[:count]), list(sides[count:-1])
    return row | {
        "cuda_device_by_arch": [
            {**each, "sass": text}
            for each, text in zip(row["cuda_device_by_arch"] or (), listings, strict=True)
        ],
        "lifted": [
            {**each, "rdna3": text} for each, text in zip(row["lifted"] or (), made, strict=True)
        ],
        "hip_device": sides[-1],
    }


def _invented(chance: random.Random) -> str:
    words = chance.sample(_WORDS, chance.randint(1, 2))
    return chance.choice(("_", "")).join(words) + chance.choice(("", "", str(chance.randint(1, 9))))


def unpack(
    path: Path, folder: Path, leave_out: Sequence[str] = (), variants: int = 0
) -> Counter[str]:
    """Make a data set of what :func:`collect` wrote, on all cores, but for ``leave_out``.

    Each pair that is not held out and may fit the window comes in ``variants`` further wordings.
    """
    from cass_ray.dataset.parquet import PartWriter

    counts: Counter[str] = Counter()
    share = load(TrainSettings, CONFIG, {}).data.held_out
    worded = partial(_worded, leave_out=tuple(leave_out), variants=variants, held_out=share)
    with (
        pa.CompressedInputStream(str(path), "zstd") as stream,
        PartWriter(folder / "pairs", PAIR_SCHEMA) as writer,
        get_context("spawn").Pool() as pool,
    ):
        for rows in pool.imap(worded, TextIOWrapper(stream, encoding="utf-8"), chunksize=4):
            counts.update(row["origin"] for row in rows[:1])
            for row in rows:
                writer.write(row)
    return counts


def _worded(
    line: str, leave_out: Sequence[str], variants: int, held_out: float
) -> list[dict[str, Any]]:
    """A pair and its further wordings, ``line`` as :func:`collect` wrote it."""
    row = dict.fromkeys(PAIR_SCHEMA.names) | json.loads(line)
    if row["origin"] in leave_out:
        return []
    shortest = min((len(each["sass"]) for each in row["cuda_device_by_arch"] or ()), default=0)
    if shortest > LONG or is_held_out(row["id"], held_out):
        return [row]
    further = range(variants)
    learned = [row, *kernels_apart(row)]
    return learned + [
        in_other_words(each, random.Random(f"{row['id']} {place} {n}"))
        for place, each in enumerate(learned)
        for n in further
    ]


def kernels_apart(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each kernel of a pair as a module of its own, where kernels are all that its modules hold."""
    listings = {each["arch"]: _blocks(each["sass"]) for each in row["cuda_device_by_arch"] or ()}
    made = {each["arch"]: _compact_blocks(each["rdna3"]) for each in row["lifted"] or ()}
    compiled = _compact_blocks(row["hip_device"] or "")
    names = [name for name in compiled if name]
    sides = (*listings.values(), *made.values(), compiled)
    if len(names) < 2 or "*" in names or any(set(side) != set(compiled) for side in sides):
        return
    for name in names:
        yield row | {
            "cuda_device_by_arch": [
                {**each, "sass": _module(listings[each["arch"]], name)}
                for each in row["cuda_device_by_arch"] or ()
            ],
            "lifted": [
                {**each, "rdna3": expand(_module(made[each["arch"]], name))}
                for each in row["lifted"] or ()
            ],
            "hip_device": expand(_module(compiled, name)),
        }


def _blocks(text: str) -> dict[str, str]:
    """Parts of normalized SASS or of the compact form of RDNA3.

    What stands before the first has no name, device functions and data of RDNA3 have ``*``.
    """
    head, *rest = re.split(r"\n(?=(?:Kernel|Function) : |Data :)", text)
    found = {"": head}
    for block in rest:
        first = block.split("\n", 1)[0].split()
        alone = head.startswith(".target sm_") or first[0] == "Kernel"
        found[first[2] if alone else "*"] = block
    return found


def _compact_blocks(text: str) -> dict[str, str]:
    try:
        return _blocks(compact(text)) if text else {}
    except CompactError:
        return {}


def _module(blocks: dict[str, str], name: str) -> str:
    """The module of one kernel; labels are numbered as of the first."""
    return blocks[""] + "\n" + re.sub(r"\.LBB\d+_", ".LBB0_", blocks[name])


def run(folder: Path, out: Path, options: argparse.Namespace) -> None:
    """Train for about ``options.seconds``, then answer for ``options.asking`` more."""
    started = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    path = out / "run"
    counts: dict[str, Any] = {
        "pairs": unpack(folder / PAIRS, out / "data", options.without, options.variants)
    }
    given = parse_overrides(options.set)
    given |= {"out": path, "data": given.get("data", {}) | {"pairs": [out / "data"]}}
    base = load(TrainSettings, CONFIG, given)
    counts |= make_tokens(base)
    print(f"{counts}; {time.perf_counter() - started:.0f} s", flush=True)
    result = train_until(base, started + options.seconds, started).figures() | {"data": counts}
    _write(out, result)
    result |= answer(path / "model", path, folder / QUESTIONS, out, options.asking)
    _write(out, result)


def _write(out: Path, result: dict[str, Any]) -> None:
    (out / "small.json").write_text(json.dumps(result, indent=1))
    shown = {key: value for key, value in result.items() if key != "settings"}
    print(json.dumps(shown), flush=True)


def answer(model: Path, run: Path, questions: Path, out: Path, seconds: float) -> dict[str, Any]:
    """Greedy answers to CASS-Bench, an architecture a file, the shortest questions first."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from cass_ray.llm.batch_decode import BatchDecoder

    until = time.perf_counter() + seconds
    tokenizer = AutoTokenizer.from_pretrained(model)
    loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.bfloat16).cuda().eval()
    result, _ = exact_answers(run, loaded)
    print(result, flush=True)
    style, limit = prompt_format("compact"), loaded.config.max_position_embeddings
    asked: list[tuple[int, dict[str, str], list[int]]] = []
    for row in json.loads(questions.read_text()):
        ids = encode_prompt(tokenizer, style.messages(TASK, row["sass"]))
        asked.append((len(ids), row, ids))
    asked.sort(key=lambda each: each[0])
    decoder, counts = BatchDecoder(loaded), Counter[str]()
    records: dict[str, list[dict[str, Any]]] = {name: [] for name in ARCHITECTURES}
    fitting = [each for each in asked if each[0] < limit // 2]
    counts["too long to be asked"] = len(asked) - len(fitting)
    for first in range(0, len(fitting), ROWS):
        batch, left = fitting[first : first + ROWS], until - time.perf_counter()
        if left < 5:
            counts["not asked"] += len(fitting) - first
            break
        most = [min(limit - length, 3 * length + 400) for length, _, _ in batch]
        prompts = [ids for _, _, ids in batch]
        end = tokenizer.eos_token_id
        for (_, row, _), said in zip(
            batch, decoder(prompts, most, [0.0] * len(prompts), end, seconds=left), strict=False
        ):
            record = read_answer(tokenizer.decode(said, skip_special_tokens=True), row)
            counts[record.get("problem", "usable")[:40]] += 1
            records[row["architecture"]].append(record)
    for name, rows in records.items():
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (out / f"answers-{name}.jsonl").write_text(lines)
    return result | {"answers": counts}


def read_answer(text: str, question: dict[str, str]) -> dict[str, Any]:
    """A line for ``cass bench run --system answers:FILE``."""
    from cass_ray.llm.code_blocks import extract

    record: dict[str, Any] = {"task": question["task"]}
    style = prompt_format("compact")
    found = extract(text, (style.wording(TASK).answer_fence,))
    if found is None:
        return record | {"problem": "no fenced code"}
    if not found.closed:
        return record | {"problem": "the answer was cut"}
    try:
        return record | {"files": {question["file"]: style.code(TASK, found.code)}}
    except ValueError as error:
        return record | {"problem": f"no usable answer: {error}"}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    lists = commands.add_parser("commands")
    lists.add_argument("sources", type=Path)
    lists.add_argument("--out", type=Path, required=True)
    collecting = commands.add_parser("collect")
    collecting.add_argument("folders", type=Path, nargs="+")
    collecting.add_argument("--out", type=Path, required=True)
    train = commands.add_parser("run")
    train.add_argument("folder", type=Path)
    train.add_argument("--out", type=Path, required=True)
    train.add_argument("--seconds", type=float, default=600)
    train.add_argument("--asking", type=float, default=200, help="seconds for CASS-Bench")
    train.add_argument("--without", action="append", default=[], metavar="ORIGIN")
    train.add_argument("--variants", type=int, default=8, help="further wordings of each pair")
    train.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    if options.command == "commands":
        print("\n".join(write_commands(options.sources, options.out)))
    elif options.command == "collect":
        collect(options.folders, options.out)
    else:
        run(options.folder, options.out, options)


if __name__ == "__main__":
    main()
