"""Code in the answers of language models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.llm.code_blocks import Fence, extract, fences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```hip\nint x;\n```", Fence("hip", "int x;", True)),
        ("Sure!\n```HIP title\nint x;\n\ny\n```\nDone.", Fence("hip", "int x;\n\ny", True)),
        ("~~~hip\n```\n~~~", Fence("hip", "```", True)),
        ("````hip\n```\nx\n```\n````", Fence("hip", "```\nx\n```", True)),
        ("```hip\nint x;", Fence("hip", "int x;", False)),
        ("```cpp\nlonger text\n```\n```hip\nx\n```", Fence("hip", "x", True)),
        ("```hip\nold\n```\n```hip\nnew\n```", Fence("hip", "new", True)),
        ("```hip\nwhole\n```\n```hip\ncut", Fence("hip", "whole", True)),
        ("```\nx\n```\n```c\nlonger\n```", Fence("c", "longer", True)),
        ("``hip\nx``", None),
        ("", None),
    ],
)
def test_the_answer_is_found(text, expected):
    assert extract(text, ("hip",)) == expected


@given(st.text(alphabet="`~a \n", max_size=60))
def test_any_text_has_fences_or_none(text):
    for fence in fences(text):
        assert fence.code in text
