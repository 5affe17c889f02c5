"""Prompt templates: data files, checked when they are read."""

from __future__ import annotations

import math
import string
from functools import cache
from importlib.resources import files

import yaml
from pydantic import Field, model_validator

from cass_ray.config import StrictModel
from cass_ray.nearest import did_you_mean


class Template(StrictModel):
    """A task with placeholders, ``{name}``, and the values each of them can have."""

    name: str
    text: str
    values: dict[str, list[str]]
    area: str = ""

    @model_validator(mode="after")
    def _complete(self) -> Template:
        used = {name for _, name, _, _ in string.Formatter().parse(self.text) if name}
        if used != set(self.values):
            odd = ", ".join(sorted(used ^ set(self.values)))
            raise ValueError(f"template {self.name}: placeholders and values differ in {odd}")
        for name, values in self.values.items():
            if len(values) < 2 or len(set(values)) != len(values):
                raise ValueError(f"template {self.name}: {name} needs two values or more, all new")
        return self

    @property
    def size(self) -> int:
        """How many tasks it stands for."""
        return math.prod(len(values) for values in self.values.values())

    def task(self, number: int) -> str:
        """The task of a number below ``size``: the placeholders' values are its digits."""
        chosen: dict[str, str] = {}
        for name, values in self.values.items():
            number, digit = divmod(number, len(values))
            chosen[name] = " ".join(values[digit].split())
        return " ".join(self.text.format(**chosen).split())


class _Area(StrictModel):
    area: str
    templates: list[Template] = Field(min_length=1)


class Style(StrictModel):
    """What is said around a task."""

    personas: list[str]
    sizes: list[str]
    features: list[str]
    requirements: str


@cache
def all_templates() -> tuple[Template, ...]:
    """Every shipped template, areas in alphabetical order. Raises ``pydantic.ValidationError``."""
    found: list[Template] = []
    folder = files(__package__).joinpath("templates")
    for path in sorted(folder.iterdir(), key=lambda item: item.name):
        if path.name.endswith(".yaml"):
            area = _Area.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
            found += [item.model_copy(update={"area": area.area}) for item in area.templates]
    return tuple(found)


@cache
def style() -> Style:
    """The style that ships with the package (``style.yaml``)."""
    text = files(__package__).joinpath("style.yaml").read_text(encoding="utf-8")
    return Style.model_validate(yaml.safe_load(text))


def templates_of(areas: list[str] | None) -> tuple[Template, ...]:
    """The templates of ``areas``; all when None. Raises ``ValueError`` for an unknown area."""
    known = {template.area for template in all_templates()}
    for area in areas or ():
        if area not in known:
            raise ValueError(f"no area {area!r}: {did_you_mean(area, known)}")
    return tuple(item for item in all_templates() if areas is None or item.area in areas)
