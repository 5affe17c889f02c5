"""Provided headers on the node that compiles: fetched where they are not there yet."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.toolchain.provided.errors import HeadersError
from cass_ray.toolchain.provided.store import HeaderStore, package_of_key
from cass_ray.translate.protocol import Translator


def provided_folders(keys: Iterable[str], translator: Translator | None) -> tuple[Path, ...]:
    """Folders for compilers of the packages ``keys``; with a translator, of the AMD side.

    What cannot be fetched is left out: the compiler says which header is missing.
    """
    del translator
    store = HeaderStore(default_directory())
    folders: list[Path] = []
    for key in keys:
        try:
            package = package_of_key(key)
            store.fetch(package)
        except HeadersError:
            continue
        folders += store.include_folders(package)
    return tuple(folders)
