"""Rollouts in a process of their own: on another GPU, and beside the learner's interpreter."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, RLock, Thread
from typing import Any

import torch

from cass_ray.temporary import temporary_prefix
from cass_ray.train.rl.rollouts import EditQuestion, Rollout, RolloutGenerator
from cass_ray.train.rl.rollouts_lost import RolloutsLost

Make = Callable[[], RolloutGenerator]

_ITEM, _END, _FAILED = "item", "end", "failed"
_Said = tuple[str, Any]


class RolloutProcess:
    """A :class:`~cass_ray.train.rl.rollouts.RolloutGenerator` in a child process.

    ``make`` makes the maker there; it must be picklable. What several threads ask is with the maker
    at the same time. A process that dies costs what was asked of it, and is started again when it
    is next asked, with the last weights that it was given.
    """

    def __init__(self, make: Make) -> None:
        self._make = make
        memory = Path("/dev/shm")
        self._folder = tempfile.TemporaryDirectory(
            prefix=temporary_prefix("rl"), dir=memory if memory.is_dir() else None
        )
        self._child: _Child | None = None
        self._asking = RLock()

    @property
    def pid(self) -> int | None:
        """Of the child; None before the first question."""
        return None if self._child is None else self._child.pid

    @property
    def _weights(self) -> Path:
        return Path(self._folder.name) / "weights.pt"

    def use_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        _write(weights, self._weights)
        with self._asking:
            child = self._child
        if child is None:
            return
        try:
            list(child.ask("use_weights", self._weights))
        except RolloutsLost:
            if not child.is_lost:  # the next one begins with them
                raise

    def rollouts(self, questions: Sequence[EditQuestion]) -> Iterator[list[Rollout]]:
        return self._running().ask("rollouts", list(questions))

    def greedy(
        self, questions: Sequence[EditQuestion], weights: Mapping[str, torch.Tensor] | None = None
    ) -> list[Rollout]:
        """See :meth:`cass_ray.train.rl.rollouts.DecoderRollouts.greedy`. Raises
        :class:`RolloutsLost`."""
        path = None
        if weights is not None:
            path = Path(self._folder.name) / "greedy.pt"
            _write(weights, path)
        return list(self._running().ask("greedy", list(questions), path))

    def _running(self) -> _Child:
        with self._asking:
            if self._child is None or self._child.is_lost:
                self._end()
                self._child = _Child(self._make)
                if self._weights.exists():
                    list(self._child.ask("use_weights", self._weights))
            return self._child

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None

    def close(self) -> None:
        """End the process."""
        with self._asking:
            self._end()
        self._folder.cleanup()


class _Child:
    """A process that runs, and what is expected of it."""

    def __init__(self, make: Make) -> None:
        context = get_context("spawn")  # a fork of a process that uses CUDA cannot
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make), daemon=True)
        self._process.start()
        theirs.close()
        self._numbers = count()
        self._sending = Lock()
        self._expected: dict[int, SimpleQueue[_Said]] = {}
        self._problem = ""
        Thread(target=self._hear, name="cass-rl-hears", daemon=True).start()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def is_lost(self) -> bool:
        return bool(self._problem)

    def ask(self, what: str, *content: Any) -> Iterator[Any]:
        """Asked at once; what the maker says to it, as it comes. Raises :class:`RolloutsLost`."""
        said: SimpleQueue[_Said] = SimpleQueue()
        with self._sending:
            number = next(self._numbers)
            self._expected[number] = said
            try:
                if self._problem:
                    raise EOFError(self._problem)
                self._pipe.send((number, what, content))
            except (EOFError, OSError) as error:
                self._lose(error)
        return _told(said)

    def _hear(self) -> None:
        while True:
            try:
                number, what, content = self._pipe.recv()
            except (EOFError, OSError, TypeError) as error:  # the last: closed while it was read
                with self._sending:
                    self._lose(error)
                return
            expected = self._expected.get(number)
            if expected is not None:
                expected.put((what, content))
            if what != _ITEM:
                self._expected.pop(number, None)

    def _lose(self, error: Exception) -> None:
        """Tell all who wait; with ``_sending``."""
        self._problem = f"the process that makes rollouts died: {error!r}"
        for said in self._expected.values():
            said.put((_FAILED, self._problem))
        self._expected.clear()

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _told(said: SimpleQueue[_Said]) -> Iterator[Any]:
    while True:
        what, content = said.get()
        if what == _FAILED:
            raise RolloutsLost(content)
        if what == _END:
            return
        yield content


def _write(weights: Mapping[str, torch.Tensor], path: Path) -> None:
    part = path.with_suffix(".part")
    torch.save({name: tensor.detach().cpu() for name, tensor in weights.items()}, part)
    part.replace(path)


def _read(path: Path) -> dict[str, torch.Tensor]:
    result: dict[str, torch.Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    return result


def _serve(pipe: Connection, make: Make) -> None:
    """Answer until the other side is gone; each question in a thread of its own."""
    sending = Lock()
    maker: Any = None

    def send(number: int, what: str, content: Any = None) -> None:
        with sending:
            pipe.send((number, what, content))

    def answer(number: int, what: str, content: Sequence[Any]) -> None:
        try:
            given = [_read(each) if isinstance(each, Path) else each for each in content]
            for item in getattr(maker, what)(*given) or ():
                send(number, _ITEM, item)
        except Exception as error:
            send(number, _FAILED, repr(error))
        else:
            send(number, _END)

    while True:
        try:
            number, what, content = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            maker = make() if maker is None else maker
        except Exception as error:
            send(number, _FAILED, repr(error))
            continue
        Thread(target=answer, args=(number, what, content), daemon=True).start()
