"""Templates, and prompts drawn from them."""

from __future__ import annotations

from itertools import islice

import pytest
from pydantic import ValidationError

from cass_ray.corpus.synthetic.prompts import sample_prompts
from cass_ray.corpus.synthetic.templates import Template, all_templates, style, templates_of


def made(text: str, **values: list[str]) -> Template:
    return Template(name="t", area="a", text=text, values=values)


def test_the_shipped_templates_cover_twelve_areas() -> None:
    areas = {template.area for template in all_templates()}
    assert len(areas) == 12
    assert sum(template.size for template in all_templates()) > 10_000
    for template in all_templates():
        assert "{" not in template.task(template.size - 1)


def test_a_template_names_every_combination_once() -> None:
    template = made("{a} and {b}", a=["1", "2"], b=["x", "y", "z"])
    tasks = [template.task(number) for number in range(template.size)]
    assert sorted(tasks) == [f"{a} and {b}" for a in "12" for b in "xyz"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{a} and {b}", {"a": ["1", "2"]}),
        ("{a}", {"a": ["1", "2"], "b": ["1", "2"]}),
        ("{a}", {"a": ["1"]}),
        ("{a}", {"a": ["1", "1"]}),
    ],
)
def test_incomplete_templates_are_refused(text: str, values: dict[str, list[str]]) -> None:
    with pytest.raises(ValidationError):
        made(text, **values)


def test_an_unknown_area_names_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean `graph`"):
        templates_of(["graphs"])


def test_prompts_are_seeded_and_never_repeat() -> None:
    templates = templates_of(["geometry", "sparse"])
    first = list(islice(sample_prompts(templates, 1), 300))
    again = list(islice(sample_prompts(templates, 1), 200))
    other = list(islice(sample_prompts(templates, 2), 200))
    assert first[:200] == again
    assert [item.id for item in again] != [item.id for item in other]
    assert len({item.id for item in first}) == len({item.task for item in first}) == 300
    assert {item.area for item in first[: len(templates)]} == {"geometry", "sparse"}


def test_tasks_come_again_in_another_style_when_all_were_given() -> None:
    template = made("Write {a} {b}.", a=["one", "two"], b=["red", "blue"])
    prompts = list(sample_prompts([template], 0))
    assert len({item.task for item in prompts}) == 4
    assert {item.task for item in prompts[:4]} == {item.task for item in prompts}
    assert len({item.text for item in prompts}) > 4
    assert len({item.id for item in prompts}) == len(prompts)


def test_tasks_that_differ_in_next_to_nothing_count_as_one() -> None:
    long = " ".join(f"word{n}" for n in range(300))
    template = made(f"{long} {{a}}", a=["one", "two"])
    assert len({item.task for item in sample_prompts([template], 0)}) == 1


def test_a_prompt_holds_persona_task_and_requirements() -> None:
    prompt = next(sample_prompts(all_templates(), 3))
    system, user = prompt.messages
    assert system["content"] in style().personas
    assert user["content"].startswith(prompt.task)
    assert user["content"].endswith(style().requirements)
