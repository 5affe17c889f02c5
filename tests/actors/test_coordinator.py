"""Which rows have used up their attempts."""

from __future__ import annotations

from actors.coordinator import ATTEMPTS, ATTEMPTS_WITH_NODES, Coordinator


def test_a_row_may_die_alone_so_often_and_no_more() -> None:
    coordinator = Coordinator(lambda: {"here"})
    assert all(coordinator.begin_row("amd", "row", "here") for _ in range(ATTEMPTS))
    assert not coordinator.begin_row("amd", "row", "here")
    assert coordinator.begin_row("nvidia", "row", "here")


def test_a_row_that_did_no_harm_begins_anew() -> None:
    coordinator = Coordinator(lambda: {"here"})
    for _ in range(ATTEMPTS + 1):
        assert coordinator.begin_row("amd", "row", "here")
        coordinator.end_row("amd", "row")


def test_a_try_that_was_lost_with_its_node_does_not_count() -> None:
    living = {"first", "second", "third", "fourth"}
    coordinator = Coordinator(lambda: living)
    for node in ("first", "second", "third"):
        assert coordinator.begin_row("amd", "row", node)
        living.remove(node)
    for _ in range(ATTEMPTS):
        assert coordinator.begin_row("amd", "row", "fourth")
    assert not coordinator.begin_row("amd", "row", "fourth")


def test_a_row_that_nodes_are_always_lost_with_ends() -> None:
    coordinator = Coordinator(set)
    for number in range(ATTEMPTS_WITH_NODES):
        assert coordinator.begin_row("amd", "row", f"node {number}")
    assert not coordinator.begin_row("amd", "row", "another")
