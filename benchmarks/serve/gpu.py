"""Generation on one GPU: continuous batching against plain ``model.generate``, in the same run.

    python benchmarks/serve/gpu.py --out OUT            both sizes, about three minutes
    python benchmarks/serve/gpu.py --out OUT --shapes 1.5b --new 1024

Needs torch and transformers alone, so that it runs on a bare GPU machine; the manager is set up as
:mod:`serve.generation` does. Shapes are Qwen2.5's, weights are random: speed does not depend on
them, and no answer ends early. A point is ``concurrency`` requests at once; plain generation is one
request after another. Results are one JSON line a point in ``OUT/serve_gpu.jsonl``.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import threading
import time
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, GenerationConfig, Qwen2Config

try:
    from transformers.generation.configuration_utils import ContinuousBatchingConfig
except ImportError:  # before 5.3
    ContinuousBatchingConfig = None

SHAPES: dict[str, dict[str, int]] = {
    "1.5b": {"hidden": 1536, "layers": 28, "heads": 12, "kv": 2, "intermediate": 8960},
    "7b": {"hidden": 3584, "layers": 28, "heads": 28, "kv": 4, "intermediate": 18944},
}
VOCABULARY = 152_064
PROMPT = 4096
LONG_PROMPT = 16_384
CONCURRENCY = (1, 8, 32, 64)


def main() -> None:
    """Measure every shape within the time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--prompt", type=int, default=PROMPT)
    parser.add_argument("--new", type=int, default=256)
    parser.add_argument("--long-new", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=200.0, help="begin no point after it")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    with (options.out / "serve_gpu.jsonl").open("a") as results:

        def write(**fields: Any) -> None:
            line = json.dumps(fields)
            print(line, flush=True)
            results.write(line + "\n")
            results.flush()

        write(
            device=torch.cuda.get_device_name(),
            torch=torch.__version__,
            transformers=transformers.__version__,
        )
        share = options.seconds / len(options.shapes)
        for number, name in enumerate(options.shapes):
            measure(name, options, write, begun + share * (number + 1))
            gc.collect()
            torch.cuda.empty_cache()


def measure(name: str, options: argparse.Namespace, write: Any, deadline: float) -> None:
    """All points of one shape, the most telling first."""
    model = make_model(name)
    point = {"shape": name, "prompt": options.prompt, "new": options.new}
    write(**point, way="plain", concurrency=1, **plain(model, options.prompt, options.new, 2))
    for concurrency in sorted(CONCURRENCY, key=lambda each: (each != 32, each)):
        if time.monotonic() > deadline:
            write(**point, way="batched", concurrency=concurrency, skipped="out of time")
            continue
        found = batched(model, options.prompt, options.new, concurrency)
        write(**point, way="batched", concurrency=concurrency, **found)
    if time.monotonic() < deadline:
        found = batched(model, LONG_PROMPT, options.long_new, 1)
        write(shape=name, prompt=LONG_PROMPT, new=options.long_new, way="batched", **found)


def make_model(name: str) -> Any:
    """Random weights of a shape, in bfloat16 on the GPU."""
    shape = SHAPES[name]
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=shape["hidden"],
        num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"],
        num_key_value_heads=shape["kv"],
        intermediate_size=shape["intermediate"],
        max_position_embeddings=2 * LONG_PROMPT,
        tie_word_embeddings=name == "1.5b",
    )
    torch.manual_seed(0)
    with torch.device("cuda"):
        made = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    return made.eval()


def prompts(count: int, length: int) -> list[list[int]]:
    """Random questions; no two share a prefix."""
    generator = torch.Generator().manual_seed(count)
    return torch.randint(10, VOCABULARY - 10, (count, length), generator=generator).tolist()


def plain(model: Any, length: int, new: int, count: int) -> dict[str, float]:
    """One by one with ``model.generate``."""
    questions = prompts(count, length)
    warm_up = torch.tensor([questions[0][:256]], device="cuda")
    run = {"do_sample": False, "pad_token_id": 0, "eos_token_id": None}
    with torch.inference_mode():
        model.generate(warm_up, max_new_tokens=8, **run)
        latencies = []
        for question in questions:
            ids = torch.tensor([question], device="cuda")
            torch.cuda.synchronize()
            started = time.perf_counter()
            model.generate(ids, max_new_tokens=new, min_new_tokens=new, **run)
            torch.cuda.synchronize()
            latencies.append(time.perf_counter() - started)
    return figures(latencies, sum(latencies), new)


def batched(model: Any, length: int, new: int, concurrency: int) -> dict[str, float]:
    """``concurrency`` requests at once through the manager."""
    manager = make_manager(model, new)
    manager.start()
    try:
        run_all(manager, prompts(1, 256), 8)
        started = time.perf_counter()
        latencies = run_all(manager, prompts(concurrency, length), new)
        wall = time.perf_counter() - started
    finally:
        manager.stop(block=True)
        if hasattr(manager, "destroy"):
            manager.destroy()
        gc.collect()
        torch.cuda.empty_cache()
    return figures(latencies, wall, new)


def make_manager(model: Any, new: int) -> Any:
    """As :mod:`serve.generation` makes it, greedy."""
    config = GenerationConfig(do_sample=False, max_new_tokens=new, eos_token_id=-1, pad_token_id=0)
    if ContinuousBatchingConfig is None:
        return model.init_continuous_batching(generation_config=config)
    batching = ContinuousBatchingConfig(max_memory_percent=0.7)
    return model.init_continuous_batching(
        generation_config=config, continuous_batching_config=batching
    )


def run_all(manager: Any, questions: list[list[int]], new: int) -> list[float]:
    """Seconds from the start to the end of each."""
    started = time.perf_counter()
    names = [
        manager.add_request(question, f"{id(questions)}-{number}", max_new_tokens=new)
        for number, question in enumerate(questions)
    ]
    waiting, latencies = set(names), []
    alarm = threading.Timer(180, manager.stop)
    alarm.start()
    for output in manager:
        if output.request_id in waiting and output.is_finished():
            if output.error:
                raise RuntimeError(output.error)
            waiting.discard(output.request_id)
            latencies.append(time.perf_counter() - started)
        if not waiting:
            break
    alarm.cancel()
    if waiting:
        raise RuntimeError(f"{len(waiting)} requests did not end")
    return latencies


def figures(latencies: list[float], wall: float, new: int) -> dict[str, float]:
    """Throughput of new tokens, median time of a request."""
    return {
        "tokens_per_second": round(len(latencies) * new / wall, 1),
        "p50_s": round(statistics.median(latencies), 3),
        "wall_s": round(wall, 2),
    }


if __name__ == "__main__":
    main()
