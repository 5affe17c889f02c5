"""The end of a long message is read from the start of a line."""

from __future__ import annotations

import pytest

from cass_ray.printable import last_lines


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("short\n", "short"),
        ("GPU arch : gfx942\nno file", "no file"),  # cut inside the first line
        ("one\ntwo and three", "two and three"),  # cut between both
        ("a line that is longer than that", "…er than that"),
        ("", ""),
    ],
)
def test_the_end_of_a_message_starts_with_a_line(text: str, end: str) -> None:
    assert last_lines(text, 13) == end
