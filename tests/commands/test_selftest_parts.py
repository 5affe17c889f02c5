"""``cass verify-selftest --part K/N``: parts cover all programs once."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from cass_ray.commands.verify import _part, selftest_app


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 30])
def test_parts_hold_each_program_once(parts: int) -> None:
    programs = list(range(26))
    taken = [each for number in range(parts) for each in programs[_part(f"{number}/{parts}")]]
    assert sorted(taken) == programs


@pytest.mark.parametrize("text", ["", "1", "3/3", "-1/3", "1/0", "a/b", "1/2/3"])
def test_what_is_no_part_is_an_error_of_use(text: str) -> None:
    done = CliRunner().invoke(selftest_app, ["--part", text])
    assert done.exit_code == 2
    assert "K/N" in done.output
