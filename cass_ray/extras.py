"""Parts of the package that are installed only where they are asked for (``cass-ray[serve]``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cass_ray.exit_codes import EXIT_TOOL_MISSING, fail

_OWN = ("cass_ray", "cass_ray_serve", "serve", "jobs", "actors", "cluster")
_CLONE = Path(__file__).parents[1]


def installing(extra: str, clone: Path = _CLONE) -> str:
    """The command that installs ``extra``, of a clone or of the package."""
    if (clone / "pyproject.toml").is_file() and (clone / "cass_ray").is_dir():
        return f"pip install -e '{clone}[{extra}]'"
    return f"pip install 'cass-ray[{extra}]'"


@contextmanager
def needing(extra: str, command: str) -> Iterator[None]:
    """End ``cass COMMAND`` with what to install where a package of ``extra`` is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if not package or package in _OWN:
            raise
        message = f"the package {package} is not installed: {installing(extra)}"
        fail(command, message, EXIT_TOOL_MISSING)
