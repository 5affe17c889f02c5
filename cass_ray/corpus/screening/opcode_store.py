"""Opcode sets of the benchmark's programs, kept with the code so that no build compiles them.

``python -m cass_ray.commands.opcode_store`` makes the file anew; programs whose source has not
changed are not compiled again. A program that is not in it is compared by source only, and the
report of a build says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from cass_ray.corpus.dedup.shingles import Hashes
from cass_ray.corpus.screening.evaluation import EvaluationProgram

STORE = Path(__file__).with_name("benchmark_opcodes.npz")


def stored_opcodes(program: EvaluationProgram) -> Hashes | None:
    """The set of ``program``; empty where it is too small to tell anything, None where unknown."""
    return _loaded().get(source_key(program)) if program.source else None


def source_key(program: EvaluationProgram) -> str:
    """The key of a program in the store: SHA-256 (hexadecimal) of its source."""
    return hashlib.sha256(program.source.encode("utf-8", "surrogatepass")).hexdigest()


def read_store(path: Path = STORE) -> dict[str, Hashes]:
    """Sets by :func:`source_key`; empty without a file."""
    if not path.exists():
        return {}
    with np.load(path) as stored:
        digests, lengths, hashes = stored["digests"], stored["lengths"], stored["hashes"]
    ends = np.cumsum(lengths)
    return {
        digest.tobytes().hex(): hashes[end - length : end]
        for digest, length, end in zip(digests, lengths, ends, strict=True)
    }


def write_store(sets: Mapping[str, Hashes], path: Path = STORE) -> None:
    """Write ``sets``, in the order of their keys."""
    keys = sorted(sets)
    digests = np.array([list(bytes.fromhex(key)) for key in keys], np.uint8).reshape(-1, 32)
    np.savez_compressed(
        path,
        digests=digests,
        lengths=np.array([len(sets[key]) for key in keys], np.int64),
        hashes=np.concatenate([np.empty(0, np.uint32), *(sets[key] for key in keys)]),
    )


@cache
def _loaded() -> dict[str, Hashes]:
    return read_store()
