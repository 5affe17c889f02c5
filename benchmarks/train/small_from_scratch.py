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


def translate(folder: Path, sources: list[str], longest: int, seconds: float) -> list[str]:
    """Greedy answers to ``sources``, 32 at a time, the shortest first; "" where time ran out."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).cuda().eval()
    style = prompt_format("ours")
    prompts = [encode_prompt(tokenizer, style.messages(TASK, source)) for source in sources]
    order = sorted(range(len(prompts)), key=lambda number: len(prompts[number]))
    answers = [""] * len(prompts)
    began = time.perf_counter()
    while order and time.perf_counter() - began < seconds:
        chunk, order = order[:32], order[32:]
        batch = tokenizer.pad(
            {"input_ids": [prompts[number] for number in chunk]}, return_tensors="pt"
        ).to("cuda")
        most = min(int(1.2 * max(len(prompts[number]) for number in chunk)) + 64, longest)
        with torch.inference_mode():
            out = model.generate(
                **batch,
                max_new_tokens=most,
                do_sample=False,
                eos_token_id=tokenizer.eos_token_id,
                pad_token_id=tokenizer.pad_token_id,
                stopping_criteria=[_OutOfTime(began + seconds)],
            )
        for number, row in zip(chunk, out[:, batch["input_ids"].shape[1] :], strict=True):
            answers[number] = tokenizer.decode(row, skip_special_tokens=True)
    return answers


class _OutOfTime:
    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    def __call__(self, ids: Any, scores: Any, **_: Any) -> Any:
        import torch

        late = time.perf_counter() > self._deadline
        return torch.full((ids.shape[0],), late, device=ids.device)


def evaluate(run: Path, out: Path, seconds: float) -> dict[str, Any]:
    """Exact translations of held-out programs; answers to CASS-Bench go to ``bench.jsonl``."""
    from cass_ray.answers import extract

    held_out = json.loads((run / "held_out.json").read_text())[:32]
    bench = json.loads((run / "bench.json").read_text())
    model = run / "model"
    answers = translate(model, [row["cuda"] for row in held_out], 6000, seconds / 2)
    exact = tried = 0
    for row, text in zip(held_out, answers, strict=True):
        found = extract(text, ("hip",))
        tried += bool(text)
        exact += found is not None and found.code == row["hip"]
    answers = translate(model, [row["cuda"] for row in bench], 6000, seconds / 2)
    with (out / "bench.jsonl").open("w") as stream:
        for row, text in zip(bench, answers, strict=True):
            found = extract(text, ("hip",))
            if found is not None:
                files = {row["file"]: found.code}
                record = {"task": row["task"], "files": files}
                stream.write(json.dumps(record) + "\n")
    return {"held_out_programs": tried, "held_out_exact": exact, "bench_asked": len(bench)}


def run(folder: Path, out: Path, seconds: float) -> None:
    """Train and measure."""
    import torch

    from cass_ray.train.curves import read_metrics
    from cass_ray.train.loop import Loop
    from cass_ray.train.world import World

    started = time.perf_counter()
    target = out.parent / "small-from-scratch"
    with tarfile.open(folder / "data.tar.gz") as archive:
        archive.extractall(target, filter="data")
    path = target / "run"
    settings = load(TrainSettings, CONFIG, {"out": path, "workers": {"number": 1}})
    settings = _for_seconds(settings, seconds)
    deadline = started + seconds

    def hear(step: int, values: dict[str, float]) -> None:
        if step % 20 == 0:
            print(
                f"{time.perf_counter() - started:.0f} s, step {step}: loss {values['loss']:.4f}, "
                f"{values['tokens_per_second_per_worker']:,.0f} tokens/s, "
                f"MFU {values.get('mfu', 0):.1%}, held out {values.get('held_out_loss')}",
                flush=True,
            )
        if time.perf_counter() > deadline + 15:
            raise TimeoutError(f"step {step} at {time.perf_counter() - started:.0f} s")

    device = torch.device("cuda")
    summary = Loop(settings, World(0, 1, device), on_step=hear, say=print).run()
    rows = read_metrics(path / "metrics.jsonl")
    (out / "metrics.jsonl").write_text((path / "metrics.jsonl").read_text())
    result: dict[str, Any] = {
        "gpu": torch.cuda.get_device_name(0),
        "settings": settings.model_dump(mode="json"),
        "summary": vars(summary) | {"model": "model"},
        "steps": len(rows),
    }
    (out / "small.json").write_text(json.dumps(result, indent=1))
    result |= evaluate(path, out, 45.0)
    (out / "small.json").write_text(json.dumps(result, indent=1))
    print(json.dumps({key: value for key, value in result.items() if key != "settings"}))


def _for_seconds(settings: TrainSettings, seconds: float) -> TrainSettings:
    """As many steps as the settings say; ``seconds`` scales the 100 s they are meant for."""
    steps = max(20, int((settings.steps or 600) * seconds / 100))
    return settings.model_copy(update={"steps": steps})


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
