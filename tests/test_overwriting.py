"""A command replaces what a command wrote, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cass_ray.overwriting import WouldOverwriteError, check_outputs, remember, write_output


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASS_CACHE", str(tmp_path_factory.mktemp("cache")))


def test_what_cass_wrote_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.hip"
    write_output(path, "first\n")
    write_output(path, "second\n")
    assert path.read_text() == "second\n"


def test_what_a_person_wrote_or_changed_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.hip"
    path.write_text("mine\n")
    with pytest.raises(WouldOverwriteError, match="--overwrite"):
        write_output(path, "cass\n")
    assert path.read_text() == "mine\n"
    write_output(path, "cass\n", overwrite=True)
    with path.open("a") as file:
        file.write("and a line of mine\n")
    with pytest.raises(WouldOverwriteError):
        write_output(path, "cass again\n")
    assert path.read_text() == "cass\nand a line of mine\n"


@pytest.mark.parametrize("how", ["name", "other name", "link", "hard link"])
def test_the_input_is_never_replaced(tmp_path: Path, how: str) -> None:
    source = tmp_path / "a.cu"
    source.write_text("mine\n")
    output = tmp_path / "b.cu"
    if how == "name":
        output = source
    elif how == "other name":
        output = tmp_path / "sub" / ".." / "a.cu"
        (tmp_path / "sub").mkdir()
    elif how == "link":
        output.symlink_to(source)
    else:
        output.hardlink_to(source)
    with pytest.raises(WouldOverwriteError, match="the input itself"):
        write_output(output, "cass\n", overwrite=True, inputs=[source])
    assert source.read_text() == "mine\n"


def test_the_same_content_empty_files_and_devices_are_no_loss(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("same")
    write_output(path, "same")
    empty = tmp_path / "empty"
    empty.touch()
    write_output(empty, "text")
    assert empty.read_text() == "text"
    write_output(Path(os.devnull), "text")


def test_many_files_are_named_in_one_line(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "abcde"]
    for path in paths:
        path.write_text("mine")
    remember(paths[:1])
    with pytest.raises(WouldOverwriteError) as caught:
        check_outputs(paths)
    message = str(caught.value)
    assert "\n" not in message
    assert str(paths[0]) not in message
    assert str(paths[1]) in message
    assert "and 1 more are there" in message
