"""The report in a real browser: drawn, sortable, readable in light, dark and on a phone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cass_ray.analysis.assemble import assemble, tasks
from cass_ray.analysis.parts import analyse
from cass_ray.analysis.report.write import write
from cass_ray.analysis.settings import AnalysisSettings

playwright = pytest.importorskip("playwright.sync_api")

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def report(five_rows: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    settings = AnalysisSettings(dataset=five_rows, out=out, projections=())
    document = assemble(settings, [analyse(task) for task in tasks(settings)])
    return write(document, settings.out, images=False, done=lambda _: None)


@pytest.fixture
def page(report: Path) -> Iterator[Any]:
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        opened = browser.new_page(color_scheme="light", viewport={"width": 390, "height": 800})
        problems: list[str] = []
        opened.on("pageerror", lambda error: problems.append(str(error)))
        opened.on(
            "request", lambda asked: asked.url.startswith("file:") or problems.append(asked.url)
        )
        opened.goto(report.as_uri())
        yield opened
        assert problems == []
        browser.close()


def test_a_phone_shows_every_figure_without_scrolling_sideways(page: Any) -> None:
    for drawing in page.locator(".drawing").all():
        drawing.scroll_into_view_if_needed()
        drawing.locator("svg").first.wait_for()
        box = drawing.locator("svg").first.bounding_box()
        assert box["width"] > 200
        assert box["x"] + box["width"] <= 391
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_table_is_sorted_by_the_keyboard(page: Any) -> None:
    table = page.locator("#yield table").first
    head = table.get_by_role("button", name="left out")
    head.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    values = [int(text) for text in table.locator("tbody tr td:nth-child(3)").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    assert values[0] == 1
    assert table.locator("th[aria-sort=descending]").inner_text().startswith("left out")


def test_the_other_theme_is_one_press_away_and_kept(page: Any) -> None:
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark").click()
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == after


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_is_accessible(page: Any, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.emulate_media(color_scheme=theme)
    page.reload()
    page.locator(".drawing svg").first.wait_for()
    results = axe.Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
