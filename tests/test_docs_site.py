"""The documentation site: it builds with strict links, its reference is complete and offline."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cass_ray.pipeline.settings import BuildSettings
from cass_ray.translate.diagnostics import DIAGNOSTICS
from tests.folders import REPOSITORY

pytest.importorskip("mkdocs", reason="the site needs the extra `docs`")
pytest.importorskip("fastapi", reason="the HTTP reference needs the extra `serve`")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Loaded(HTMLParser):
    """What a page makes a browser fetch, and the links that a reader may follow."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag in ("script", "img", "iframe", "source") and (address := found.get("src")):
            self.fetched.add(address)
        kinds = (found.get("rel") or "").split()
        fetching = {"stylesheet", "icon", "preload", "preconnect", "modulepreload", "prefetch"}
        if tag == "link" and fetching & set(kinds) and (address := found.get("href")):
            self.fetched.add(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with ``--strict``: a link that leads nowhere, or a page that is missing, fails."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def text_of(site: Path, page: str) -> str:
    return (site / page / "index.html").read_text()


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        loaded = Loaded()
        loaded.feed(page.read_text())
        assert [each for each in loaded.fetched if re.match(r"(https?:)?//", each)] == [], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", sheet.read_text()), sheet


def test_the_command_reference_has_every_command(site: Path) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    text = text_of(site, "reference/cli")
    for name in project["entry-points"]["cass_ray.commands"]:
        assert f"<code>cass {name}</code>" in text
    assert "--reference-backend" in text


def test_the_settings_reference_has_every_key(site: Path) -> None:
    text = text_of(site, "reference/settings")
    for name in BuildSettings.model_fields:
        assert f"<code>{name}</code>" in text
    assert "Compile slots of this machine" in text  # a description
    assert "<code>60</code>" in text  # the default of limits.cpu_seconds


def test_http_python_and_diagnostics(site: Path) -> None:
    assert "POST <code>/v1/translate</code>" in text_of(site, "reference/http")
    python = text_of(site, "reference/python")
    for name in (
        "public.translating.translate",
        "public.verifying.verify",
        "execute.verification.RunRecord",
    ):
        assert f'id="cass_ray.{name}"' in python
    diagnostics = text_of(site, "diagnostics")
    for each in DIAGNOSTICS:
        assert f'id="{each.code.lower()}"' in diagnostics


def test_notebooks_and_results_are_there(site: Path) -> None:
    assert "cass.verify" in re.sub(r"<[^>]+>", "", text_of(site, "notebooks/port_a_program"))
    listed = text_of(site, "results")
    for result in (REPOSITORY / "benchmarks" / "results").glob("*.md"):
        assert f'href="{result.stem}/"' in listed


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on standard error."""


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_browser_fetches_nothing_else_and_needs_no_sideways_scrolling(
    site: Path, scheme: str, width: int
) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no browser")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/"
    elsewhere: list[str] = []
    try:
        with playwright.sync_playwright() as running:
            browser = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
            page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
            page.set_default_timeout(120_000)
            page.on("request", lambda each: elsewhere.append(each.url))
            for place in ("", "start/", "reference/settings/", "reference/python/"):
                page.goto(base + place)
                page.wait_for_load_state("networkidle")
                excess = "document.documentElement.scrollWidth - window.innerWidth"
                assert page.evaluate(excess) <= 0, place
                assert page.locator("body").get_attribute("data-md-color-scheme") == (
                    "slate" if scheme == "dark" else "default"
                )
    finally:
        server.shutdown()
        server.server_close()
    assert [each for each in elsewhere if not each.startswith((base, "data:"))] == []


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("warpSize", "tutorials/by_symptom/"),
        ("__shfl_down", "tutorials/by_symptom/"),
        ("texture", "tutorials/by_symptom/"),
        ("inline PTX", "tutorials/by_symptom/"),
        ("cuBLASLt", "tutorials/by_symptom/"),
        ("last digit", "tutorials/by_symptom/"),
        ("kept_days", "reference/settings/"),
    ],
)
def test_search_leads_to_symptoms_and_settings(site: Path, words: str, place: str) -> None:
    """What the page's search looks through, in the browser."""
    index = json.loads((site / "search" / "search_index.json").read_text())
    found = {
        each["location"].partition("#")[0]
        for each in index["docs"]
        if words.lower() in re.sub(r"<[^>]+>", "", each["title"] + " " + each["text"]).lower()
    }
    assert place in found
