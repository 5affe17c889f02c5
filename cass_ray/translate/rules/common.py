"""What all files of a tree must be translated alike in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cass_ray.translate.protocol import Context
from cass_ray.translate.rules.engine import preferred_architecture
from cass_ray.translate.rules.guards import ARCHITECTURE_MACRO
from cass_ray.translate.rules.vectors import keeps_hips, uses_vectors


def with_common_choices(context: Context, sources: Iterable[tuple[str, str]]) -> Context:
    """``context`` with what follows from all files of its tree, given by name and text.

    One value of ``__CUDA_ARCH__``, the smallest that one of them needs: what one file declares for
    an architecture another one calls. One set of vector types, for they are parts of functions'
    names.
    """
    architectures: list[int] = []
    vectors = hips = False
    for name, text in sources:
        if ARCHITECTURE_MACRO in text:
            architectures.append(preferred_architecture(text, name, context))
        vectors = vectors or uses_vectors(text)
        hips = hips or keeps_hips(text)
    return replace(
        context,
        cuda_architecture=min(architectures, default=0),
        plain_vectors=vectors and not hips,
    )
