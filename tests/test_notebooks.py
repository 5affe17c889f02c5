"""The notebooks of ``examples/`` run from top to bottom and show what their text promises."""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from cass_ray.execute.backends.registry import candidate_backend
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox import isolation
from tests.folders import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "examples").glob("*.ipynb"))


@pytest.fixture(scope="module")
def compilers() -> None:
    try:
        find_nvidia(), find_amd()
        isolation.isolates()
    except (ToolMissing, isolation.IsolationUnavailableError) as error:
        pytest.skip(str(error))


def shown(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What each cell of code shows, HTML as its text. Fails the test when a cell raises."""
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    book = nbformat.read(REPOSITORY / "examples" / f"{name}.ipynb", as_version=4)
    client = NotebookClient(
        book, timeout=600, startup_timeout=600, resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env=dict(os.environ))
    return [_text(cell.outputs) for cell in book.cells if cell.cell_type == "code"]


def _text(outputs: list[nbformat.NotebookNode]) -> str:
    parts = []
    for output in outputs:
        if output.output_type == "stream":
            parts.append(output.text)
        elif page := output.data.get("text/html"):
            body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
            parts.append(unescape(re.sub(r"<[^>]*>", "\n", body)))
        else:
            parts.append(output.data["text/plain"])
    return "\n".join(parts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_committed_as_they_are_written(path: Path) -> None:
    """Outputs are made where the notebook is read: stored ones would grow stale unseen."""
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert code
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert f"`{path.name}`" in (path.parent / "README.md").read_text()


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.usefixtures("compilers")
def test_lift_a_binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, lifted, parts, wide = shown("lift_a_binary", tmp_path, monkeypatch)
    assert "reverse.cubin for gfx1100: 1 kernel(s) lifted" in lifted
    assert re.search(r"^BAR\.SYNC", lifted, re.MULTILINE)
    assert "s_barrier" in lifted
    assert "['s_barrier']" in parts
    assert "b'\\x7fELF'" in parts
    assert "reverse.cubin for gfx942: 1 kernel(s) lifted" in wide


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.usefixtures("compilers")
def test_port_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if problem := candidate_backend().problem():
        pytest.skip(problem)
    _, made, run, right, wrong, wide, both = shown("port_a_program", tmp_path, monkeypatch)
    assert "+    hipFree(device);" in made.splitlines()
    assert "-    cudaFree(device);" in made.splitlines()
    assert "4950" in run.splitlines()  # 99 * 100 / 2
    assert "sum.hip against sum.cu: the same" in right
    # Two whole blocks add 0 + … + 127.
    assert "with 100: line 1: '8128' instead of '4950'" in wrong
    assert "gfx942" in wide
    assert "sum.hip against sum.cu: the same" in wide
    assert "v_cmpx" in both or "v_cmp_" in both
    assert "sm_90" in both
