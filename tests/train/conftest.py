"""Small data sets of pairs, and settings of runs that take seconds on a CPU."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cass_ray.config import validate
from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.train.settings import TrainSettings

pytest.importorskip("torch", reason="training needs the extra `train`")

OPERATIONS = ("x + y", "x * y", "x - y", "fmaxf(x, y)", "fminf(x, y)", "x * x + y")


def cuda_program(number: int) -> str:
    """A vector kernel with its main; programs differ in operation, names and sizes."""
    operation = OPERATIONS[number % len(OPERATIONS)]
    threads = 32 * (1 + number % 8)
    repeats = "\n".join(f"    total += out[{index}];" for index in range(1 + number % 5))
    return f"""#include <cuda_runtime.h>
#include <cstdio>
__global__ void kernel{number}(const float *a, const float *b, float *out, int n) {{
    int i = blockIdx.x * {threads} + threadIdx.x;
    if (i < n) {{ float x = a[i], y = b[i]; out[i] = {operation}; }}
}}
int main() {{
    float *a, *b, *out, total = 0;
    cudaMallocManaged(&a, {number + 64} * sizeof(float));
    cudaMallocManaged(&b, {number + 64} * sizeof(float));
    cudaMallocManaged(&out, {number + 64} * sizeof(float));
    kernel{number}<<<1, {threads}>>>(a, b, out, {number + 64});
    cudaDeviceSynchronize();
{repeats}
    printf("%f\\n", total);
    cudaFree(a); cudaFree(b); cudaFree(out);
}}
"""


def pair(number: int, **changes: Any) -> dict[str, Any]:
    """A row of ``PAIR_SCHEMA``."""
    cuda = cuda_program(number)
    hip = cuda.replace("cuda_runtime.h", "hip/hip_runtime.h").replace("cuda", "hip")
    row: dict[str, Any] = dict.fromkeys(PAIR_SCHEMA.names)
    row |= {
        "id": hashlib.sha256(cuda.encode()).hexdigest(),
        "filename": f"program{number}.cu",
        "cuda_source": cuda,
        "hip_source": hip,
        "cuda_device": f".target sm_80\n\nFunction : kernel{number}\nMOV R1, c[0x0][0x28]\nEXIT\n",
        "hip_device": f"kernel{number}:\n\ts_load_b64 s[0:1], s[0:1], 0x0\n\ts_endpgm\n",
        "verified": "compiled",
        "kernels": [f"kernel{number}"],
    }
    return row | changes


def write_pairs(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """A data set with ``rows``."""
    (folder / "pairs").mkdir(parents=True)
    table = pa.Table.from_pylist(rows, schema=PAIR_SCHEMA)
    pq.write_table(table, folder / "pairs" / "part-00000.parquet")
    return folder


def tiny_settings(folder: Path, pairs: Path, **changes: Any) -> TrainSettings:
    """Settings of a run of a few steps; ``changes`` are dotted keys with ``__`` for the dot."""
    values: dict[str, Any] = {
        "name": "test",
        "out": folder / "run",
        "data": {"pairs": [pairs], "window": 768, "held_out": 0.15},
        "model": {
            "precision": "fp32",
            "fresh": {
                "vocab_size": 512,
                "hidden_size": 32,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "num_key_value_heads": 1,
                "intermediate_size": 64,
                "max_position_embeddings": 1024,
            },
        },
        "optimizer": {"learning_rate": 3e-3, "warmup_ratio": 0.1},
        "batch": {"global_batch_size": 4},
        "steps": 4,
        "workers": {"number": 1, "gpus": 0},
        "checkpoints": {"every": 2},
        "evaluation": {"every": 100, "max_windows": 2},
        "logging": {"tensorboard": False},
    }
    for key, value in changes.items():
        *path, last = key.split("__")
        target = values
        for part in path:
            target = target.setdefault(part, {})
        target[last] = value
    return validate(TrainSettings, values, "test")


@pytest.fixture(scope="session")
def pairs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty programs."""
    return write_pairs(tmp_path_factory.mktemp("pairs"), [pair(number) for number in range(40)])
