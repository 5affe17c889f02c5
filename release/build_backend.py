"""Build backend: setuptools, and wheels whose packages all carry the project's name.

In the repository ``jobs``, ``actors``, ``serve`` and ``cluster`` lie beside ``cass_ray``. Installed
under those names they would clash with whatever else is called so: in a wheel they are
``cass_ray_jobs`` and so on (docs/decisions/0012-names-in-the-wheel.md). A wheel is built of a copy
of the tree in which packages, imports and entry points are renamed; editable installs and source
distributions are setuptools' own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from renaming import renamed_source, renamed_target
from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

LIBRARY = "cass_ray"
_Settings = dict[str, Any] | None


def get_requires_for_build_wheel(config_settings: _Settings = None) -> list[str]:
    """What writes the copy's ``pyproject.toml``, beside setuptools, which needs nothing more."""
    return ["tomli-w"]


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: _Settings = None
) -> str:
    """The metadata of the renamed packages."""
    target = str(Path(metadata_directory).resolve())
    with _renamed_tree():
        made: str = build_meta.prepare_metadata_for_build_wheel(target, config_settings)
    return made


def build_wheel(
    wheel_directory: str, config_settings: _Settings = None, metadata_directory: str | None = None
) -> str:
    """The wheel of the renamed packages."""
    target = str(Path(wheel_directory).resolve())
    metadata = str(Path(metadata_directory).resolve()) if metadata_directory else None
    with _renamed_tree():
        made: str = build_meta.build_wheel(target, config_settings, metadata)
    return made


@contextmanager
def _renamed_tree() -> Iterator[None]:
    """A renamed copy of the source tree, as the working directory."""
    source = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="cass-wheel-") as folder:
        tree = Path(folder)
        write_renamed_tree(source, tree)
        with chdir(tree):
            yield


def write_renamed_tree(source: Path, tree: Path) -> None:
    """Copy to ``tree`` what a wheel is made of, under its names there."""
    import tomli_w  # there for wheels only

    config = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))
    names = new_names(config)
    (tree / "pyproject.toml").write_text(tomli_w.dumps(_renamed_config(config, names)), "utf-8")
    for name in (config["project"]["readme"], *config["project"]["license-files"]):
        shutil.copy(source / name, tree)
    for package in (LIBRARY, *names):
        target = tree / names.get(package, package)
        shutil.copytree(source / package, target, ignore=shutil.ignore_patterns("__pycache__"))
        for module in sorted(target.rglob("*.py")):
            _rename_inside(module, names, source)


def new_names(config: Mapping[str, Any]) -> dict[str, str]:
    """Package at the top of the repository -> its name in a wheel, where that is another."""
    patterns = config["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = [pattern.removesuffix("*") for pattern in patterns]
    return {name: f"{LIBRARY}_{name}" for name in packages if name != LIBRARY}


def _renamed_config(config: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    project, settings = config["project"], config["tool"]["setuptools"]
    points = {
        group: {name: renamed_target(value, names) for name, value in members.items()}
        for group, members in project["entry-points"].items()
    }
    scripts = {name: renamed_target(value, names) for name, value in project["scripts"].items()}
    data = {names.get(name, name): files for name, files in settings["package-data"].items()}
    found = {"include": [f"{LIBRARY}*"]}
    return {
        "build-system": {"requires": [], "build-backend": "setuptools.build_meta"},
        "project": {**project, "scripts": scripts, "entry-points": points},
        "tool": {"setuptools": {"packages": {"find": found}, "package-data": data}},
    }


def _rename_inside(module: Path, names: Mapping[str, str], source: Path) -> None:
    """Rename in one file of the copy; it keeps its times, which are those in the archive."""
    before = module.stat()
    text = module.read_bytes()
    changed = renamed_source(text, names, source, str(module))
    if changed != text:
        module.write_bytes(changed)
        os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))
