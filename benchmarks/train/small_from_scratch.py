"""A model of about 100M parameters from random weights: what it learns within minutes on one GPU.

    python -m benchmarks.train.small_from_scratch data --pairs out/demo --programs 4000 --out DIR
    python -m benchmarks.train.small_from_scratch run DIR --out OUT [--seconds 150]

``data`` makes pairs of generated programs (translated by the rule engine) beside the built pairs
named by ``--pairs``, and their tokens. ``run`` trains on a machine with a GPU, draws the loss, and
lets the model translate held-out programs and the tasks of CASS-Bench: ``held_out.json`` says how
many it got right to the letter, ``bench.jsonl`` are its answers for ``cass bench --system
answers:bench.jsonl``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cass_ray.prompts import Direction, Level, Task, prompt_format
from cass_ray.strict import load
from cass_ray.train.examples import encode_prompt, is_held_out
from cass_ray.train.settings import TrainSettings

CONFIG = Path(__file__).parents[2] / "jobs/configs/train_small_from_scratch.yaml"
TASK = Task(Level.SOURCE, Direction.CUDA_TO_HIP)
BENCH_TASKS = 128
"""Tasks of CASS-Bench that are asked: as many as one batch answers in the time there is."""


# --- Data: on a machine without a GPU -----------------------------------------------------------


def generated_rows(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Pairs of generated programs; those the rule engine finds errors in are left out."""
    from cass_ray.corpus.generate.knobs import Knobs
    from cass_ray.corpus.generate.program import generate
    from cass_ray.pairs import PAIR_SCHEMA
    from cass_ray.translate.rules import RulesTranslator

    rules = RulesTranslator()
    for program in generate(count, seed, Knobs()):
        translation = rules.translate(program.source)
        if translation.errors:
            continue
        yield dict.fromkeys(PAIR_SCHEMA.names) | {
            "id": hashlib.sha256(program.source.encode()).hexdigest(),
            "filename": f"{program.name}.cu",
            "origin": "synthetic",
            "cuda_source": program.source,
            "hip_source": translation.source,
            "verified": "none",
        }


def make_data(pairs: list[Path], programs: int, out: Path) -> None:
    """Write ``out/pairs``, ``out/run`` (tokens, tokenizer) and ``out/data.tar.gz`` of it."""
    from cass_ray.dataset import PartWriter
    from cass_ray.pairs import PAIR_SCHEMA
    from cass_ray.train.data import make_tokenizer, pair_files, read_pairs, store_examples
    from cass_ray.train.examples import ExampleMaker
    from cass_ray.train.files import RunFiles

    folder = out / "generated"
    started = time.perf_counter()
    with PartWriter(folder / "pairs", PAIR_SCHEMA) as writer:
        for row in generated_rows(programs, 0):
            writer.write(row)
    print(f"{writer.rows} pairs generated in {time.perf_counter() - started:.0f} s", flush=True)
    overrides = {"out": out / "run", "data": {"pairs": [folder, *pairs]}}
    settings = load(TrainSettings, CONFIG, overrides)
    files = pair_files(settings.data.pairs)
    tokenizer = make_tokenizer(settings, files)
    paths = RunFiles(settings.out)
    tokenizer.save_pretrained(paths.tokenizer)
    maker = ExampleMaker(settings.data, tokenizer)
    counts = store_examples(
        settings, files, (row for pair in read_pairs(files) for row in maker.examples(pair))
    )
    print(counts, flush=True)
    held_out = [
        {"id": row["id"], "cuda": row["cuda_source"], "hip": row["hip_source"]}
        for row in read_pairs(files)
        if is_held_out(row["id"], settings.data.held_out)
    ]
    (settings.out / "held_out.json").write_text(json.dumps(held_out[:64]))
    (settings.out / "bench.json").write_text(json.dumps(bench_questions()))
    with tarfile.open(out / "data.tar.gz", "w:gz") as archive:
        archive.add(settings.out, "run")


def bench_questions() -> list[dict[str, str]]:
    """The single-file tasks of CASS-Bench: name, file and CUDA source."""
    from cass_ray.bench.evaluate import make_compilers
    from cass_ray.bench.programs import ask
    from cass_ray.bench.question import Kind
    from cass_ray.bench.task import load_tasks

    compilers, found = make_compilers(), []
    for task in load_tasks():
        question = ask(task, Kind(), compilers)
        if len(question.asked) == 1:
            path = question.asked[0]
            found.append({"task": task.name, "file": path, "cuda": question.files[path]})
    return found


# --- The run: on a machine with a GPU -----------------------------------------------------------


def exact_answers(run: Path, model: Any) -> dict[str, float]:
    """Held-out programs whose whole answer greedy decoding gives, and tokens predicted right.

    Where every answer token is the most likely one after the right ones before it, greedy decoding
    writes the answer to the letter; so one forward pass an example tells.
    """
    import torch

    from cass_ray.train.store import TokenStore

    store = TokenStore(run / "tokens" / "held_out.arrow")
    exact = right = tokens = 0
    for number in range(len(store)):
        example = store[number]
        ids = torch.from_numpy(example.tokens.astype("int64"))[None].cuda()
        with torch.inference_mode():
            best = model(input_ids=ids).logits[0, example.answer_start - 1 : -1].argmax(-1)
        hits = best == ids[0, example.answer_start :]
        right, tokens = right + int(hits.sum()), tokens + len(hits)
        exact += bool(hits.all())
    return {
        "held_out_programs": len(store),
        "held_out_exact": exact,
        "held_out_token_accuracy": right / tokens,
    }


def answer_bench(run: Path, model: Any, tokenizer: Any, out: Path, seconds: float) -> int:
    """Greedy answers to the shortest tasks of CASS-Bench, in one batch; how many were asked."""
    import torch

    from cass_ray.answers import extract

    style = prompt_format("ours")
    bench = json.loads((run / "bench.json").read_text())
    prompts = [encode_prompt(tokenizer, style.messages(TASK, row["cuda"])) for row in bench]
    chosen = sorted(range(len(bench)), key=lambda number: len(prompts[number]))[:BENCH_TASKS]
    batch = tokenizer.pad({"input_ids": [prompts[n] for n in chosen]}, return_tensors="pt")
    batch = batch.to("cuda")
    longest = batch["input_ids"].shape[1]
    with torch.inference_mode():
        produced = model.generate(
            **batch,
            max_new_tokens=min(longest + longest // 5, 8192 - longest),
            do_sample=False,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            max_time=seconds,
        )
    with (out / "bench.jsonl").open("w") as stream:
        for number, row in zip(chosen, produced[:, longest:], strict=True):
            found = extract(tokenizer.decode(row, skip_special_tokens=True), ("hip",))
            task = bench[number]
            record: dict[str, Any] = {"task": task["task"], "problem": "no fenced code"}
            if found is not None:
                record = {"task": task["task"], "files": {task["file"]: found.code}}
            stream.write(json.dumps(record) + "\n")
    return len(chosen)


def evaluate(run: Path, out: Path, seconds: float) -> dict[str, Any]:
    """Measures on held-out programs and answers to CASS-Bench."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = run / "model"
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).cuda().eval()
    result: dict[str, Any] = exact_answers(run, model)
    print(result, flush=True)
    result["bench_asked"] = answer_bench(run, model, tokenizer, out, seconds)
    return result


def run(folder: Path, out: Path, seconds: float) -> None:
    """Train for about ``seconds`` and measure."""
    import torch

    from cass_ray.train.loop import Loop
    from cass_ray.train.world import World

    started = time.perf_counter()
    target = out.parent / "small-from-scratch"
    with tarfile.open(folder / "data.tar.gz") as archive:
        archive.extractall(target, filter="data")
    path = target / "run"
    world = World(0, 1, torch.device("cuda"))
    base = load(TrainSettings, CONFIG, {"out": path})

    def hear(step: int, values: dict[str, float]) -> None:
        numbers.append(values)
        if step % 25 == 0:
            print(f"{time.perf_counter() - started:.0f} s after the start", flush=True)

    numbers: list[dict[str, float]] = []
    trial = base.model_copy(
        update={
            "steps": 16,
            "checkpoints": base.checkpoints.model_copy(update={"url": str(target / "trial")}),
        }
    )
    Loop(trial, world, on_step=hear, say=print).run()
    step_seconds = sorted(row["seconds"] for row in numbers[8:])[4]
    left = started + seconds - time.perf_counter()
    steps = max(50, int(0.95 * left / step_seconds))
    print(f"{step_seconds:.3f} s a step: {steps} steps", flush=True)
    every = max(steps // 12, 1)
    evaluation = base.evaluation.model_copy(update={"every": every})
    settings = base.model_copy(update={"steps": steps, "evaluation": evaluation})
    numbers.clear()
    summary = Loop(settings, world, on_step=hear, say=print).run()
    (out / "metrics.jsonl").write_text((path / "metrics.jsonl").read_text())
    result: dict[str, Any] = {
        "gpu": torch.cuda.get_device_name(0),
        "parameters": sum(p.numel() for p in _parameters(path / "model")),
        "settings": settings.model_dump(mode="json", exclude={"out"}),
        "summary": vars(summary) | {"model": "model"},
        "data": json.loads((path / "tokens" / "data.json").read_text())["counts"],
        "tokens_per_second": summary.tokens / sum(row["seconds"] for row in numbers),
        "mfu": sorted(row.get("mfu", 0.0) for row in numbers)[len(numbers) // 2],
    }
    (out / "small.json").write_text(json.dumps(result, indent=1))
    result |= evaluate(path, out, 50.0)
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
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    data = commands.add_parser("data")
    data.add_argument("--pairs", type=Path, nargs="*", default=[])
    data.add_argument("--programs", type=int, default=4000)
    data.add_argument("--out", type=Path, required=True)
    train = commands.add_parser("run")
    train.add_argument("folder", type=Path)
    train.add_argument("--out", type=Path, required=True)
    train.add_argument("--seconds", type=float, default=100)
    picture = commands.add_parser("plot")
    picture.add_argument("metrics", type=Path)
    picture.add_argument("image", type=Path)
    options = parser.parse_args()
    if options.command == "data":
        make_data(options.pairs, options.programs, options.out)
    elif options.command == "run":
        run(options.folder, options.out, options.seconds)
    else:
        plot(options.metrics, options.image)


if __name__ == "__main__":
    main()
