"""``make test`` leaves the cases that ``nightly.txt`` names to ``make test-full``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import pytest

from tests import conftest
from tests.folders import REPOSITORY


@dataclass
class Item:
    nodeid: str
    marks: list[pytest.MarkDecorator] = field(default_factory=list)

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.append(mark)


def test_each_name_is_a_test() -> None:
    assert conftest.nightly()
    for name in conftest.nightly():
        file, *_, function = name.split("::")
        assert f"def {function}(" in (REPOSITORY / file).read_text(), name


@pytest.mark.parametrize(
    ("kept", "quick"), [(0, []), (1, [0]), (2, [0, 3]), (3, [0, 2, 4]), (6, [0, 1, 2, 3, 4, 5])]
)
def test_the_cases_that_stay_are_spread(
    kept: int, quick: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conftest, "nightly", lambda: {"a.py::test": kept})
    cases = [Item(f"a.py::test[{number}]") for number in range(6)]
    other = Item("a.py::test_other[1]")
    conftest.pytest_collection_modifyitems(cast(list[pytest.Item], [*cases, other]))
    assert [number for number, item in enumerate(cases) if not item.marks] == quick
    assert not other.marks
