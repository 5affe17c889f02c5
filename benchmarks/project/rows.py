"""The rows of a list of projects: what each one needs, and how it is built and tested."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import Field

from cass_ray.config import StrictModel


class ProjectRow(StrictModel):
    """A project that others wrote, and the commands of its own that judge a port of it."""

    project: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    """Owner and name on GitHub."""
    commit: str = ""
    """Empty for the newest commit."""
    build: str = ""
    test: str = ""
    """Commands; empty ones are found by the build system. ``{jobs}`` is how many compilers run at
    once."""
    dependencies: dict[str, str] = {}
    """Name of a download of the build -> what replaces it, as in ``submodules``."""
    submodules: dict[str, str] = {}
    """Folder -> what fills it where the clone's own submodules cannot be fetched: a repository
    (``owner/name``, with ``@`` and a commit or tag for another than the newest), or a folder of
    this machine."""
    packages: list[str] = []
    """Debian packages that it needs besides the set-up's."""
    seconds: int = 1800
    """Limit of the build, and of the tests."""
    expected: str = ""
    """The output of tests that pass, as the project or a run on a card recorded it."""


class ProjectList(StrictModel):
    """The content of ``projects.yaml``."""

    projects: list[ProjectRow]


def read_rows(path: Path) -> list[ProjectRow]:
    """Rows of the list ``path``, in its order."""
    return ProjectList.model_validate(yaml.safe_load(path.read_text("utf-8"))).projects
