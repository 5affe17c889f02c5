"""Where the arguments of formats lie; offsets are worked out by hand."""

from __future__ import annotations

import pytest

from cass_ray.lift.lowering.flow.formatted_output import FormatArgument, arguments_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"plain, 100%%\n", []),
        (b"%d %c", [(0, 4, False), (4, 4, False)]),
        (b"%d%f", [(0, 4, False), (8, 8, False)]),
        (b"%hhd%hd%ld", [(0, 4, False), (4, 4, False), (8, 8, False)]),
        (b"%zu%td%jd%qd", [(n, 8, False) for n in (0, 8, 16, 24)]),
        (b"%*.*s|", [(0, 4, False), (4, 4, False), (8, 8, True)]),
        (b"%-+ #08.3lf%d%p", [(0, 8, False), (8, 4, False), (16, 8, False)]),
        (b"%d %", [(0, 4, False)]),
        (b"%k%d", [(0, 4, False)]),
    ],
)
def test_arguments_are_aligned_to_their_size(
    text: bytes, expected: list[tuple[int, int, bool]]
) -> None:
    assert arguments_of(text) == [FormatArgument(*each) for each in expected]
