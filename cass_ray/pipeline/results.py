"""The cache of compiler results that a build's settings ask for."""

from __future__ import annotations

from cass_ray.cache import ContentCache, results_directory
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.storage.store import Store
from cass_ray.storage.tiered import TieredCache


def result_cache(settings: BuildSettings) -> ContentCache | None:
    """This node's cache, with the shared one behind it where there is one; None where turned off.

    Raises :class:`~cass_ray.storage.errors.StorageError` for a URL that cannot be used.
    """
    if not settings.cache:
        return None
    if settings.shared_results is None:
        return ContentCache(results_directory())
    return TieredCache(results_directory(), Store(settings.shared_results))
