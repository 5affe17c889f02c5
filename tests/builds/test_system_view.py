"""Packages laid over a system: links that lead to the folder that they lie in."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.builds.system_view import PACKAGES, merge_system


@pytest.mark.parametrize("leads_to", ["..", ".", "../../llvm"])
def test_a_folder_that_leads_to_itself_is_linked_as_it_is(leads_to: str, tmp_path: Path) -> None:
    packages = []
    for name in ("first", "second"):
        inside = tmp_path / name / "usr" / "share-of-nobody" / "llvm" / "build"
        inside.mkdir(parents=True)
        (inside / name).write_text(name)
        (inside / "Release").symlink_to(leads_to)
        packages.append(tmp_path / name)
    merge_system(tmp_path / "made", packages)
    build = tmp_path / "made" / "share-of-nobody" / "llvm" / "build"
    assert sorted(each.name for each in build.iterdir()) == ["Release", "first", "second"]
    shown = PACKAGES / "first" / "usr" / "share-of-nobody" / "llvm" / "build"
    assert (build / "Release").readlink() == shown / "Release"
    assert (build / "first").readlink() == shown / "first"
