"""AMD's suites on several cores: binaries are run in pieces, the one with the least time first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeVar

from benchmarks.emulator.amd_suites_report import Row

_SHARE = 4
"""A piece is at most this part of the cases that are left, so that several cores find work."""

Key = TypeVar("Key")


@dataclass(frozen=True)
class Budget:
    """Seconds of wall time: of a binary on a processor, of one piece of it, and of everything."""

    binary: float
    piece: float
    wall: float = float("inf")


@dataclass(frozen=True)
class Piece:
    """Cases that are run one after another, and how long; no cases: those are not listed yet."""

    names: tuple[str, ...]
    seconds: float


def next_piece(
    rows: Sequence[Row], running: Sequence[Piece], budget: Budget, left: float
) -> Piece | None:
    """What is run next of a binary of which ``rows`` are done; None where nothing can be.

    A case that was out of time is tried again, alone and three times as long, when no other is
    left and the binary has that time; ``left`` seconds remain of everything.
    """
    spent = sum(row.seconds for row in rows) + sum(piece.seconds for piece in running)
    seconds = min(budget.piece, budget.binary - spent, left)
    if seconds < 1:
        return None
    if not rows:
        return None if running else Piece((), seconds)
    tried = {name: case for row in rows for name, case in row.cases.items()}
    busy = {name for piece in running for name in piece.names}
    names = [name for name in rows[0].names if name not in tried and name not in busy]
    if names:
        return Piece(tuple(names[: -(-len(names) // _SHARE)]), seconds)
    late = {name: case for name, case in tried.items() if case.outcome == "out of time"}
    for name in late.keys() - busy:
        wanted = max(3 * late[name].seconds, min(budget.piece, seconds))
        if wanted <= min(budget.binary - spent, left):
            return Piece((name,), wanted)
    return None


def in_pieces(
    keys: Sequence[Key],
    run: Callable[[Key, Piece], Row],
    of: Callable[[Key], Iterable[Row]],
    budget: Budget,
    jobs: int,
) -> Iterator[Row]:
    """The rows of ``run``, ``jobs`` at a time, as they end.

    ``of`` gives the rows that a key has; what is yielded must be among them afterwards.
    """
    ends = time.monotonic() + budget.wall
    running: dict[Future[Row], tuple[Key, Piece]] = {}

    def candidates() -> Iterator[tuple[float, Key, Piece]]:
        for key in keys:
            mine, rows = [piece for its, piece in running.values() if its == key], list(of(key))
            if piece := next_piece(rows, mine, budget, ends - time.monotonic()):
                spent = sum(row.seconds for row in rows) + sum(one.seconds for one in mine)
                yield spent, key, piece

    with ThreadPoolExecutor(jobs) as pool:
        while True:
            while len(running) < jobs and (found := min(candidates(), key=_spent, default=None)):
                _, key, piece = found
                running[pool.submit(run, key, piece)] = (key, piece)
            if not running:
                return
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                del running[done]
                yield done.result()


def _spent(candidate: tuple[float, object, Piece]) -> float:
    return candidate[0]
