"""A model of about 100M parameters from random weights: what it learns within minutes on one GPU.

    P="python -m recipes.small.from_scratch"
    $P pairs --kind long --out LONG; $P pairs --kind short --out SHORT
    $P data --shipped out/demo --generated LONG SHORT --out DIR
    $P run DIR --out OUT --seconds 430

``pairs`` makes pairs of generated programs, translated by the rule engine; ``data`` adds to them
the built pairs named by ``--shipped`` and copies of those under invented names, in one archive.
``run`` makes tokens of them, trains on a machine with a GPU and lets the model translate held-out
programs and the tasks of CASS-Bench: ``small.json`` says how many it got right to the letter,
``bench.jsonl`` are its answers for ``cass bench --system answers:bench.jsonl``; ``plot`` draws the
loss.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from io import TextIOWrapper
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa

from cass_ray.config import load
from cass_ray.llm.chat_format import encode_prompt
from cass_ray.llm.prompts import prompt_format
from cass_ray.task import Direction, Level, Task
from cass_ray.train.data.augment import respell
from cass_ray.train.data.examples import is_held_out
from cass_ray.train.settings import TrainSettings

CONFIG = Path(__file__).parents[2] / "jobs/configs/train_small_from_scratch.yaml"
TASK = Task(Level.SOURCE, Direction.CUDA_TO_HIP)
PAIRS = "pairs.jsonl.zst"
CONTROLS = 8
"""Held-out programs asked beside CASS-Bench: whether generation in a batch does what it should."""
BENCH_TASKS = 128
"""Tasks of CASS-Bench that are asked: as many as one batch answers in the time there is."""

LENGTHS = {"up to 1,000": 1000, "1,001 to 2,000": 2000, "over 2,000": 10**9}
"""Tokens of an answer, for counts by length."""


# --- Data: on a machine without a GPU -----------------------------------------------------------


SHORT = {
    "kernels": (1, 1),
    "statements": (1, 4),
    "depth": 2,
    "nesting": 1,
    "device_functions": 0.3,
    "constant_memory": 0.2,
}
"""GeneratorOptions of programs about a third as long as the generator's own choice."""


def make_row(name: str, origin: str, cuda: str, hip: str) -> dict[str, Any]:
    """A row of ``PAIR_SCHEMA``; nothing was compiled or run."""
    from cass_ray.dataset.schema import PAIR_SCHEMA

    return dict.fromkeys(PAIR_SCHEMA.names) | {
        "id": hashlib.sha256(cuda.encode()).hexdigest(),
        "filename": f"{name}.cu",
        "origin": origin,
        "cuda_source": cuda,
        "hip_source": hip,
        "verified": "none",
    }


def generated_rows(count: int, seed: int, knobs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Pairs of generated programs; those the rule engine finds errors in are left out."""
    from cass_ray.corpus.generate.options import GeneratorOptions
    from cass_ray.corpus.generate.program import generate
    from cass_ray.translate.rules import RulesTranslator

    rules = RulesTranslator()
    for program in generate(count, seed, GeneratorOptions.model_validate(knobs)):
        translation = rules.translate(program.source)
        if not translation.errors:
            yield make_row(program.name, "synthetic", program.source, translation.source)


def _sides(row: dict[str, Any]) -> tuple[list[str], list[str]]:
    return row["cuda_source"].split("\n"), row["hip_source"].split("\n")


def respelled_rows(
    rows: Iterable[dict[str, Any]], times: int, held_out: float
) -> Iterator[dict[str, Any]]:
    """``times`` copies of each pair under invented names; held-out programs give none."""
    for row in rows:
        if is_held_out(row["id"], held_out):
            continue
        for number in range(times):
            chance = random.Random(f"{row['id']} {number}")
            made = make_row(
                f"respelled_{row['id'][:8]}_{number}",
                "synthetic",
                *("\n".join(side) for side in respell(*_sides(row), chance)),
            )
            if not is_held_out(made["id"], held_out):
                yield made


def make_pairs(kind: str, programs: int, folder: Path) -> None:
    """Write generated pairs of ``kind`` (``long`` or ``short``) as a data set."""
    from cass_ray.dataset.parquet import PartWriter
    from cass_ray.dataset.schema import PAIR_SCHEMA

    started = time.perf_counter()
    knobs, seed = ({}, 0) if kind == "long" else (SHORT, 1)
    with PartWriter(folder / "pairs", PAIR_SCHEMA) as writer:
        for row in generated_rows(programs, seed, knobs):
            writer.write(row)
    seconds = time.perf_counter() - started
    print(f"{writer.rows} {kind} pairs generated in {seconds:.0f} s", flush=True)


def make_data(shipped: list[Path], generated: list[Path], respelled: int, out: Path) -> None:
    """Write ``out/pairs.jsonl.zst``, copies of shipped pairs included, and ``out/bench.json``.

    A program and its translation lie side by side there, so that one of them takes hardly any room.
    """
    from cass_ray.train.data.prepare import pair_files, read_pairs

    share = load(TrainSettings, CONFIG, {}).data.held_out
    files = pair_files(shipped)
    made = respelled_rows(read_pairs(files), respelled, share)
    out.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    with pa.CompressedOutputStream(str(out / PAIRS), "zstd") as stream:
        for kind, rows in (
            ("shipped", read_pairs(files)),
            ("respelled", made),
            ("generated", read_pairs(pair_files(generated))),
        ):
            for row in rows:
                kept = {name: row[name] for name in ("id", "verified", "cuda_source", "hip_source")}
                stream.write(json.dumps(kept).encode() + b"\n")
                counts[kind] += 1
    print(dict(counts), flush=True)
    (out / "counts.json").write_text(json.dumps(counts))
    (out / "bench.json").write_text(json.dumps(bench_questions()))


def unpack_pairs(path: Path, folder: Path) -> None:
    """Make a data set of what :func:`make_data` wrote."""
    from cass_ray.dataset.parquet import PartWriter
    from cass_ray.dataset.schema import PAIR_SCHEMA

    with (
        pa.CompressedInputStream(str(path), "zstd") as stream,
        PartWriter(folder / "pairs", PAIR_SCHEMA) as writer,
    ):
        for line in TextIOWrapper(stream, encoding="utf-8"):
            writer.write(dict.fromkeys(PAIR_SCHEMA.names) | json.loads(line))


def bench_questions() -> list[dict[str, str]]:
    """The single-file tasks of CASS-Bench: name, file and CUDA source; the same of HIP."""
    from cass_ray.bench.evaluate import make_compilers
    from cass_ray.bench.programs import ask
    from cass_ray.bench.question import QuestionKind
    from cass_ray.bench.task import load_tasks

    compilers, found = make_compilers(), []
    for task in load_tasks():
        question = ask(task, QuestionKind(), compilers)
        if len(question.asked) == 1:
            path = question.asked[0]
            back = ask(task, QuestionKind(direction=Direction.HIP_TO_CUDA), compilers)
            found.append(
                {
                    "task": task.name,
                    "file": path,
                    "cuda": question.files[path],
                    "hip_file": back.main,
                    "hip": back.files[back.main],
                }
            )
    return found


# --- The run: on a machine with a GPU -----------------------------------------------------------


def make_tokens(settings: TrainSettings) -> dict[str, Any]:
    """Tokenizer and tokens of the run, on all cores; the counts."""
    from cass_ray.train.data.prepare import make_tokenizer, pair_files, read_pairs, store_examples
    from cass_ray.train.run_files import RunFiles

    files = pair_files(settings.data.pairs)
    make_tokenizer(settings, files).save_pretrained(RunFiles(settings.out).tokenizer)
    with ProcessPoolExecutor(
        mp_context=get_context("spawn"), initializer=_load_maker, initargs=(settings,)
    ) as pool:
        made = pool.map(_examples, read_pairs(files), chunksize=64)
        return store_examples(settings, files, (row for rows in made for row in rows))


_maker: Any = None
"""Of a process that makes tokens."""


def _load_maker(settings: TrainSettings) -> None:
    global _maker
    from cass_ray.llm.pretrained import load_tokenizer
    from cass_ray.train.data.examples import ExampleGenerator
    from cass_ray.train.run_files import RunFiles

    tokenizer = load_tokenizer(str(RunFiles(settings.out).tokenizer))
    _maker = ExampleGenerator(settings.data, tokenizer)


def _examples(pair: dict[str, Any]) -> list[dict[str, Any]]:
    return list(_maker.examples(pair))


def exact_answers(run: Path, model: Any) -> tuple[dict[str, Any], list[Any]]:
    """Held-out programs whose whole answer greedy decoding gives, and tokens predicted right.

    Where every answer token is the most likely one after the right ones before it, greedy decoding
    writes the answer to the letter; so one forward pass an example tells. Returns the counts, and
    the shortest examples that were right.
    """
    import torch

    from cass_ray.train.data.token_store import TokenStore

    store = TokenStore(run / "tokens" / "held_out.arrow")
    right = tokens = 0
    known: list[Any] = []
    by_length = {name: [0, 0] for name in LENGTHS}
    for number in range(len(store)):
        example = store[number]
        ids = torch.from_numpy(example.tokens.astype("int64"))[None].cuda()
        with torch.inference_mode():
            best = model(input_ids=ids).logits[0, example.answer_start - 1 : -1].argmax(-1)
        hits = best == ids[0, example.answer_start :]
        right, tokens = right + int(hits.sum()), tokens + len(hits)
        size = next(name for name, most in LENGTHS.items() if len(hits) <= most)
        by_length[size][1] += 1
        if bool(hits.all()):
            by_length[size][0] += 1
            known.append(example)
    counts = {
        "held_out_programs": len(store),
        "held_out_exact": len(known),
        "held_out_token_accuracy": right / tokens,
        "held_out_exact_by_answer_tokens": by_length,
    }
    return counts, sorted(known, key=lambda example: len(example.tokens))[:CONTROLS]


def answer_bench(
    questions: Path, controls: list[Any], model: Any, tokenizer: Any, out: Path, seconds: float
) -> dict[str, int]:
    """Greedy answers to the shortest tasks of CASS-Bench, in one batch.

    ``controls`` are held-out examples that the model knows; they are asked in the same batch, and
    must come out to the letter as far as they were written.
    """
    import torch

    from cass_ray.llm.code_blocks import extract

    style = prompt_format("ours")
    bench = json.loads(questions.read_text())
    asked = [encode_prompt(tokenizer, style.messages(TASK, row["cuda"])) for row in bench]
    chosen = sorted(range(len(bench)), key=lambda number: len(asked[number]))[:BENCH_TASKS]
    prompts = [asked[number] for number in chosen]
    prompts += [example.tokens[: example.answer_start].tolist() for example in controls]
    batch = tokenizer.pad({"input_ids": prompts}, return_tensors="pt").to("cuda")
    longest = batch["input_ids"].shape[1]
    with torch.inference_mode():
        produced = model.generate(
            **batch,
            max_new_tokens=min(longest + longest // 5, 8192 - longest),
            do_sample=False,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            max_time=seconds,
        )[:, longest:].tolist()
    with (out / "bench.jsonl").open("w") as stream:
        for number, row in zip(chosen, produced, strict=False):
            found = extract(tokenizer.decode(row, skip_special_tokens=True), ("hip",))
            task = bench[number]
            record: dict[str, Any] = {"task": task["task"], "problem": "no fenced code"}
            if found is not None:
                record = {"task": task["task"], "files": {task["file"]: found.code}}
            stream.write(json.dumps(record) + "\n")
    right = 0
    for example, row in zip(controls, produced[len(chosen) :], strict=True):
        answer = example.tokens[example.answer_start :].tolist()
        size = min(len(answer), len(row))
        right += row[:size] == answer[:size]
    return {"bench_asked": len(chosen), "controls": len(controls), "controls_right": right}


def evaluate(run: Path, questions: Path, out: Path, seconds: float) -> dict[str, Any]:
    """Measures on held-out programs and answers to CASS-Bench."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = run / "model"
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).cuda().eval()
    result, known = exact_answers(run, model)
    print(result, flush=True)
    return result | answer_bench(questions, known, model, tokenizer, out, seconds)


@dataclass(frozen=True)
class Trained:
    """What a run gave: settings with the number of its steps, summary, and metrics of each step."""

    settings: TrainSettings
    summary: Any
    numbers: list[dict[str, float]]

    def figures(self) -> dict[str, Any]:
        """For the report of a run: what was trained, how, and how fast."""
        import torch

        numbers, summary = self.numbers, self.summary
        model = Path(self.settings.out) / "model"
        return {
            "gpu": torch.cuda.get_device_name(0),
            "parameters": sum(p.numel() for p in _parameters(model)),
            "settings": self.settings.model_dump(mode="json", exclude={"out"}),
            "summary": vars(summary) | {"model": "model"},
            "tokens_per_second": summary.tokens / sum(row["seconds"] for row in numbers),
            "mfu": sorted(row.get("mfu", 0.0) for row in numbers)[len(numbers) // 2],
        }


def train_until(base: TrainSettings, end: float, started: float) -> Trained:
    """Train as many steps as end about ``end`` (of ``time.perf_counter``), measured by a trial."""
    import torch

    from cass_ray.train.distributed import DistributedContext
    from cass_ray.train.trainer import Trainer

    distributed = DistributedContext(0, 1, torch.device("cuda"))

    def hear(step: int, values: dict[str, float]) -> None:
        numbers.append(values)
        if step % 25 == 0:
            print(f"{time.perf_counter() - started:.0f} s after the start", flush=True)

    numbers: list[dict[str, float]] = []
    trial = base.model_copy(
        update={
            "steps": 16,
            "checkpoints": base.checkpoints.model_copy(
                update={"url": str(Path(base.out).parent / "trial")}
            ),
        }
    )
    Trainer(trial, distributed, on_step=hear, say=print).run()
    step_seconds = sorted(row["seconds"] for row in numbers[8:])[4]
    steps = max(50, int(0.95 * (end - time.perf_counter()) / step_seconds))
    print(f"{step_seconds:.3f} s a step: {steps} steps", flush=True)
    every = max(steps // 12, 1)
    evaluation = base.evaluation.model_copy(update={"every": every})
    settings = base.model_copy(update={"steps": steps, "evaluation": evaluation})
    numbers.clear()
    return Trained(settings, Trainer(settings, distributed, on_step=hear, say=print).run(), numbers)


def run(folder: Path, out: Path, seconds: float, asking: float) -> None:
    """Train for about ``seconds`` and measure; ``asking`` seconds more go to CASS-Bench."""
    started = time.perf_counter()
    target = out.parent / "small-from-scratch"
    path = target / "run"
    unpack_pairs(folder / PAIRS, target / "pairs")
    base = load(TrainSettings, CONFIG, {"out": path, "data": {"pairs": [target / "pairs"]}})
    counts = make_tokens(base) | {"pairs": json.loads((folder / "counts.json").read_text())}
    print(f"{counts}; {time.perf_counter() - started:.0f} s", flush=True)
    result = train_until(base, started + seconds, started).figures() | {"data": counts}
    (out / "metrics.jsonl").write_text((path / "metrics.jsonl").read_text())
    (out / "small.json").write_text(json.dumps(result, indent=1))
    result |= evaluate(path, folder / "bench.json", out, asking)
    (out / "small.json").write_text(json.dumps(result, indent=1))
    print(json.dumps({key: value for key, value in result.items() if key != "settings"}))


def _parameters(folder: Path) -> Iterator[Any]:
    from safetensors import safe_open

    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as weights:
            for name in weights.keys():  # noqa: SIM118 - not a mapping
                yield weights.get_tensor(name)


def plot(metrics: Path, image: Path) -> None:
    """Loss and held-out loss against tokens, as SVG or PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from cass_ray.train.curves import read_metrics

    rows = read_metrics(metrics)
    seen, total = [], 0.0
    for row in rows:
        total += row["tokens"]
        seen.append(total / 1e6)
    figure, axes = plt.subplots(figsize=(7, 4))
    axes.plot(seen, [row["loss"] for row in rows], label="training", linewidth=0.8)
    held_out = [
        (x, row["held_out_loss"])
        for x, row in zip(seen, rows, strict=True)
        if "held_out_loss" in row
    ]
    axes.plot(*zip(*held_out, strict=True), "o-", label="held-out programs", markersize=3)
    axes.set(xlabel="million tokens", ylabel="cross entropy of answer tokens", yscale="log")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(image)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    pairs = commands.add_parser("pairs")
    pairs.add_argument("--kind", choices=["long", "short"], required=True)
    pairs.add_argument("--programs", type=int, default=4000)
    pairs.add_argument("--out", type=Path, required=True)
    data = commands.add_parser("data")
    data.add_argument("--shipped", type=Path, nargs="+", required=True)
    data.add_argument("--generated", type=Path, nargs="+", required=True)
    data.add_argument("--respelled", type=int, default=40, help="Copies of a shipped program.")
    data.add_argument("--out", type=Path, required=True)
    train = commands.add_parser("run")
    train.add_argument("folder", type=Path)
    train.add_argument("--out", type=Path, required=True)
    train.add_argument("--seconds", type=float, default=100)
    train.add_argument("--asking", type=float, default=100, help="Seconds for CASS-Bench.")
    picture = commands.add_parser("plot")
    picture.add_argument("metrics", type=Path)
    picture.add_argument("image", type=Path)
    options = parser.parse_args()
    if options.command == "pairs":
        make_pairs(options.kind, options.programs, options.out)
    elif options.command == "data":
        make_data(options.shipped, options.generated, options.respelled, options.out)
    elif options.command == "run":
        run(options.folder, options.out, options.seconds, options.asking)
    else:
        plot(options.metrics, options.image)


if __name__ == "__main__":
    main()
