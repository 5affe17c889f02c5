"""MkDocs hook: pages that are made of the code, and links that lead out of ``docs/``.

Made while the site is built, so that they cannot differ from what they are about: command line,
settings, HTTP API, results, notebooks, and the documents at the repository's root.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from pathlib import Path

import docs_reference  # beside this file: MkDocs puts the hook's folder on the path
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
SITE_OF = {
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
}
"""Documents at the root -> their page."""

_LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)")
_MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""
    # Jobs and service have other names where a wheel is installed; the site is about this tree.
    # Here: MkDocs puts the path back after it has loaded a hook.
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    for place, text in pages().items():
        files.append(File.generated(config, place, content=text))
    for picture in RESULTS.glob("*.svg"):
        made = File.generated(config, f"results/{picture.name}", abs_src_path=str(picture))
        files.append(made)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files of the repository lead to their page, or to the repository."""
    place = page.file.src_uri
    # Drawing Mermaid takes a script from elsewhere: the diagram's text stays, folded.
    text = _MERMAID.sub(_folded, markdown)
    if place.startswith("results/"):
        text = text.replace("][", "]\\[")  # c[0x0][0x2c] of machine code is no link
    return _LINK.sub(lambda found: target(found[0], origin(place), place, files, config), text)


def _folded(found: re.Match[str]) -> str:
    summary = "The picture as Mermaid text (the repository's page draws it)"
    head = f'<details markdown="1"><summary>{summary}</summary>'
    return f"{head}\n\n```text\n{found[1]}```\n\n</details>"


def pages() -> dict[str, str]:
    """Every page that is made, by its place in ``docs/``."""
    made = {
        "reference/cli.md": docs_reference.command_line(),
        "reference/settings.md": docs_reference.settings(ROOT),
        "reference/http.md": docs_reference.http_api(),
        "results/index.md": _results(),
    }
    for name, place in SITE_OF.items():
        if place != "index.md":
            made[place] = (ROOT / name).read_text("utf-8")
    for result in sorted(RESULTS.glob("*.md")):
        made[f"results/{result.name}"] = result.read_text("utf-8")
    for notebook in sorted((ROOT / "examples").glob("*.ipynb")):
        made[f"notebooks/{notebook.stem}.md"] = _notebook(notebook)
    return made


def origin(place: str) -> str:
    """The path in the repository of the page at ``place``, from which its links count."""
    back = {page: name for name, page in SITE_OF.items() if page != "index.md"}
    if place in back:
        return back[place]
    if place.startswith("results/"):
        return f"benchmarks/{place}"
    return f"docs/{place}"


def target(link: str, source: str, place: str, files: Files, config: MkDocsConfig) -> str:
    """Where ``link`` in the document ``source`` leads from its page at ``place``.

    Links within the site are left to MkDocs, which checks them.
    """
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if path in SITE_OF:
        page = SITE_OF[path]
    elif path.startswith("benchmarks/results/"):
        page = path.removeprefix("benchmarks/")
    elif path.startswith("docs/"):
        page = path.removeprefix("docs/")
    else:
        page = ""
    if page and (files.get_file_from_path(page) or source.startswith("docs/")):
        return posixpath.relpath(page, posixpath.dirname(place) or ".")
    if (ROOT / path).exists():
        return f"{config.extra['repository']}/blob/main/{path}"
    return link


def _results() -> str:
    lines = [
        "# Results",
        "",
        "What was measured, each page with the command that made it.",
        "",
    ]
    for result in sorted(RESULTS.glob("*.md")):
        heading = re.search(r"^# (.+)$", result.read_text("utf-8"), re.MULTILINE)
        lines.append(f"- [{heading[1] if heading else result.stem}]({result.name})")
    return "\n".join(lines) + "\n"


def _notebook(path: Path) -> str:
    """A notebook as a page: its text and its code; it is committed without outputs."""
    parts: list[str] = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    parts.append(
        f"---\n\nThe notebook: [`examples/{path.name}`](../../examples/{path.name}). Run it to see "
        "the results; the tests do."
    )
    return "\n\n".join(parts) + "\n"
