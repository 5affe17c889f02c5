"""The emulator's variables, by their present names and by those that they had before."""

from __future__ import annotations

import pytest

from cass_ray.emulator.execution import environment
from cass_ray.emulator.variables import emulator_variable


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({}, None),
        ({"CASS_EMULATOR_MEMORY": "1024"}, "1024"),
        ({"CASS_RDNA3_MEMORY": "2048"}, "2048"),
        ({"CASS_RDNA3_MEMORY": "2048", "CASS_EMULATOR_MEMORY": "1024"}, "1024"),
        ({"CASS_RDNA3_MEMORY": "2048", "CASS_EMULATOR_MEMORY": ""}, ""),
        ({"CASS_MEMORY": "4096", "MEMORY": "8192"}, None),
    ],
)
def test_the_present_name_counts(
    variables: dict[str, str], text: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for prefix in ("CASS_EMULATOR_", "CASS_RDNA3_"):
        monkeypatch.delenv(f"{prefix}MEMORY", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert emulator_variable("MEMORY") == text
    assert environment((), None).get("CASS_EMULATOR_MEMORY") == (text or None)
