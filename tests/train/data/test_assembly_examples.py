"""Examples of the assembly level: what a model of SASS and RDNA3 sees, and in how many tokens."""

from __future__ import annotations

from typing import Any

from cass_ray.assembly.compact import compact
from cass_ray.llm.prompts import COMPACT
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
    given = {"pairs": ["out"], "tasks": ["assembly"], "prompt": "compact", "window": 65536}
    return DataSettings.model_validate(given | more)


def test_an_assembly_tokenizer_has_whole_mnemonics_and_operands() -> None:
    text = "v_add_nc_u32_e32 v3, v1, v2\nLDG.E R7, desc[UR4][R2.64]\nv_mov_b64 v[0:1], s[12:13]\n"
    tokenizer = train_tokenizer([text] * 50, 1000, assembly=True)
    pieces = tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"])
    assert pieces[:4] == ["v_add_nc_u32_e32", "Ġv3", ",Ġv1", ",Ġv2"]
    assert {"LDG.E", "Ġv[0:1]", ",Ġs[12:13]"} <= set(pieces)
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_pieces_of_assembly_take_fewer_tokens_than_those_of_source() -> None:
    text = COMPACT.question(TASK, SASS) + COMPACT.answer(TASK, RDNA3)
    as_source, as_assembly = (
        len(train_tokenizer([text], 1500, assembly=assembly)(text)["input_ids"])
        for assembly in (False, True)
    )
    assert as_assembly < 0.8 * as_source


def test_an_example_holds_the_compact_form() -> None:
    tokenizer = train_tokenizer([COMPACT.answer(TASK, RDNA3)], 1500, assembly=True)
    (example,) = ExampleGenerator(settings(), tokenizer).examples(pair())
    answer = tokenizer.decode(example["tokens"][example["answer_start"] :])
    assert answer.startswith("```rdna3\n" + compact(RDNA3)[:300])
    assert ".reuse" in SASS
    assert ".reuse" not in tokenizer.decode(example["tokens"])


def test_what_has_no_compact_form_is_dropped_with_the_reason() -> None:
    tokenizer = train_tokenizer(["x"], 300, assembly=True)
    other = pair(hip_device=RDNA3.replace("\t\t.amdhsa_wavefront_size32 1\n", ""))
    (example,) = ExampleGenerator(settings(), tokenizer).examples(other)
    assert example["dropped"] == "assembly that has no compact form"


SIDE = {"arch": "sm_90", "stage": "translate", "reason": "untranslatable", "diagnostic": "x"}


def dropped_of(row: dict[str, Any], **changes: Any) -> list[str]:
    tokenizer = train_tokenizer([COMPACT.answer(TASK, RDNA3)], 1500, assembly=True)
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
    given = {"tasks": ["source"], "prompt": "ours"}
    assert dropped_of(lifted, **given) == ["no source on both sides"]
