"""A headless Chromium, and pages that may ask nobody but the service and complain of nothing."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api")
uvicorn = pytest.importorskip("uvicorn")

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of ``app`` on a port of its own."""
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
    """The page at ``url``, which the test's module defines."""
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
