"""Whether a tree has what a prelude was made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.toolchain.prelude.files import PreludeFiles

INSIDE = Path("/cass/source")
TREE = {"src/main.cu": "", "inc/a b.h": "1", "inc/deep/c.h": "2", "other/c.h": "3", "d.h": "4"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "root")


@pytest.fixture
def system(tmp_path: Path) -> Path:
    header = tmp_path / "system.h"
    header.write_text("5")
    return header


def written(root: Path) -> Path:
    for name, text in TREE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def read(root: Path, system: Path) -> PreludeFiles:
    rule = f"prelude: src/main.cu inc/a\\ b.h \\\n  src/../inc/deep/c.h \\\n {system}\n"
    files = PreludeFiles.read(rule, "src/main.cu", root, INSIDE)
    assert files is not None
    return PreludeFiles.from_json(files.to_json())


def test_what_was_read(root: Path, system: Path) -> None:
    files = read(root, system)
    assert set(files.tree) == {"inc/a b.h", "inc/deep/c.h"}
    assert set(files.outside) == {str(system)}
    assert files.same_names == ["other/c.h"]


def test_a_copy_of_the_tree_fits(root: Path, system: Path, tmp_path: Path) -> None:
    files = read(root, system)
    copy = written(tmp_path / "copy")
    (copy / "src/main.cu").write_text("another unit")
    (copy / "d.h").write_text("what it did not read")
    (copy / "other/c.h").write_text("what it passed over")
    assert files.fit(root)
    assert files.fit(copy)


@pytest.mark.parametrize(
    "change",
    [
        lambda root, _: (root / "inc/a b.h").write_text("7"),
        lambda root, _: (root / "inc/deep/c.h").unlink(),
        lambda root, _: (root / "src/c.h").write_text("2"),
        lambda root, _: (root / "src/system.h").write_text("met before the system's"),
        lambda _, system: system.write_text("longer"),
        lambda _, system: system.unlink(),
    ],
)
def test_what_another_tree_would_give_does_not_fit(
    root: Path, system: Path, change: Callable[[Path, Path], object]
) -> None:
    files = read(root, system)
    change(root, system)
    assert not files.fit(root)


@pytest.mark.parametrize("missing", ["inc/none.h", "/none/at/all.h"])
def test_what_is_not_there_after_all(root: Path, missing: str) -> None:
    assert PreludeFiles.read(f"prelude: {missing}\n", "src/main.cu", root, INSIDE) is None
