"""Examples of the assembly level: which rows have one, and of which assembly."""

from __future__ import annotations

from typing import Any

from cass_ray.llm.prompts import OURS
from cass_ray.task import Direction, Level, Task
from cass_ray.train.data.examples import ExampleGenerator
from cass_ray.train.data.tokenizer import train_tokenizer
from cass_ray.train.settings import DataSettings
from tests.assembly import samples

TASK = Task(Level.ASSEMBLY, Direction.CUDA_TO_HIP)
SASS, RDNA3 = samples.read("kernels.sm_90.nvdisasm.sass"), samples.read("kernels.gfx1100.s")


def pair(**more: Any) -> dict[str, Any]:
    listing = {"arch": "sm_90", "sass": SASS}
    row = {"id": "0" * 64, "verified": "compiled", "cuda_source": "", "hip_source": ""}
    return row | {"cuda_device": SASS, "cuda_device_by_arch": [listing], "hip_device": RDNA3} | more


def settings(**more: Any) -> DataSettings:
    given = {"pairs": ["out"], "tasks": ["assembly"], "prompt": "ours", "window": 65536}
    return DataSettings.model_validate(given | more)


SIDE = {"arch": "sm_90", "stage": "translate", "reason": "untranslatable", "diagnostic": "x"}


def dropped_of(row: dict[str, Any], **changes: Any) -> list[str]:
    tokenizer = train_tokenizer([OURS.answer(TASK, RDNA3)], 1500)
    examples = ExampleGenerator(settings(**changes), tokenizer).examples(row)
    return [example["dropped"] for example in examples]


def test_a_lifted_side_is_no_answer_of_a_compiler() -> None:
    lifted = pair(level="assembly", lifted_side=SIDE, lifted=None, hip_source="", cuda_source="x")
    assert dropped_of(lifted) == ["lifted, and data.rdna3 is compiled"]
    assert dropped_of(lifted, rdna3="lifted") == [""]
    assert dropped_of(lifted, rdna3="lifted", architectures=["sm_90"]) == [""]
    assert dropped_of(pair(level="source", lifted_side=None)) == [""]
    assert dropped_of(pair()) == [""]


def test_a_row_without_a_port_is_no_example_of_sources() -> None:
    lifted = pair(level="assembly", lifted_side=SIDE, cuda_source="__global__ void f() {}")
    assert dropped_of(lifted, tasks=["source"]) == ["no source on both sides"]
