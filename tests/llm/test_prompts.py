"""Instruction formats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.llm.prompts import CASS, OURS, prompt_format
from cass_ray.task import TASKS, Direction, Level, Task

SOURCE = Task(Level.SOURCE, Direction.CUDA_TO_HIP)
ASSEMBLY = Task(Level.ASSEMBLY, Direction.CUDA_TO_HIP)


def test_the_published_source_prompt_is_verbatim():
    assert CASS.messages(SOURCE, "int x;") == [
        {
            "role": "user",
            "content": "Convert the following CUDA code to AMD GPU code:\n```cuda\nint x;\n```",
        }
    ]
    assert CASS.answer(SOURCE, "int y;") == "```amd\nint y;\n```"


def test_the_published_assembly_prompt_is_verbatim():
    assert CASS.question(ASSEMBLY, "EXIT ;") == (
        "Convert the following CUDA device assembly code to HIP device assembly:\n"
        "```cudaasm\nEXIT ;\n```"
    )
    assert CASS.answer(ASSEMBLY, "s_endpgm") == "```hipasm\ns_endpgm\n```"


def test_the_published_checkpoints_know_one_direction():
    with pytest.raises(ValueError, match="has no task `source:hip-to-cuda`"):
        CASS.question(Task(Level.SOURCE, Direction.HIP_TO_CUDA), "int x;")


def test_our_format_words_every_task_differently():
    assert len({OURS.question(task, "x") for task in TASKS}) == len(TASKS) == 4


@given(st.text(alphabet="`a\n", max_size=30))
def test_our_fence_is_longer_than_any_run_of_backticks_in_the_code(code):
    first, *_, last = OURS.answer(SOURCE, code).split("\n")
    assert first == last + "hip"
    assert last not in code
    assert set(last) == {"`"}


def test_formats_are_found_by_name_and_the_nearest_is_named():
    assert prompt_format("cass") is CASS
    with pytest.raises(ValueError, match="did you mean `ours`"):
        prompt_format("our")


def test_the_format_that_is_gone_names_its_successor():
    with pytest.raises(ValueError, match="`compact` is gone: use `ours`, or the engine `lift`"):
        prompt_format("compact")
