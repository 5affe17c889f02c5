"""Commands start where only what plain set-up installs is there; extras are asked for when used."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from tests.folders import REPOSITORY

PLAIN = """
import importlib, importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
for name in {modules}:
    importlib.import_module(name)
"""
EXTRAS = {
    "altair", "bitsandbytes", "deepspeed", "fastapi", "jinja2", "liger_kernel", "matplotlib", "mcp",
    "mlcroissant", "openai", "peft", "prometheus_client", "rapidfuzz", "s3fs", "sacrebleu",
    "sklearn", "tensorboard", "textual", "torch", "transformers", "umap", "vl_convert",
}  # fmt: skip
"""Modules of the packages of extras."""


def imported_plainly(*modules: str) -> str:
    """What Python says of importing ``modules`` without the packages of extras."""
    program = PLAIN.format(absent=EXTRAS, modules=modules)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=REPOSITORY, check=False, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def test_every_command_starts() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["cass_ray.commands"]
    assert len(points) > 20
    assert imported_plainly(*(target.partition(":")[0] for target in points.values())) == ""


@pytest.mark.parametrize(
    ("package", "modules"),
    [
        ("analysis", ["collected", "comparison", "document", "parts", "row_texts", "settings"]),
        ("browse", ["filters", "lines", "listings", "rows"]),
        ("publish", ["cards", "croissant", "dataset", "prepare", "settings", "upload"]),
    ],
)
def test_packages_of_data_sets_start(package: str, modules: list[str]) -> None:
    """Those of their modules that commands import at once; the others draw or show."""
    assert imported_plainly(*(f"cass_ray.{package}.{module}" for module in modules)) == ""


def test_an_extra_that_is_imported_is_seen() -> None:
    assert "No module named 'textual'" in imported_plainly("cass_ray.browse.app")
