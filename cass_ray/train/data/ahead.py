"""Items of an iterator made ahead of time by a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Ahead(Generic[Item]):
    """``items``, at most ``number`` of them ready; what their making raises is raised by ``next``.

    :meth:`stop` ends the thread; an item that is being made is finished first.
    """

    def __init__(self, items: Iterator[Item], number: int, name: str) -> None:
        self._items = items
        self._queue: queue.Queue[tuple[Item] | BaseException | None] = queue.Queue(number)
        self._stopped = threading.Event()
        threading.Thread(target=self._produce, name=name, daemon=True).start()

    def __iter__(self) -> Ahead[Item]:
        return self

    def __next__(self) -> Item:
        item = self._queue.get()
        if isinstance(item, BaseException):
            raise item
        if item is None:
            self._queue.put(None)  # and so for whoever asks again
            raise StopIteration
        return item[0]

    def stop(self) -> None:
        self._stopped.set()

    def _produce(self) -> None:
        try:
            for item in self._items:
                if not self._put((item,)):
                    return
            self._put(None)
        except BaseException as error:  # raised where the item is taken
            self._put(error)

    def _put(self, item: tuple[Item] | BaseException | None) -> bool:
        while not self._stopped.is_set():
            try:
                self._queue.put(item, timeout=1.0)
            except queue.Full:
                continue
            return True
        return False
