"""A part that is not installed ends in the command that installs it, not in a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cass_ray.extras import installing, needing

BLOCKED = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
sys.argv = ["cass", *{typed!r}]
from cass_ray.cli import main
main()
"""


@pytest.mark.parametrize(
    ("typed", "blocked", "extra"),
    [
        (["serve"], ["starlette"], "serve"),
        (["serve", "--no-auth"], ["fastapi", "starlette", "uvicorn"], "serve"),
        (["serve"], ["prometheus_client"], "serve"),
        (["serve", "--print-config"], ["starlette"], "serve"),
        (["reward", "serve"], ["uvicorn"], "serve"),
        (["reward", "serve"], ["fastapi"], "serve"),
        (["mcp"], ["mcp"], "mcp"),
        (["mcp", "--http", "9"], ["uvicorn"], "mcp"),
    ],
)
def test_what_to_install_is_said(typed: list[str], blocked: list[str], extra: str) -> None:
    program = BLOCKED.format(blocked=blocked, typed=typed)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert f"is not installed: {installing(extra)}" in done.stderr
    assert "Traceback" not in done.stderr
    assert "starting Ray" not in done.stderr


def test_the_command_of_a_clone_and_of_the_package(tmp_path: Path) -> None:
    assert installing("serve", tmp_path) == "pip install 'cass-ray[serve]'"
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "cass_ray").mkdir()
    assert installing("mcp", tmp_path) == f"pip install -e '{tmp_path}[mcp]'"


@pytest.mark.parametrize("name", ["serve.not_there", "cass_ray.not_there", ""])
def test_a_fault_of_ours_stays_one(name: str) -> None:
    with pytest.raises(ModuleNotFoundError), needing("serve", "serve"):
        raise ModuleNotFoundError("no module", name=name or None)
