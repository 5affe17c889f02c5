"""Memory samples of a real process, and growth by hand-made samples."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.measure.memory import Sample, growth_per_row, object_store_bytes, status_bytes

MIB = 1 << 20


def test_growth_leaves_the_start_out_and_counts_per_row() -> None:
    # 90 seconds for 900 rows: ten a second. A jump in the first third, then 1 KiB a row.
    samples = [
        Sample(float(second), 100 * MIB + (50 * MIB if second >= 20 else 0) + second * 10_240, 0)
        for second in range(91)
    ]
    assert growth_per_row(samples, 900) == pytest.approx(1024)


def test_too_short_a_run_is_refused() -> None:
    samples = [Sample(float(second), MIB, 0) for second in range(12)]
    with pytest.raises(ValueError, match="too short"):
        growth_per_row(samples, 100)


def test_resident_pages_of_a_process_are_read() -> None:
    before = status_bytes(os.getpid(), "RssAnon")
    held = b"\x01" * (32 * MIB)
    assert status_bytes(os.getpid(), "RssAnon") - before >= 31 * MIB
    assert len(held) == 32 * MIB


def test_the_object_store_is_what_was_touched_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "plasmaXYZ"
    with path.open("w+b") as store, path.open("rb"):  # held twice, counted once
        store.truncate(64 * MIB)
        store.seek(8 * MIB)
        store.write(b"\x01" * 4 * MIB)
        store.flush()
        path.unlink()  # as Ray does: the file lives on nameless
        assert 4 * MIB <= object_store_bytes(os.getpid()) < 5 * MIB


def test_a_file_that_is_closed_meanwhile_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = (tmp_path / "plasmaXYZ").open("w+b")
    store.write(b"\x01" * MIB)
    store.flush()
    listed = [Path(f"/proc/{os.getpid()}/fd/{number}") for number in (2**20, store.fileno())]
    monkeypatch.setattr(Path, "iterdir", lambda _: iter(listed))
    with store:
        assert object_store_bytes(os.getpid()) >= MIB


def test_a_process_that_is_gone_has_none() -> None:
    assert status_bytes(2**22 + 1, "RssAnon") == object_store_bytes(2**22 + 1) == 0
