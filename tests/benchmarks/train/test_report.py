"""The page of training throughput, of results that lie in several folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.train.report import page, read_run


def write(folder: Path, gpus: int, *rows: dict[str, Any]) -> None:
    folder.mkdir(parents=True)
    environment = {"gpu": "a card", "gpus": gpus, "versions": {"torch": "2"}, "command": "measure"}
    (folder / "environment.json").write_text(json.dumps(environment))
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def zero(system: str, gpus: int, rate: float, window: int = 16384) -> dict[str, Any]:
    return {
        "part": "", "system": system, "window": window, "gpus": gpus, "tokens_per_second": rate,
        "mfu": 0.4, "peak_gib": 1.0, "tokens_per_kwh": 1e6,
    }  # fmt: skip


def test_two_gpus_are_compared_with_one_of_the_same_run(tmp_path: Path) -> None:
    write(tmp_path / "old/all", 2, zero("ZeRO-3", 1, 10_000), zero("ZeRO-3", 2, 9_000))
    write(tmp_path / "new/one", 1, zero("ZeRO-3", 1, 8_000))
    write(tmp_path / "new/two", 2, zero("ZeRO-3, weights gathered once a pass", 2, 7_600))
    write(tmp_path / "new/long", 2, zero("ZeRO-3, rows shared", 2, 5_000, 65536))
    text = "\n".join(page([read_run(tmp_path / name) for name in ("old", "new")]))
    assert "Run 2: 2 a card" in text
    assert "| ZeRO-3 | 2 | 9,000 | 90.0% |" in text
    assert "| ZeRO-3, weights gathered once a pass | 2 | 7,600 | 95.0% |" in text
    assert "| ZeRO-3, rows shared | 2 | 5,000 | – |" in text
