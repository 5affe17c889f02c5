"""Fences of an original that its port lacks.

Memory operations of a wave are seen in their order on the emulator, so that no run shows what a
missing fence lets happen on a card: another workgroup sees a flag before the data behind it.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping

from cass_ray.corpus.parsing.lexer import significant_tokens

_FENCES = frozenset({"__threadfence", "__threadfence_system", "atomic_thread_fence"})
_OTHERS = frozenset(
    {
        *("__builtin_amdgcn_fence", "__hip_atomic_load", "__hip_atomic_store", "asm", "__asm__"),
        *("__ATOMIC_ACQUIRE", "__ATOMIC_RELEASE", "__ATOMIC_ACQ_REL", "__ATOMIC_SEQ_CST"),
        *("memory_order", "memory_order_acquire", "memory_order_release"),
        *("memory_order_acq_rel", "memory_order_seq_cst", "atomic_ref", "this_grid", "grid_group"),
    }
)
"""Whatever may order memory in a fence's place: what it orders is not looked at."""


def lost_fences(original: Mapping[str, bytes], port: Mapping[str, bytes]) -> str:
    """How ``port`` calls fewer fences than ``original``, in words, where nothing else in its text
    may order memory; else empty."""
    wanted, given = _names(original.values()), _names(port.values())
    most, least = (sum(names[fence] for fence in _FENCES) for names in (wanted, given))
    if not port or least >= most or any(given[name] for name in _OTHERS):
        return ""
    fence = min(name for name in _FENCES if wanted[name])
    return f"the original calls {fence}() and the like {most} times, the port {least} times"


def _names(contents: Iterable[bytes]) -> Counter[str]:
    return sum(map(_named, contents), Counter[str]())


@functools.lru_cache(maxsize=64)
def _named(content: bytes) -> Counter[str]:
    names = _FENCES | _OTHERS
    if not any(name.encode() in content for name in names):
        return Counter()
    text = content.decode("utf-8", "replace")
    return Counter(token.text for token in significant_tokens(text) if token.text in names)
