"""The files of a build for nodes that do not see the driver's folders."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from cass_ray.storage.store import Files, Store


class FilesActor:
    """A store, served from the node that has it."""

    def __init__(self, url: str) -> None:
        self._store = Store(url)

    def call(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """What ``method`` of the store returns or raises."""
        return getattr(self._store, method)(*arguments)


class RemoteFiles:
    """:class:`~cass_ray.storage.store.Files` of a :class:`FilesActor`, by its name."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._actor = ray.get_actor(name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels to other processes as names alone."""
        return (RemoteFiles, (self._url, self._name))

    @property
    def url(self) -> str:
        """The URL by which the driver knows the folder."""
        return self._url

    def put(self, path: str, content: bytes) -> None:
        self._call("put", path, content)

    def create(self, path: str, content: bytes) -> bytes:
        return bytes(self._call("create", path, content))

    def read(self, path: str) -> bytes:
        return bytes(self._call("read", path))

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        return dict(self._call("read_all", list(paths)))

    def exists(self, path: str) -> bool:
        return bool(self._call("exists", path))

    def names(self, folder: str) -> list[str]:
        return list(self._call("names", folder))

    def remove(self, path: str) -> None:
        self._call("remove", path)

    def remove_all(self, folder: str) -> None:
        self._call("remove_all", folder)

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            return ray.get(self._actor.call.remote(method, arguments))
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None


def reachable(store: Store) -> Files:
    """``store`` as every node of the cluster can use it.

    A folder is served by an actor on this node, unless all nodes are on this machine; it lives as
    long as this job.
    """
    if not store.is_folder or len({node["NodeManagerHostname"] for node in ray.nodes()}) == 1:
        return store
    name = f"files-{uuid.uuid4().hex}"
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor = (
        ray.remote(FilesActor)
        .options(name=name, num_cpus=0, max_concurrency=16, scheduling_strategy=here)
        .remote(store.url)
    )
    _served.append(actor)
    return RemoteFiles(store.url, name)


_served: list[Any] = []
"""Handles: an actor ends with the last of its."""
