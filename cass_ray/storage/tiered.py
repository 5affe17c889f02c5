"""Results by content that all nodes share, with each node's own cache in front."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cass_ray.cache import ContentCache
from cass_ray.checked_entry import DamagedEntry, is_sealed, opened, sealed, warn
from cass_ray.storage.errors import StorageError
from cass_ray.storage.store import Store

_LOG = logging.getLogger(__name__)

T = TypeVar("T")


class TieredCache(ContentCache):
    """A :class:`~cass_ray.cache.ContentCache` in ``directory`` before the entries in ``shared``.

    Whoever may write to ``shared`` decides results of every node. A store that fails makes results
    be computed again, never a row fail: it is reported once and left alone from then on.
    """

    def __init__(self, directory: Path, shared: Store) -> None:
        super().__init__(directory)
        self._shared: Store | None = shared

    def get(self, key: str) -> bytes | None:
        """The entry, from this node or else from the store; a damaged one counts as absent."""
        content = super().get(key)
        if content is not None:
            return content
        entry = self._asked(lambda store: store.read(_name(key)))
        if entry is None:
            return None
        try:
            content = opened(key, entry)
        except DamagedEntry:
            if is_sealed(entry):
                warn(_name(key))
            self._asked(lambda store: store.remove(_name(key)))
            return None
        super().put(key, content)
        return content

    def remove(self, key: str) -> None:
        """Forget the entry, on this node and for the others."""
        super().remove(key)
        self._asked(lambda store: store.remove(_name(key)))

    def put(self, key: str, value: bytes) -> None:
        """Store ``value`` on this node and for the others."""
        super().put(key, value)
        entry = sealed(key, value)
        self._asked(lambda store: store.put(_name(key), entry))

    def _asked(self, request: Callable[[Store], T]) -> T | None:
        if self._shared is None:
            return None
        try:
            return request(self._shared)
        except FileNotFoundError:
            return None
        except (StorageError, OSError) as error:
            _LOG.warning("shared results are not used any more: %s", error)
            self._shared = None
            return None


def _name(key: str) -> str:
    return f"{key[:2]}/{key}"
