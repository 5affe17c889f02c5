"""Rollouts in a process of their own: on another GPU, and beside the learner's interpreter."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from cass_ray.train.rl.rollouts import Question, Rollout, RolloutMaker, RolloutsLost

Make = Callable[[], RolloutMaker]


class RolloutProcess:
    """A :class:`~cass_ray.train.rl.rollouts.RolloutMaker` in a child process.

    ``make`` makes the maker there; it must be picklable. A process that dies is started again when
    it is next asked, with the last weights that it was given.
    """

    def __init__(self, make: Make) -> None:
        self._make = make
        memory = Path("/dev/shm")
        self._folder = tempfile.TemporaryDirectory(
            prefix="cass-rl-", dir=memory if memory.is_dir() else None
        )
        self._process: Any = None
        self._pipe: Connection | None = None

    @property
    def pid(self) -> int | None:
        """Of the child; None before the first question."""
        return None if self._process is None else self._process.pid

    @property
    def _weights(self) -> Path:
        return Path(self._folder.name) / "weights.pt"

    def use_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        kept = {name: tensor.detach().cpu() for name, tensor in weights.items()}
        part = self._weights.with_suffix(".part")
        torch.save(kept, part)
        part.replace(self._weights)
        if self._pipe is not None:
            self._ask("weights", str(self._weights))

    def rollouts(self, questions: Sequence[Question]) -> list[list[Rollout]]:
        if self._pipe is None:
            self._start()
        made: list[list[Rollout]] = self._ask("rollouts", list(questions))
        return made

    def greedy(self, questions: Sequence[Question]) -> list[Rollout]:
        """The likeliest answer to each of ``questions``. Raises :class:`RolloutsLost`."""
        if self._pipe is None:
            self._start()
        made: list[Rollout] = self._ask("greedy", list(questions))
        return made

    def _start(self) -> None:
        context = get_context("spawn")  # a fork of a process that uses CUDA cannot
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._make), daemon=True)
        self._process.start()
        theirs.close()
        if self._weights.exists():
            self._ask("weights", str(self._weights))

    def _ask(self, what: str, content: Any) -> Any:
        assert self._pipe is not None
        try:
            self._pipe.send((what, content))
            failed, answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            self._end()
            raise RolloutsLost(f"the process that makes rollouts died: {error!r}") from None
        if failed:
            raise RolloutsLost(answer)
        return answer

    def _end(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def close(self) -> None:
        """End the process."""
        self._end()
        self._folder.cleanup()


def _serve(pipe: Connection, make: Make) -> None:
    """Answer until the other side is gone."""
    maker: Any = None
    while True:
        try:
            what, content = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            maker = make() if maker is None else maker
            if what == "weights":
                maker.use_weights(torch.load(content, map_location="cpu", weights_only=True))
                pipe.send((False, None))
            else:
                pipe.send((False, getattr(maker, what)(content)))
        except Exception as error:
            pipe.send((True, repr(error)))
