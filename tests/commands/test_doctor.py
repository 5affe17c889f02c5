from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from cass_ray.commands import doctor
from cass_ray.toolchain.inventory import ToolStatus


def status(name: str, *, works: bool, required: bool = False) -> ToolStatus:
    return ToolStatus(
        name=name,
        works=works,
        version="1.2.3" if works else "",
        enables=f"what {name} does",
        remedy="" if works else f"apt-get install {name}",
        required=required,
    )


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> list[ToolStatus]:
    tools = [status("nvcc", works=True, required=True), status("hipify-perl", works=False)]
    monkeypatch.setattr(doctor, "find_all", lambda: tools)
    return tools


def test_an_optional_tool_may_be_missing(machine: list[ToolStatus]) -> None:
    result = CliRunner().invoke(doctor.app, [])
    assert result.exit_code == 0
    assert "1.2.3" in result.output
    assert "hipify-perl: would enable what hipify-perl does." in result.output
    assert "apt-get install hipify-perl" in result.output


def test_a_required_tool_may_not(machine: list[ToolStatus]) -> None:
    machine.append(status("bwrap", works=False, required=True))
    result = CliRunner().invoke(doctor.app, [])
    assert result.exit_code == 3
    assert "bwrap: needed for what bwrap does." in result.output


def test_json(machine: list[ToolStatus]) -> None:
    result = CliRunner().invoke(doctor.app, ["--json"])
    document = json.loads(result.stdout)
    assert document["ready"] is True
    assert [tool["name"] for tool in document["tools"]] == ["nvcc", "hipify-perl"]
    assert document["tools"][0]["version"] == "1.2.3"


def test_each_card_says_what_works_for_it(machine: list[ToolStatus]) -> None:
    lines = CliRunner().invoke(doctor.app, []).output.splitlines()
    for line in (
        "  gfx942 (runs): mi300x, mi300a, mi308x, mi325x",
        "  gfx1102 (compiles; test as gfx1100): rx7600xt, rx7600, w7600, w7500",
        "  gfx908 (compiles; test as gfx90a): mi100",
        "  sm_90: h100, h200, gh200",
    ):
        assert line in lines
