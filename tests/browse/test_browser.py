"""The browser as a person uses it: keys in, what stands on the screen out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("textual")

from textual.pilot import Pilot
from textual.widgets import DataTable, Input, Static

from cass_ray.browse.app import DatasetBrowser
from cass_ray.browse.row_screen import Pane, RowScreen
from cass_ray.browse.rows import NotFoundError
from cass_ray.dataset.row import Reason, Stage, rejected
from cass_ray.dataset.schema import PAIR_SCHEMA, REJECT_SCHEMA
from tests.browse.program import ADD

Steps = Callable[[DatasetBrowser, Pilot[None]], Awaitable[None]]


@pytest.fixture
def dataset(tmp_path: Path, pair: dict[str, Any]) -> Path:
    other = {**pair, "id": "cd" * 32, "filename": "other.cu", "domain": "finance"}
    broken = rejected({**pair, "id": "ef" * 32}, Stage.COMPILE_AMD, Reason.MISSING_HEADER, "no x.h")
    for name, rows, schema in (
        ("pairs", [pair, other], PAIR_SCHEMA),
        ("rejects", [broken], REJECT_SCHEMA),
    ):
        (tmp_path / name).mkdir()
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), tmp_path / name / "0.parquet")
    return tmp_path


def walk(dataset: Path, steps: Steps) -> None:
    async def run() -> None:
        app = DatasetBrowser(dataset)
        async with app.run_test(size=(120, 40)) as pilot:
            await settled(app, pilot)
            await steps(app, pilot)

    asyncio.run(run())


async def settled(app: DatasetBrowser, pilot: Pilot[None]) -> None:
    await app.workers.wait_for_complete()
    await pilot.pause()


def names(app: DatasetBrowser) -> list[str]:
    table = app.query_one(DataTable)
    return [str(table.get_row_at(number)[1]) for number in range(table.row_count)]


def said(app: DatasetBrowser, where: str) -> str:
    return str(app.screen.query_one(where, Static).render())


def marked(app: DatasetBrowser, column: str) -> str:
    return app.screen.query_one(f"#{column}", Pane).selected_text


def test_filter_and_rejects(dataset: Path) -> None:
    async def steps(app: DatasetBrowser, pilot: Pilot[None]) -> None:
        assert names(app) == ["a.cu", "other.cu"]
        await pilot.press("slash", *"domain=finance", "enter")
        await settled(app, pilot)
        assert names(app) == ["other.cu"]
        assert said(app, "#status").startswith("1 of 2 pairs")
        await pilot.press("slash")
        app.query_one(Input).value = "domian=x"
        await pilot.press("enter")
        assert "did you mean domain?" in said(app, "#status")
        assert names(app) == ["other.cu"]
        app.query_one(DataTable).focus()
        await pilot.press("r")
        await settled(app, pilot)
        assert names(app) == ["a.cu"]
        assert "1 of 1 rejects" in said(app, "#status")

    walk(dataset, steps)


@pytest.mark.nvidia
@pytest.mark.amd
def test_kernels_lines_and_differences(dataset: Path) -> None:
    async def steps(app: DatasetBrowser, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, RowScreen)
        assert said(app, "#said") == "scale, divide"
        await pilot.press("k", "k")
        assert marked(app, "cuda_device") == "Function : _Z6dividePKfPf"
        assert marked(app, "hip_device").startswith("_Z6dividePKfPf:")

        source = app.screen.query_one("#cuda_source", Pane)
        app.screen.query_one("TabbedContent").active = "source"  # type: ignore[attr-defined]
        await pilot.pause()
        source.focus()
        source.move_cursor((ADD - 1, 0))
        await pilot.press("l")
        await settled(app, pilot)
        assert "FADD" in marked(app, "cuda_device")
        assert "v_add_f32" in marked(app, "hip_device")
        assert marked(app, "hip_source").strip() == "return x + x;"
        assert said(app, "#said").startswith(f"line {ADD}: ")

        await pilot.press("d")
        shown = app.screen.query_one("#hip_source", Pane).text
        assert "+#include <hip/hip_runtime.h>" in shown
        assert "-#include <cuda_runtime.h>" in shown
        await pilot.press("n")
        await pilot.pause()
        assert app.screen.title == "other.cu"
        await pilot.press("escape")
        assert not isinstance(app.screen, RowScreen)

    walk(dataset, steps)


def test_escape_sequences_of_sources_do_not_reach_the_terminal(
    tmp_path: Path, pair: dict[str, Any]
) -> None:
    (tmp_path / "pairs").mkdir()
    # U+202E turns the direction of what follows: the name would read "ucb.a".
    hostile = {**pair, "filename": "\x1b[2Ja\u202eb.cu", "cuda_source": "// \x1b]0;title\x07\n"}
    table = pa.Table.from_pylist([hostile], schema=PAIR_SCHEMA)
    pq.write_table(table, tmp_path / "pairs" / "0.parquet")

    async def steps(app: DatasetBrowser, pilot: Pilot[None]) -> None:
        assert names(app) == ["\\x1b[2Ja\\u202eb.cu"]
        await pilot.press("enter")
        await pilot.pause()
        assert "\x1b" not in app.screen.query_one("#cuda_source", Pane).text
        assert "\x1b" not in str(app.screen.title)

    walk(tmp_path, steps)


def test_no_data_set(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no pairs"):
        DatasetBrowser(tmp_path)
