"""Outlined regions of large graphs, of graphs made by hand."""

from __future__ import annotations

import pytest

from cass_ray.lift.analysis import outlining
from cass_ray.lift.analysis.kernel_graph import CallPlace


def place(number: int) -> CallPlace:
    return ((), "k", 16 * number)


def graph(ways: dict[int, list[int]]) -> dict[CallPlace, list[CallPlace]]:
    return {place(n): [place(m) for m in following] for n, following in ways.items()}


def outline(ways: dict[int, list[int]], most: int, patch: pytest.MonkeyPatch) -> outlining.Outline:
    """Regions of at most ``most`` blocks of one block of LLVM each."""
    patch.setattr(outlining, "MOST_IN_REGION", most)
    found = outlining.outline(graph(ways), {place(n): 1 for n in ways}, place(0))
    assert found is not None
    return found


def addresses(found: outlining.Outline) -> list[list[int]]:
    order = [address // 16 for _, _, address in found.numbers]
    return [order[region.start : region.stop] for region in found.regions]


def test_a_chain_is_split_where_one_way_leads_on(monkeypatch: pytest.MonkeyPatch) -> None:
    diamonds = {0: [1, 2], 1: [3], 2: [3], 3: [4, 5], 4: [6], 5: [6], 6: []}
    assert addresses(outline(diamonds, 5, monkeypatch))[0] == [0, 1, 2]


def test_a_small_loop_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    found = outline({0: [1], 1: [2], 2: [1, 3], 3: []}, 2, monkeypatch)
    assert addresses(found) == [[0], [1, 2], [3]]
    assert not found.loops
    assert found.stays(place(2), place(1))


def test_a_large_loop_is_repeated_and_the_loop_inside_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The way back to its header leaves the region, where lanes wait for each other."""
    ways = {0: [1], 1: [2], 2: [3, 5], 3: [4], 4: [3, 5], 5: [1, 6], 6: []}
    found = outline(ways, 2, monkeypatch)
    inside = addresses(found)
    assert inside[0] == [0]
    assert inside[1] == [1]
    assert [3, 4] in inside
    assert inside[-1] == [6]
    assert found.loops == [range(1, len(inside) - 1)]
    assert found.stays(place(4), place(3))
    assert not found.stays(place(5), place(1))


def test_all_other_ways_lead_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ways into the middle of a loop, too: else a region would not be run that is to be."""
    ways = {0: [1, 4], 1: [2], 2: [3, 7], 3: [4], 4: [5, 1], 5: [6], 6: [2, 8], 7: [8], 8: []}
    for most in range(1, 9):
        found = outline(ways, most, monkeypatch)
        assert sorted(n for region in addresses(found) for n in region) == list(ways)
        for source, following in graph(ways).items():
            for target in following:
                if found.stays(source, target) or found.numbers[target] > found.numbers[source]:
                    continue
                regions = found.region_of(target), found.region_of(source)
                assert any(all(region in loop for region in regions) for loop in found.loops)


def test_what_is_nested_too_deep_is_not_outlined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlining, "MOST_IN_REGION", 1)
    ways = {n: [m for m in (n + 1, n - 1) if 0 <= m < 60] for n in range(60)}
    assert outlining.outline(graph(ways), {place(n): 1 for n in ways}, place(0)) is None
