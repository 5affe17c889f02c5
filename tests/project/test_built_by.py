"""Trees that other tools have built are built anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cass_ray.project.built_by import drop_what_others_built, identity_of
from cass_ray.toolchain.amd import compiler_driver
from cass_ray.toolchain.locate import find_amd


def test_only_what_others_built_is_dropped(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    assert not drop_what_others_built(tmp_path, tree, "one")
    (tree / "build").mkdir(parents=True)
    (tree / "build" / "a.o").touch()
    assert not drop_what_others_built(tmp_path, tree, "one")
    assert (tree / "build" / "a.o").exists()
    assert drop_what_others_built(tmp_path, tree, "two")
    assert not tree.exists()


def test_a_tree_of_unknown_tools_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    assert drop_what_others_built(tmp_path, tmp_path / "tree", "one")


@pytest.mark.amd
def test_another_driver_is_another_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = identity_of(find_amd(), None)
    changed = tmp_path / "clang"
    changed.write_text(compiler_driver.SCRIPT.read_text() + "\n")
    monkeypatch.setattr(compiler_driver, "SCRIPT", changed)
    assert identity_of(find_amd(), None) != before


@pytest.mark.amd
def test_another_compiler_is_another_identity() -> None:
    amd = find_amd()
    newer = replace(amd, version=amd.version.replace("19", "29", 1))
    assert identity_of(amd, None) == identity_of(replace(amd), None)
    assert identity_of(newer, None) != identity_of(amd, None)
