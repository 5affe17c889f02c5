"""Imports are renamed where Python sees them, and what renaming would break is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from renaming import CannotRename, renamed_source, renamed_target

NAMES = {"jobs": "cass_ray_jobs", "serve": "cass_ray_serve"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with the module ``serve.http``."""
    (tmp_path / "serve").mkdir()
    (tmp_path / "serve" / "http.py").touch()
    return tmp_path


def renamed(text: str, tree: Path) -> str:
    return renamed_source(text.encode(), NAMES, tree, "module.py").decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from jobs import train\n", "from cass_ray_jobs import train\n"),
        ("from   serve.http import a as b\n", "from   cass_ray_serve.http import a as b\n"),
        ("import serve.http as web\n", "import cass_ray_serve.http as web\n"),
        (
            "import os, jobs as a, serve.http as b\n",
            "import os, cass_ray_jobs as a, cass_ray_serve.http as b\n",
        ),
        (
            "é = 'ü'; from jobs import x; from serve import y\n",
            "é = 'ü'; from cass_ray_jobs import x; from cass_ray_serve import y\n",
        ),
        (
            "def f():\n    from jobs import (\n        jobs,\n    )\n",
            "def f():\n    from cass_ray_jobs import (\n        jobs,\n    )\n",
        ),
    ],
)
def test_imports_are_renamed(before: str, after: str, tree: Path) -> None:
    assert renamed(before, tree) == after


@pytest.mark.parametrize(
    "text",
    [
        "from .jobs import x\n",
        "from jobserver import x\n",
        "from other.jobs import x\n",
        "jobs = {'serve': 1}\nserve = jobs['serve']\n",
        '"""from jobs import x"""\n',
        "text = 'serve.json'\n",
        "text = 'what serve.http says'\n",
    ],
)
def test_what_only_looks_like_an_import_stays(text: str, tree: Path) -> None:
    assert renamed(text, tree) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\nimport jobs\n", r"module\.py:2: `import jobs` binds"),
        ("import serve.http\n", r"module\.py:1: `import serve\.http` binds"),
        ("PATH = 'serve.http:app'\n", r"module\.py:1: the text names the module serve\.http"),
        ("RUN = 'python -m serve.http'\n", "the text names the module"),
        ("from \\\n  jobs import x\n", "this import is not understood"),
    ],
)
def test_what_would_break_is_refused(text: str, words: str, tree: Path) -> None:
    with pytest.raises(CannotRename, match=words):
        renamed(text, tree)


def test_entry_points() -> None:
    assert renamed_target("jobs.train:app", NAMES) == "cass_ray_jobs.train:app"
    assert renamed_target("cass_ray.jobs.train:app", NAMES) == "cass_ray.jobs.train:app"
