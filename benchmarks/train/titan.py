"""torchtitan itself beside ours: its own trainer, in a process of its own.

The shape is Qwen2.5-Coder's in torchtitan's Qwen3 (without norms of queries and keys; Qwen2's
biases are lacking, 0.01% of the weights), the data are random words of which each is a token, and
every token is predicted. On one GPU torchtitan holds weights and moments in fp32 and computes in
bf16 by autocast. The figures are those of its own log.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.train.gpu_measurements import PEAK
from benchmarks.train.shapes import SHAPES, WINDOW
from cass_ray.train.meters import Operations

WORDS = 1000
"""Words that the data has; the model's vocabulary is the published one."""
ROWS = 8
"""Rows in a step; each is a pass of its own, as everywhere on the page."""
WARM, MEASURED = 2, 3
"""Steps."""
_LINE = re.compile(r"step: +(\d+) .*memory: +([\d.]+)GiB.*tps: ([\d,]+) ")
_COLOR = re.compile("\x1b\\[[0-9;]*m")


def write_data(folder: Path) -> None:
    """Text of random words and a tokenizer of them, as torchtitan reads both."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    known = {f"w{number}": number for number in range(WORDS)} | {"[UNK]": WORDS, "</s>": WORDS + 1}
    tokenizer = Tokenizer(models.WordLevel(known, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(["</s>"])
    (folder / "model").mkdir(parents=True)
    tokenizer.save(str(folder / "model" / "tokenizer.json"))
    (folder / "model" / "tokenizer_config.json").write_text(json.dumps({"eos_token": "</s>"}))
    (folder / "text").mkdir()
    drawn = np.random.default_rng(0)
    with (folder / "text" / "train.jsonl").open("w") as stream:
        for _ in range(64):
            text = " ".join(f"w{number}" for number in drawn.integers(0, WORDS, WINDOW))
            stream.write(json.dumps({"text": text}) + "\n")


def arguments(shape: str, folder: Path, checkpointing: str) -> list[str]:
    """The command line of torchtitan, which keeps its defaults but for what is named here."""
    return [
        "--job.dump_folder", str(folder / "out"),
        "--experimental.custom_import", "benchmarks.train.titan_shapes",
        "--model.name", "qwen3", "--model.flavor", shape,
        "--model.hf_assets_path", str(folder / "model"),
        "--training.dataset", "c4_test", "--training.dataset_path", str(folder / "text"),
        "--training.seq_len", str(WINDOW),
        "--training.local_batch_size", "1", "--training.global_batch_size", str(ROWS),
        "--training.steps", str(WARM + MEASURED),
        "--metrics.log_freq", "1",
        "--activation_checkpoint.mode", checkpointing,
        "--compile.enable",
    ]  # fmt: skip


def read_log(text: str) -> list[tuple[int, float, float]]:
    """(step, GiB that its allocator reserved, tokens a second) of each line of a step."""
    found = _LINE.finditer(_COLOR.sub("", text))
    return [(int(m[1]), float(m[2]), float(m[3].replace(",", ""))) for m in found]


def run_titan(shape: str, checkpointing: str) -> dict[str, Any]:
    """Throughput by torchtitan's log, the mean of the measured steps."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder)
        environment = {
            **os.environ, "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1",
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(20_000 + os.getpid() % 10_000),
            "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache"),
        }  # fmt: skip
        command = [sys.executable, "-m", "torchtitan.train"]
        done = subprocess.run(
            [*command, *arguments(shape, folder, checkpointing)],
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
    steps = read_log(done.stdout + done.stderr)[WARM:]
    if done.returncode or not steps:
        raise RuntimeError(f"torchtitan ended with {done.returncode}: {done.stderr[-3000:]}")
    return figures(shape, steps)


def figures(shape: str, steps: Sequence[tuple[int, float, float]]) -> dict[str, Any]:
    """The columns of a row, operations counted as for every other row."""
    sizes = SHAPES[shape]
    hidden, heads = sizes["hidden_size"], sizes["num_attention_heads"]
    layers, shared = sizes["num_hidden_layers"], sizes["num_key_value_heads"] / heads
    layer = hidden * (2 * hidden * (1 + shared) + 3 * sizes["intermediate_size"])
    operations = Operations(int(layers * layer), sizes["vocab_size"] * hidden, layers * hidden)
    seconds = sum(ROWS * WINDOW / rate for _, _, rate in steps)
    rate = len(steps) * ROWS * WINDOW / seconds
    return {
        "shape": shape,
        "tokens_per_second": rate,
        "mfu": operations((WINDOW,), WINDOW) / WINDOW * rate / PEAK,
        "peak_gib": max(reserved for _, reserved, _ in steps),
    }
