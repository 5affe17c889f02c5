"""Files of dependencies that a recorded build has beside those of its tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.corpus.reading import units
from cass_ray.corpus.reading.other_repositories import Dependencies


def beside(tree: set[str], files: dict[str, bytes]) -> list[str]:
    return [path for path, _ in units._beside(Dependencies(files=files), tree)]


@pytest.mark.parametrize(
    ("tree", "files", "expected"),
    [
        ({"a.cu"}, ["third/x.h"], ["third/x.h"]),
        ({"a.cu", "third/x.h"}, ["third/x.h", "third/y.h"], ["third/y.h"]),
        ({"third"}, ["third/x.h"], []),
        ({"third/x.h/y"}, ["third/x.h"], []),
        ({"a.cu"}, ["third", "third/x.h"], ["third"]),
        ({"a.cu"}, ["../x.h", "/x.h", "b/../../x.h"], []),
        (set(), [], []),
    ],
)
def test_what_the_tree_has_room_for(tree: set[str], files: list[str], expected: list[str]) -> None:
    assert beside(tree, dict.fromkeys(files, b"")) == expected


def test_what_is_written_is_that(tmp_path: Path) -> None:
    units._write(tmp_path, [("a/run", b"#!/bin/sh\n"), ("a/b/c.h", b"\0\xff")])
    assert (tmp_path / "a/b/c.h").read_bytes() == b"\0\xff"
    assert (tmp_path / "a/run").stat().st_mode & 0o111
    assert not (tmp_path / "a/b/c.h").stat().st_mode & 0o111
