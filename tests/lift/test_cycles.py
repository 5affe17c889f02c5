"""Python's search for cycles is held back while something is lifted, and then is as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from cass_ray.lift.cycles import seldom_searched

_USUAL = (321, 12, 13)


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*_USUAL)
    yield
    gc.set_threshold(*before)


def test_it_is_rare_inside_and_as_before_behind() -> None:
    with seldom_searched():
        first, *others = gc.get_threshold()
        assert first > 100_000 and tuple(others) == _USUAL[1:]
        assert gc.isenabled()  # threads that lift without end do not fill the memory
    assert gc.get_threshold() == _USUAL


def test_of_several_the_last_one_sets_it_back() -> None:
    one, other = seldom_searched(), seldom_searched()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert gc.get_threshold()[0] > 100_000
    other.__exit__(None, None, None)
    assert gc.get_threshold() == _USUAL


def test_it_is_set_back_after_an_error() -> None:
    with pytest.raises(ValueError), seldom_searched():
        raise ValueError
    assert gc.get_threshold() == _USUAL


def test_what_never_searches_does_not_begin_to() -> None:
    gc.set_threshold(0)
    with seldom_searched():
        assert gc.get_threshold()[0] == 0
