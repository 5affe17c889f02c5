"""Progress of a long job: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rich.console import Console
from rich.live import Live

_LINE_SECONDS = 10.0
# Before so much is measured an estimate says more about the start of workers than about the rows.
_MEASURED_SECONDS = 15.0


class Observer(Protocol):
    """Hears what :class:`Progress` hears."""

    def add(self, counts: Mapping[str, int]) -> None: ...

    def expect(self, rows: int) -> None: ...


class Progress:
    """The step, rows, pairs, rejects by reason, rate and time left. Use as a context manager."""

    def __init__(
        self, console: Console, clock: Any = time.monotonic, observers: Sequence[Observer] = ()
    ) -> None:
        self._console = console
        self._observers = observers
        self._clock = clock
        self._started = clock()
        self._printed = self._started
        self._first_result: tuple[float, int] | None = None
        self._step = ""
        self.total: int | None = None
        self.rows = 0
        self.pairs = 0
        self.compiled = 0
        self.to_compile = 0
        self.reasons: Counter[str] = Counter()
        # The time goes on while nothing is finished: the line is made anew for each refresh.
        self._live = Live(
            get_renderable=self._now, console=console, refresh_per_second=4, transient=True
        )

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()
        self._console.print(self.line(), highlight=False, soft_wrap=True)

    def step(self, doing: str) -> None:
        """What goes on from now: ``reading local:programs``, ``compiling``; empty at the end."""
        self._step = doing
        if doing and not self._console.is_terminal:
            self._printed = self._clock()
            self._console.print(self._now(), highlight=False, soft_wrap=True)

    def expect(self, to_compile: int, total: int) -> None:
        """All sources are read: ``total`` rows, of which ``to_compile`` need compilers."""
        self.total = total
        self.to_compile = to_compile
        for observer in self._observers:
            observer.expect(total)

    def add(self, counts: Mapping[str, int], compiled: bool = False) -> None:
        """Note finished rows: their ``pairs``, and ``reason-WHY`` of those that were rejected."""
        for observer in self._observers:
            observer.add(counts)
        prefix = "reason-"
        reasons = {
            name.removeprefix(prefix): count
            for name, count in counts.items()
            if name.startswith(prefix)
        }
        rows = counts.get("pairs", 0) + sum(reasons.values())
        self.rows += rows
        self.compiled += rows if compiled else 0
        self.pairs += counts.get("pairs", 0)
        self.reasons.update(reasons)
        now = self._clock()
        if compiled and rows and self._first_result is None:
            self._first_result = now, self.compiled
        if not self._console.is_terminal and now - self._printed >= _LINE_SECONDS:
            self._printed = now
            self._console.print(self._now(), highlight=False, soft_wrap=True)

    def _now(self) -> str:
        elapsed = _duration(float(self._clock()) - self._started)
        return " · ".join(part for part in (elapsed, self._step, self.line()) if part)

    def line(self) -> str:
        rows = f"{self.rows}/{self.total}" if self.total is not None else str(self.rows)
        parts = [f"rows {rows}", f"pairs {self.pairs}"]
        if self.reasons:
            top = ", ".join(f"{reason} {n}" for reason, n in self.reasons.most_common(4))
            parts.append(f"rejects {self.reasons.total()} ({top})")
        if (rate := self._rate()) is not None:
            parts.append(f"{rate:.2f} rows/s")
            if self.compiled < self.to_compile:
                left = (self.to_compile - self.compiled) / rate
                parts.append(f"about {_duration(left)} left")
        return " · ".join(parts)

    def _rate(self) -> float | None:
        """Compiled rows a second since the first were; ``None`` where too little is measured."""
        if self._first_result is None:
            return None
        started, rows = self._first_result
        elapsed = float(self._clock()) - started
        if elapsed < _MEASURED_SECONDS or self.compiled == rows:
            return None
        return (self.compiled - rows) / elapsed


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes else f"{rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
