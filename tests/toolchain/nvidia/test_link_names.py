"""Names for the linker where there are libraries with versions only."""

from __future__ import annotations

from pathlib import Path

from cass_ray.toolchain.nvidia.link_names import with_link_names


def folder(path: Path, *names: str) -> Path:
    path.mkdir()
    for name in names:
        (path / name).write_bytes(b"")
    return path


def test_names_that_are_missing(tmp_path: Path) -> None:
    first = folder(tmp_path / "a", "libcudart.so.13", "libcufft.so.9", "libcufft.so.12")
    second = folder(tmp_path / "b", "libcublas.so", "libcublas.so.13", "libcublas.so.13.1.0")
    *given, made = with_link_names([first, tmp_path / "none", second], tmp_path / "cache")
    assert given == [first, second]
    links = {path.name: path.resolve() for path in made.iterdir()}
    assert links == {
        "libcudart.so": first / "libcudart.so.13",
        "libcufft.so": first / "libcufft.so.12",
    }


def test_a_whole_toolkit_needs_none(tmp_path: Path) -> None:
    whole = folder(tmp_path / "a", "libcudart.so", "libcudart.so.13", "libcudart_static.a")
    assert with_link_names([whole], tmp_path / "cache") == (whole,)
