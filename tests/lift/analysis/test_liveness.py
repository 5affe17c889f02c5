"""Which old values guarded instructions need."""

from __future__ import annotations

from cass_ray.lift.analysis.liveness import (
    CodePlace,
    LivenessBlock,
    RegisterAccess,
    live_at_starts,
    unneeded_old_values,
)

P0 = ("P0", False)
START: CodePlace = ("k", 0)


def access(guard: tuple[str, bool] | None, reads: str = "", writes: str = "") -> RegisterAccess:
    return RegisterAccess(guard, set(reads.split()), set(writes.split()))


def block(*accesses: RegisterAccess, successors: tuple[CodePlace, ...] = ()) -> LivenessBlock:
    placed = [(("k", 16 * n), each) for n, each in enumerate(accesses)]
    return LivenessBlock(placed, set(successors))


def unneeded_in(blocks: dict[CodePlace, LivenessBlock]) -> frozenset[tuple[CodePlace, str]]:
    return unneeded_old_values(blocks, live_at_starts(blocks))


def unneeded(*accesses: RegisterAccess) -> frozenset[tuple[CodePlace, str]]:
    return unneeded_in({START: block(*accesses)})


def test_a_value_read_under_the_same_guard_only() -> None:
    found = unneeded(access(P0, "R2", "R4"), access(P0, "R4 R6", "R6"), access(None, "R6"))
    assert (START, "R4") in found
    assert (("k", 16), "R6") not in found  # read afterwards by everyone


def test_a_value_read_without_a_guard_is_needed() -> None:
    assert unneeded(access(P0, "", "R4"), access(None, "R4")) == set()


def test_a_value_read_under_the_opposite_guard_is_needed() -> None:
    assert unneeded(access(P0, "", "R4"), access(("P0", True), "R4")) == set()


def test_a_guard_that_changes_in_between_is_another_one() -> None:
    found = unneeded(
        access(P0, "", "R4"), access(None, "R9", "P0"), access(P0, "R4", "R8"), access(None, "R8")
    )
    assert (START, "R4") not in found


def test_an_overwritten_value_is_dead() -> None:
    found = unneeded(access(P0, "", "R4"), access(None, "", "R4"), access(None, "R4"))
    assert (START, "R4") in found


def test_a_value_that_both_guards_overwrite_is_dead() -> None:
    under_p0, otherwise = access(P0, "", "R4"), access(("P0", True), "", "R4")
    found = unneeded(access(("P3", False), "", "R4"), under_p0, otherwise, access(None, "R4"))
    assert found == {(START, "R4"), (("k", 16), "R4")}


def test_a_value_that_one_guard_overwrites_and_the_other_reads_is_needed() -> None:
    found = unneeded(
        access(("P3", False), "", "R4"),
        access(P0, "", "R4"),
        access(("P0", True), "R4", "R4"),
        access(None, "R4"),
    )
    assert (START, "R4") not in found


def test_guards_that_change_in_between_do_not_overwrite_both_ways() -> None:
    found = unneeded(
        access(("P3", False), "", "R4"),
        access(P0, "", "R4"),
        access(None, "", "P0"),
        access(("P0", True), "", "R4"),
        access(None, "R4"),
    )
    assert found == set()


def test_what_the_next_block_reads_is_needed() -> None:
    second: CodePlace = ("k", 0x100)
    blocks = {
        START: block(access(P0, "", "R4 R5"), successors=(second,)),
        second: LivenessBlock([(second, access(None, "R4"))]),
    }
    assert unneeded_in(blocks) == {(START, "R5")}


def test_a_loop_needs_what_its_next_turn_reads() -> None:
    blocks = {START: block(access(None, "R4"), access(P0, "", "R4"), successors=(START,))}
    assert unneeded_in(blocks) == set()


def test_everything_is_needed_where_control_goes_nowhere_known() -> None:
    blocks = {START: LivenessBlock([(START, access(P0, "R4", "R4"))], set(), leaves_unknown=True)}
    assert unneeded_in(blocks) == set()
