"""Packages of headers for the files of a tree."""

from __future__ import annotations

import pytest

from cass_ray.builds.settings import UnitSettings
from cass_ray.corpus.reading import units
from cass_ray.corpus.reading.units import TreeUnits
from cass_ray.toolchain.provided.packages_table import HeaderPackage


class _Unreachable:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def fetch_all(self, wanted: list[HeaderPackage]) -> dict[str, str]:
        self.asked += [package.name for package in wanted]
        return {package.name: "no network" for package in wanted if package.name == "libfmt-dev"}


def test_what_cannot_be_fetched_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    store = _Unreachable()
    monkeypatch.setattr(units, "_store", lambda: store)
    tree = TreeUnits(UnitSettings(headers="auto"))
    for _ in range(3):
        names = [each.name for each in tree.packages(["fmt/core.h", "nlohmann/json.hpp"])]
        assert names == ["nlohmann-json3-dev"]
    assert store.asked.count("libfmt-dev") == 1


@pytest.mark.parametrize(
    "header", ["cuda/std/tuple", "cuda/version", "nv/target", "thrust/sort.h", "cub/cub.cuh"]
)
def test_libcudacxx_comes_with_what_brings_it(header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "_store", _Unreachable)
    tree = TreeUnits(UnitSettings(headers="auto"))
    assert [each.name for each in tree.packages([header])] == ["nvidia-cuda-cccl"]
