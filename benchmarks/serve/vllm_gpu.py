"""vLLM on one GPU: requests at once, each with a prompt of its own.

    python -m benchmarks.serve.vllm_gpu --out OUT [--shape 1.5b] [--concurrency 1 8 32]

Weights are random, prompts are random tokens with no prefix in common, every answer has the same
number of tokens, chosen greedily. The engine is vLLM's own with its defaults.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.serve.random_weights import qwen2_config
from benchmarks.serve.shapes import SHAPES, VOCABULARY

POSITIONS = 32_768


def write_config(folder: Path, shape: str) -> None:
    """A model of ``shape`` without weights."""
    config = qwen2_config(shape, POSITIONS)
    config.architectures = ["Qwen2ForCausalLM"]
    config.dtype = "bfloat16"
    config.save_pretrained(folder)


def main() -> None:
    """Measure each number of requests at once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--shape", choices=list(SHAPES), default="1.5b")
    parser.add_argument("--prompt", type=int, default=16_384)
    parser.add_argument("--new", type=int, default=512)
    parser.add_argument("--concurrency", nargs="+", type=int, default=[1, 8, 32])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_NO_USAGE_STATS": "1"}
    import numpy as np
    import vllm

    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        write_config(Path(folder), options.shape)
        engine = vllm.LLM(
            model=folder,
            load_format="dummy",
            skip_tokenizer_init=True,
            dtype="bfloat16",
            max_model_len=options.prompt + options.new,
        )
    ready = round(time.perf_counter() - started, 1)
    drawn = np.random.default_rng(0)
    chosen = vllm.SamplingParams(
        temperature=0, max_tokens=options.new, ignore_eos=True, detokenize=False
    )

    def together(count: int, length: int) -> float:
        ids = drawn.integers(10, VOCABULARY - 10, (count, length))
        asked: Any = [{"prompt_token_ids": row.tolist()} for row in ids]
        begun = time.perf_counter()
        answers = engine.generate(asked, chosen, use_tqdm=False)
        assert all(len(answer.outputs[0].token_ids) == options.new for answer in answers)
        return time.perf_counter() - begun

    together(1, 256)
    with (options.out / "vllm_gpu.jsonl").open("a") as results:
        for count in options.concurrency:
            wall = together(count, options.prompt)
            line = json.dumps(
                {
                    "shape": options.shape, "way": "vllm", "version": vllm.__version__,
                    "concurrency": count, "prompt": options.prompt, "new": options.new,
                    "ready_s": ready, "wall_s": round(wall, 2),
                    "tokens_per_second": round(count * options.new / wall, 1),
                }
            )  # fmt: skip
            print(line, flush=True)
            results.write(line + "\n")
            results.flush()


if __name__ == "__main__":
    main()
