"""The page in headless Chromium: real clicks, real compilers, no outside world."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from serve.check.checker import Checker
from serve.request.local_clients import LocalChecker
from tests.serve.conftest import Api, make_services, make_settings
from tests.serve.ui.conftest import served

playwright = pytest.importorskip("playwright.sync_api")

pytestmark = [pytest.mark.slow, pytest.mark.amd]

_PATIENCE = 120_000  # milliseconds


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, checker: Checker) -> Iterator[str]:
    settings = make_settings(tmp_path_factory.mktemp("serve"))
    with served(Api(make_services(settings, LocalChecker(checker))).app) as address:
        yield address


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


@pytest.mark.nvidia
def test_a_line_leads_to_what_it_became_on_both_sides(page: Any) -> None:
    page.select_option("#example", "block_reduce.cu")
    page.select_option("#check", "none")
    page.click("#go")
    playwright.expect(page.locator("#label")).to_contain_text("Not checked", timeout=_PATIENCE)
    page.click("#tab-assembly")
    sides = page.locator(".asm")
    playwright.expect(sides).to_have_count(2, timeout=_PATIENCE)
    stores = page.locator(".asm").first.locator("text=STS.64").first
    line = int(stores.get_attribute("data-line"))
    assert "partial[threadIdx.x / 32] = v;" in page.evaluate(
        "line => document.querySelectorAll('#source .cm-line')[line - 1].textContent", line
    )
    stores.click()
    chosen = page.locator(".asm").last.locator(".chosen").all_inner_texts()
    # AMD's store of 64 bits to LDS, as STS.64 is Nvidia's to shared memory.
    assert any(text.startswith("ds_store_b64") for text in chosen)
    playwright.expect(page.locator("#asm-next")).to_be_in_viewport()
    page.locator("#asm-next").focus()
    page.keyboard.press("Enter")
    assert page.locator("#asm-line").inner_text().startswith("line ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.emulate_media(color_scheme=scheme)
    page.select_option("#example", "block_reduce.cu")
    page.click("#go")
    playwright.expect(page.locator("#label")).to_contain_text("printed", timeout=_PATIENCE)
    for tab in ("#tab-output", "#tab-messages", "#tab-assembly", "#tab-evidence", "#tab-files"):
        page.click(tab)
        found = axe.Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
