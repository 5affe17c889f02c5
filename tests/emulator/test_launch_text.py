"""Launches as text, read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_ray.emulator.launches import Launch, parse_launch

_SIZES = st.tuples(*[st.integers(1, 2**31)] * 3)
_COUNTS = st.integers(1)


@given(
    st.builds(
        Launch,
        st.text("aZ_9<>() ,×", min_size=1),
        _SIZES,
        _SIZES,
        st.integers(0, 2**16),
        st.integers(1),
        st.booleans(),
    )
)
def test_what_is_written_is_read_back(launch: Launch) -> None:
    assert parse_launch(launch.format()) == launch


def test_anything_else_is_refused() -> None:
    with pytest.raises(ValueError, match="not a launch"):
        parse_launch("add <<<1, 2>>>")
