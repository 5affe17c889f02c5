"""Documents name things that exist: paths, dotted names, every package on the map, commands."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
import yaml

from cass_ray.config import validate
from tests.folders import REPOSITORY

DOCUMENTS = sorted(
    path
    for pattern in ("docs/**/*.md", "*/README.md", "*.md", ".github/**/*.md", "cass_ray/*/*/*.md")
    for path in REPOSITORY.glob(pattern)
    if path.parts[-2] not in ("out", "build") and ".venv" not in path.parts
)
PYTHON = ("cass_ray", "jobs", "actors", "serve", "cluster", "benchmarks", "recipes")
TOP = (*PYTHON, "tests", "examples", "docs")
SUFFIXES = r"(?:py|md|hpp|cpp|inc|hip|csv|yaml|yml|json|toml|sh|cu|cl|xz|jsonl|html)"
_FOLDERS = "|".join((*TOP, "scripts", r"\.github"))
_PATH = re.compile(rf"(?<![\w/.:-])((?:{_FOLDERS})/[\w./+-]*[\w/])(?![*\w{{])")
_DOTTED = re.compile(rf"(?<![\w./-])((?:{'|'.join(TOP)})(?:\.[A-Za-z_]\w*)+)")
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")

PLACEHOLDERS = re.compile(r"NAME|FAMILY|CATEGORY|PREFIX")
"""A path with one of these is a pattern, as in ``cass_ray/commands/NAME.py``."""

MADE_PAGE = re.compile(
    r"(?:reference/(?:cli|settings|http)|notebooks/\w+|results/(?:index|\w+)|changelog)\.md$"
)
"""Pages that scripts/docs_pages.py makes; tests/test_docs_site.py checks links to them."""

RENAMED_AWAY = {"CHANGELOG.md"}
"""Names there may be gone: it says so."""


def ids(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


@cache
def names_in(module: Path) -> frozenset[str]:
    """What a module defines or imports at its top, and members of its classes as ``Class.name``."""
    found: set[str] = set()
    tree = ast.parse(module.read_text())

    def enter(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    found.add(prefix + node.name)
                case ast.ClassDef():
                    found.add(prefix + node.name)
                    enter(node.body, f"{prefix}{node.name}.")
                case ast.Assign():
                    targets = [each for each in node.targets if isinstance(each, ast.Name)]
                    found.update(prefix + each.id for each in targets)
                case ast.AnnAssign(target=ast.Name(id=name)):
                    found.add(prefix + name)
                case ast.Import() | ast.ImportFrom():
                    found.update(prefix + (each.asname or each.name) for each in node.names)
                case ast.If():
                    enter(node.body, prefix)

    enter(tree.body, "")
    return frozenset(found)


def exists(dotted: str) -> bool:
    """Whether a package, a module, or a name in one is called ``dotted``."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        place = REPOSITORY.joinpath(*parts[:length])
        rest = ".".join(parts[length:])
        if place.is_dir():
            module = place / "__init__.py"
            return not rest or (module.exists() and rest in names_in(module))
        if place.with_suffix(".py").is_file():
            return not rest or rest in names_in(place.with_suffix(".py"))
    return False


def is_a_file_name(dotted: str) -> bool:
    """``serve.json`` and the like in prose."""
    return bool(re.search(rf"\.{SUFFIXES}$", dotted))


@pytest.mark.parametrize("document", DOCUMENTS, ids=ids)
def test_paths_and_names_exist(document: Path) -> None:
    if document.name in RENAMED_AWAY:
        return
    text = document.read_text()
    paths = {path for path in _PATH.findall(text) if not PLACEHOLDERS.search(path)}
    missing = [path for path in sorted(paths) if not (REPOSITORY / path).exists()]
    dotted = {name for name in _DOTTED.findall(text) if not is_a_file_name(name)}
    missing += [name for name in sorted(dotted) if not exists(name)]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=ids)
def test_links_lead_somewhere(document: Path) -> None:
    targets = _LINK.findall(document.read_text())
    missing = [link for link in targets if not (document.parent / link).exists()]
    assert [link for link in missing if not MADE_PAGE.search(link)] == []


def test_the_checks_find_what_is_wrong() -> None:
    assert exists("cass_ray.dataset.schema.PAIR_SCHEMA")
    assert exists("cass_ray.pipeline.journal.Journal.append")
    assert not exists("cass_ray.dataset.schema.NO_SUCH")
    assert not exists("cass_ray.no_such_package")
    assert _PATH.findall("see `cass_ray/lift/emit.py`, out/cass_ray/x") == ["cass_ray/lift/emit.py"]


def packages() -> list[str]:
    """Folders with code, two deep in ``cass_ray``, one deep elsewhere."""
    found = []
    for top in PYTHON:
        if top != "cass_ray":
            found.append(top)
        inner = sorted((REPOSITORY / top).iterdir())
        if top in ("cass_ray", "serve"):
            found += [f"{top}/{path.name}" for path in inner if (path / "__init__.py").exists()]
    return found


def test_every_package_has_a_line_in_the_architecture() -> None:
    lines = (REPOSITORY / "docs/architecture.md").read_text().splitlines()
    listed = {match[1] for line in lines if (match := re.match(r"\| `([\w/]+?)/?` \|", line))}
    assert [name for name in packages() if name not in listed] == []


def test_modules_in_the_table_of_the_lifter_exist() -> None:
    table = (REPOSITORY / "docs/lift/add_a_form.md").read_text().partition("## Where things are")[2]
    cells = re.findall(r"^\| (`.*?`) \| ", table, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`([\w/.]+)`", cell)]
    places = [REPOSITORY / "cass_ray" / "lift" / name for name in names]
    assert len(places) > 20
    assert [p for p in places if not (p.exists() or p.with_suffix(".py").exists())] == []


def test_a_way_opens_at_most_twelve_files() -> None:
    ways = sorted((REPOSITORY / "docs/ways").glob("*.md"))
    assert len(ways) == 5
    for way in ways:
        steps = [line for line in way.read_text().splitlines() if re.match(r"\d+\. ", line)]
        files = [re.match(r"\d+\. `([\w./]+\.\w+)`", line) for line in steps]
        assert all(files), f"{way.name}: a step names no file"
        assert 3 <= len(files) <= 12, way.name


def test_commands_of_the_readme_exist() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    known = set(project["entry-points"]["cass_ray.commands"])
    for name in ("README.md", "CONTRIBUTING.md", "docs/extending.md"):
        text = (REPOSITORY / name).read_text()
        used = set(re.findall(r"(?:^(?: {4})?|`)cass ([a-z][a-z-]+)", text, re.MULTILINE))
        assert used <= known, f"{name}: {used - known}"


def test_settings_in_the_readme_are_valid() -> None:
    pytest.importorskip("fastapi", reason="the service needs the extra `serve`")
    from serve.settings import ServeSettings

    blocks = re.findall(r"```yaml\n(.*?)```", (REPOSITORY / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        validate(ServeSettings, yaml.safe_load(block), "README.md")
