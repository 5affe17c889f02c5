"""Memory that is held, beside memory that was."""

from __future__ import annotations

from benchmarks.measure.live_memory import LiveMemory

_MIB = 1 << 20


def test_what_was_let_go_is_in_the_peak_and_what_is_held_is_live() -> None:
    memory = LiveMemory()
    kept = bytearray(b"k") * (40 * _MIB)
    lost = bytearray(b"l") * (120 * _MIB)
    del lost
    memory.note()
    held = memory.last - memory.first
    assert 38 <= held <= 50
    assert memory.most == memory.last
    assert 118 <= memory.beyond <= 130
    del kept
    memory.note()
    assert memory.last <= memory.most - 38
    # The peak before this moment is no longer that of the first.
    assert memory.moments[-1].peak <= memory.most + 2
