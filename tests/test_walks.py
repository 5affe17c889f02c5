"""How far a reader follows one parameter: bounds for walks that were long once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.walks import walk

TOY = {
    "begin": """
from store import Store, count
def begin(data, other):
    same = data
    count(same)
    store = Store(other, data)
    store.show()
    unrelated(other)
def unrelated(other): ...
""",
    "store": """
import end
from end import finish
class Store:
    def __init__(self, other, data):
        self._data = data
    def show(self):
        finish(value=self._data)
    def name(self):
        return "none"
def count(data):
    return len(data)
""",
    "end": """
from begin import unrelated
def finish(value):
    unrelated(value)
""",
}


def test_what_a_walk_counts(tmp_path: Path) -> None:
    for name, text in TOY.items():
        (tmp_path / f"{name}.py").write_text(text)
    made = walk("begin", "begin", "data", tmp_path)
    assert made.stops == [
        "begin:begin",
        "store:count",
        "store:__init__",
        "store:show",
        "end:finish",
        "begin:unrelated",
    ]
    assert made.rooms == ["begin", "store", "end", "begin"]
    assert made.returns == 1


@pytest.mark.parametrize(
    ("module", "function", "parameter", "stops", "returns"),
    [
        ("cass_ray.lift.module", "build", "cubin", 25, 5),
        ("cass_ray.project.porting", "port_project", "source", 25, 2),
    ],
)
def test_walks_are_short(
    module: str, function: str, parameter: str, stops: int, returns: int
) -> None:
    made = walk(module, function, parameter)
    assert len(made.stops) <= stops, made.stops
    assert made.returns <= returns, made.rooms
    assert len(made.stops) > 3, "the walk lost its way"
