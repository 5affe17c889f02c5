"""Work that goes on in one thread, and calls that are made there between two pieces of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

from cass_ray.train.rl.rollouts_lost import RolloutsLost

T = TypeVar("T")


class WorkerThread:
    """Runs ``work`` again and again while it returns that there is more; else waits for a call.

    What others call runs in that thread, in the order in which it came, and before the next piece
    of work: who steps a decoder all the time cannot keep new weights waiting.
    """

    def __init__(self, work: Callable[[], bool], name: str) -> None:
        self._work, self._name, self._open = work, name, True
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._started = Lock()
        self._thread: Thread | None = None

    def call(self, function: Callable[[], T]) -> T:
        """What ``function`` returns, or the exception that it raises."""
        with self._started:
            if self._thread is None:
                self._thread = Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
        result: Future[T] = Future()
        self._calls.put((result, function))
        return result.result()

    def close(self) -> None:
        """Waits for the calls that were made and ends the thread; no call may follow."""
        self.call(self._end)
        if self._thread is not None:
            self._thread.join()

    def _end(self) -> None:
        self._open = False

    def _run(self) -> None:
        more = False
        while self._open:
            try:
                future, function = self._calls.get(block=not more)
            except Empty:
                more = self._work()
                continue
            try:
                future.set_result(function())
            except Exception as error:
                future.set_exception(error)
            more = True  # there may be


def merged(streams: Sequence[Iterator[T]]) -> Iterator[T]:
    """What any of ``streams`` gives, as it comes.

    A stream that raises :class:`RolloutsLost` costs what it had not given yet; where all do and
    none gave anything, it is raised.
    """
    queue: SimpleQueue[tuple[str, Any]] = SimpleQueue()

    def follow(stream: Iterator[T]) -> None:
        try:
            for item in stream:
                queue.put(("item", item))
        except RolloutsLost as error:
            queue.put(("lost", str(error)))
        except BaseException as error:
            queue.put(("failed", error))
        else:
            queue.put(("end", None))

    for stream in streams:
        Thread(target=follow, args=(stream,), name="cass-rl-stream", daemon=True).start()
    left, given, problems = len(streams), 0, list[str]()
    while left:
        what, content = queue.get()
        if what == "item":
            given += 1
            yield content
            continue
        left -= 1
        if what == "lost":
            problems.append(content)
        elif what == "failed":
            raise content
    if problems and not given:
        raise RolloutsLost(f"no worker drew answers: {'; '.join(problems)}")
