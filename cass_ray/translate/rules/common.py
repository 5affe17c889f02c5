"""What all files of a tree must be translated alike in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from cass_ray.translate.protocol import Context
from cass_ray.translate.rules.engine import preferred_architecture
from cass_ray.translate.rules.guards import ARCHITECTURE_MACRO
from cass_ray.translate.rules.vectors import keeps_hips, uses_vectors

_RUNTIME = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:(hip/hip_runtime)|cuda(?:_runtime)?)(?:_api)?\.h[>\"]",
    re.MULTILINE,
)


def with_common_choices(context: Context, sources: Iterable[tuple[str, str]]) -> Context:
    """``context`` with what follows from all files of its tree, given by name and text.

    One value of ``__CUDA_ARCH__``, the smallest that one of them needs: what one file declares for
    an architecture another one calls. One set of vector types, for they are parts of functions'
    names: HIP's where most files that include a runtime's header are written in HIP.
    """
    architectures: list[int] = []
    vectors = hips = False
    in_hip = 0
    for name, text in sources:
        if ARCHITECTURE_MACRO in text:
            architectures.append(preferred_architecture(text, name, context))
        vectors = vectors or uses_vectors(text)
        hips = hips or keeps_hips(text)
        runtimes = set(_RUNTIME.findall(text))
        in_hip += len(runtimes - {""}) - len(runtimes & {""})
    return replace(
        context,
        cuda_architecture=min(architectures, default=0),
        plain_vectors=vectors and not hips and in_hip <= 0,
    )
