"""The order of the stages, and which of them rows pass under which settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import Needs, Row
from cass_ray.pipeline.stages.order import (
    STAGES,
    Pool,
    run_stages,
    translates_in_process,
    wanted_pools,
    wanted_stages,
)


def settings(**changes: object) -> BuildSettings:
    return BuildSettings.model_validate({"sources": ["shipped"], "out": Path("out"), **changes})


def test_order_pools_and_needs() -> None:
    assert [(each.name, each.pool.name, each.needs.name) for each in STAGES] == [
        ("translate", "TRANSLATOR", "NOTHING"),
        ("sources alone", "TRANSLATOR", "NOTHING"),
        ("compile Nvidia", "NVIDIA_COMPILER", "NVIDIA_TOOLCHAIN"),
        ("compile AMD", "AMD_COMPILER", "AMD_TOOLCHAIN"),
        ("align", "AMD_COMPILER", "NOTHING"),
        ("lifted side", "AMD_COMPILER", "AMD_TOOLCHAIN"),
        ("lift", "AMD_COMPILER", "AMD_TOOLCHAIN"),
        ("reference", "NVIDIA_EXECUTOR", "NVIDIA_GPU"),
        ("lifted reference", "AMD_EXECUTOR", "AMD_TOOLCHAIN"),
        ("execute", "AMD_EXECUTOR", "AMD_TOOLCHAIN"),
    ]


def test_a_pool_is_left_once_and_for_all() -> None:
    pools = [each.pool for each in STAGES]
    assert pools == sorted(pools, key=list(Pool).index)


COMPILING = ["translate", "compile Nvidia", "compile AMD", "align"]
EXECUTING = ["reference", "lifted reference", "execute"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, COMPILING),
        ({"lift": True}, [*COMPILING, "lift"]),
        ({"lifted_rows": True}, [*COMPILING, "lifted side"]),
        ({"execute": True}, [*COMPILING, *EXECUTING]),
        (
            {"execute": True, "lifted_reference": False},
            [*COMPILING, "reference", "execute"],
        ),
        ({"lift": True, "execute": True}, [*COMPILING, "lift", *EXECUTING]),
    ],
)
def test_stages_that_settings_want(changes: dict[str, object], expected: list[str]) -> None:
    assert [each.name for each in wanted_stages(settings(**changes))] == expected


def test_stages_of_some_pools() -> None:
    wanted = wanted_stages(settings(lift=True), [Pool.AMD_COMPILER])
    assert [each.name for each in wanted] == ["compile AMD", "align", "lift"]
    assert wanted_stages(settings(), [Pool.AMD_EXECUTOR, Pool.NVIDIA_EXECUTOR]) == []


def test_what_ran_is_not_taken_from_the_cache() -> None:
    assert [each.name for each in STAGES if not each.replayable] == EXECUTING


def test_only_quick_engines_translate_when_rows_are_read() -> None:
    assert translates_in_process(settings(translator="rules"))
    assert not translates_in_process(settings(translator="chat:some-model"))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [["TRANSLATOR", "NVIDIA_COMPILER"], ["AMD_COMPILER"]]),
        (
            {"translator": "chat:some-model"},
            [["TRANSLATOR"], ["NVIDIA_COMPILER"], ["AMD_COMPILER"]],
        ),
        ({"compile": False}, [["TRANSLATOR"]]),
    ],
)
def test_a_quick_translator_has_no_workers_of_its_own(
    changes: dict[str, object], expected: list[list[str]]
) -> None:
    pools = wanted_pools(settings(**changes))
    assert [[each.name for each in together] for together in pools] == expected


def test_rows_pass_one_stage_after_the_other() -> None:
    class Append:
        def __init__(self, letter: str) -> None:
            self.letter = letter

        def run(self, rows: list[Row]) -> list[Row]:
            return [{"way": row["way"] + self.letter} for row in rows]

    rows = run_stages([Append("a"), Append("b")], [{"way": ""}, {"way": "x"}])
    assert [row["way"] for row in rows] == ["ab", "xab"]


def test_needs_are_those_that_nodes_offer() -> None:
    assert {each.needs for each in STAGES} <= set(Needs)
