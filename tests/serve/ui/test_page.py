"""The page in headless Chromium: real clicks, real compilers, no outside world."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from serve.check.checker import Checker
from serve.request.local_clients import LocalChecker
from tests.serve.conftest import Api, make_services, make_settings

playwright = pytest.importorskip("playwright.sync_api")
uvicorn = pytest.importorskip("uvicorn")

pytestmark = [pytest.mark.slow, pytest.mark.amd]

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE = 120_000  # milliseconds


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, checker: Checker) -> Iterator[str]:
    settings = make_settings(tmp_path_factory.mktemp("serve"))
    app = Api(make_services(settings, LocalChecker(checker))).app
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        running = uvicorn.Server(uvicorn.Config(app, log_config=None))
        thread = threading.Thread(target=running.run, args=([listening],))
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        running.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def page(browser: Any, url: str) -> Iterator[Any]:
    context = browser.new_context()
    made = context.new_page()
    problems: list[str] = []
    made.on("pageerror", lambda error: problems.append(str(error)))
    made.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    made.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith((url, "data:", "blob:"))
            else problems.append(f"asks {asked.url}")
        ),
    )
    made.goto(url)
    made.locator("#example option").nth(1).wait_for(state="attached")
    yield made
    context.close()
    assert problems == []


def test_an_example_is_executed_and_matches(page: Any) -> None:
    page.select_option("#example", "block_reduce.cu")
    page.click("#go")
    label = page.locator("#label")
    playwright.expect(label).to_contain_text("printed what the original prints", timeout=_PATIENCE)
    assert page.locator("#stages .good").count() == 4
    assert "hipError_t" in page.locator("#translation").inner_text()
    ours, theirs = page.locator("#panel-output pre").all_inner_texts()[:2]
    assert ours == theirs
    assert "verify: OK" in ours
    page.click("#tab-evidence")
    assert "NVIDIA" in page.locator("#panel-evidence").inner_text()
    page.check("#diff")
    assert page.locator("#translation .cm-deletedChunk").count() > 0


def test_errors_lead_to_their_lines_by_keyboard(page: Any) -> None:
    page.locator("#source .cm-content").click()
    page.keyboard.type("\n\n__global__ void k(int* p) { *p = missing; }\n")
    page.keyboard.press("Control+Enter")
    label = page.locator("#label")
    playwright.expect(label).to_contain_text("does not compile", timeout=_PATIENCE)
    message = page.locator("#panel-messages .messages button").first
    assert "missing" in message.inner_text()
    message.focus()
    page.keyboard.press("Enter")
    assert "missing" in page.locator("#translation .cm-activeLine").inner_text()
    assert page.locator("#translation .cm-lint-marker-error").count() == 1


def test_a_phone_shows_everything_without_scrolling_sideways(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for name in ("#go", "#open", "#download", "#tab-files"):
        box = page.locator(name).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.emulate_media(color_scheme=scheme)
    page.select_option("#example", "block_reduce.cu")
    page.click("#go")
    playwright.expect(page.locator("#label")).to_contain_text("printed", timeout=_PATIENCE)
    for tab in ("#tab-output", "#tab-messages", "#tab-evidence", "#tab-files"):
        page.click(tab)
        found = axe.Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
