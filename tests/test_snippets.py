"""The quick start and the tutorials do what they say, command by command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cass_ray.execute.backends.registry import candidate_backend
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox import isolation
from tests.folders import REPOSITORY
from tests.snippets import missing, run_snippet, snippets

DOCS = REPOSITORY / "docs"
QUICK = ("start", "port_a_project")
"""Run always: what a stranger reads first."""
PAGES = [DOCS / "start.md", *sorted((DOCS / "tutorials").glob("*.md"))]


def test_a_page_is_read_as_it_is_written() -> None:
    page = (
        'Text.\n\n```cuda title="a/b.cu"\nint x;\n```\n\n'
        "<!-- not run: needs a GPU -->\n```bash\nnvidia-smi\n```\n\n"
        "```bash\necho one; echo two\n```\n\n```text\none\n```\n"
    )
    file, gpu, run, promised = snippets(page)
    assert (file.language, file.title, file.body, file.runs) == (
        "cuda",
        "a/b.cu",
        "int x;\n",
        False,
    )
    assert (gpu.not_run, gpu.runs) == ("needs a GPU", False)
    assert (run.body, run.runs) == ("echo one; echo two\n", True)
    assert (promised.language, promised.runs) == ("text", False)


def test_promises_are_kept_in_order_or_named() -> None:
    printed = "rows 1/1\n1 rows in 2.5 s -> out\n4950\n"
    assert missing("1 rows in …\n4950\n", printed) == []
    assert missing("4950\n1 rows in …\n", printed) == ["1 rows in …"]
    assert missing("495\n", printed) == ["495"]
    assert missing("…0\n", printed) == []


def test_every_run_and_every_promise_of_the_pages_is_seen() -> None:
    """A fence in a form that the reader of pages does not know would silently not be run."""
    for page in PAGES:
        text = page.read_text()
        found = list(snippets(text))
        assert len(found) == text.count("\n```") / 2, page.name
        assert any(each.runs for each in found), page.name
        for before, each in zip([None, *found], found, strict=False):
            if each.language == "text":
                assert before is not None
                assert before.runs, f"{page.name}: nothing was run before {each.body!r}"
            assert each.runs or each.not_run or each.title or each.language == "text"


@pytest.fixture(scope="module")
def tools() -> None:
    try:
        find_nvidia(), find_amd()
        isolation.isolates()
    except (ToolMissing, isolation.IsolationUnavailableError) as error:
        pytest.skip(str(error))
    if problem := candidate_backend().problem():
        pytest.skip(problem)


def _marked(page: Path) -> Any:
    return pytest.param(page, id=page.stem, marks=[] if page.stem in QUICK else pytest.mark.slow)


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("page", map(_marked, PAGES))
def test_snippets_do_what_the_page_says(page: Path, tmp_path: Path) -> None:
    printed = ""
    for each in snippets(page.read_text()):
        if each.title:
            file = tmp_path / each.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(each.body)
        elif each.runs:
            printed = run_snippet(each.language, each.body, tmp_path)
        elif each.language == "text":
            assert missing(each.body, printed) == [], printed
