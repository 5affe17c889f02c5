"""Writes what became of each row of data sets, finished or ended: reasons, and no code.

``python -m benchmarks.elsewhere.rows FOLDER OUT.jsonl`` writes a line for each data set
FOLDER/OWNER+NAME: ``name``, ``report`` (null where it was not finished), ``rows`` and ``said``, the
end of what its build printed to FOLDER/OWNER+NAME.log. Of a row there are the id (a digest),
repository, path, stage, reason (null for a pair) and the diagnostic's words from its first error
on; of one that was to be run also whether it has a ``main``, how far it was verified, and its
evidence's grade.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpus.repositories.rule import EXECUTED
from cass_ray.dataset.row import Reason
from cass_ray.execute.programs import has_main

_COLUMNS = ["id", "repository", "path", "stage", "reason", "diagnostic"]
_OF_RUNS = ["cuda_source", "verified", "executed", "evidence"]
_CHARACTERS = 900
_SAID_BYTES = 4000
_ERROR = re.compile(r"^.*\berror\b", re.MULTILINE | re.IGNORECASE)


def rows_of(data_set: Path, runs: bool = False) -> list[dict[str, Any]]:
    """The rows that builds of ``data_set`` committed, each once.

    ``runs``: also what became of them as programs.
    """
    columns = [*_COLUMNS, *(_OF_RUNS if runs else ())]
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(data_set.glob(".work/blocks-*/**/*.parquet")):
        try:
            table = pq.read_table(path, columns=columns)
        except (OSError, pa.ArrowInvalid):
            continue  # being written
        for row in table.to_pylist():
            row["diagnostic"] = _shortened(row["diagnostic"] or "", row["reason"])
            found[row["path"]] = _as_program(row) if runs else row
    return list(found.values())


def _shortened(said: str, reason: str | None) -> str:
    if reason == Reason.INTERNAL_ERROR:  # a traceback says what failed at its end
        return said[-_CHARACTERS:]
    error = _ERROR.search(said)  # nvcc's warnings come before it
    start = error.start() if error else 0
    return said[start : start + _CHARACTERS]


def _as_program(row: dict[str, Any]) -> dict[str, Any]:
    evidence = row.pop("evidence") or {}
    main = has_main([row.pop("cuda_source") or ""])
    return {**row, "main": main, "grade": evidence.get("grade") or ""}


def end_of_log(data_set: Path) -> str:
    """The end of what the build of ``data_set`` printed; empty where it kept no log."""
    log = data_set.with_name(f"{data_set.name}.log")
    return log.read_bytes()[-_SAID_BYTES:].decode("utf-8", "replace") if log.exists() else ""


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    with given.out.open("w", encoding="utf-8") as out:
        for data_set in sorted(path for path in given.folder.iterdir() if path.is_dir()):
            report = data_set / "report.json"
            line = {
                "name": data_set.name,
                "report": json.loads(report.read_text("utf-8")) if report.exists() else None,
                "rows": rows_of(data_set, data_set.name.endswith(f"+{EXECUTED}")),
                "said": end_of_log(data_set),
            }
            out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
