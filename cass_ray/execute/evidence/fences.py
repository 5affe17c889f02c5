"""Fences of an original that its port lacks.

Memory operations of a wave are seen in their order on the emulator, so that no run shows what a
missing fence lets happen on a card: another workgroup sees a flag before the data behind it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from cass_ray.corpus.parsing.lexer import significant_tokens

_OF_ORIGINALS = frozenset({"__threadfence", "__threadfence_system", "atomic_thread_fence"})
_OF_PORTS = _OF_ORIGINALS | {
    *("__builtin_amdgcn_fence", "__hip_atomic_load", "__hip_atomic_store", "asm", "__asm__"),
    *("__ATOMIC_ACQUIRE", "__ATOMIC_RELEASE", "__ATOMIC_ACQ_REL", "__ATOMIC_SEQ_CST"),
    *("memory_order", "memory_order_acquire", "memory_order_release"),
    *("memory_order_acq_rel", "memory_order_seq_cst", "atomic_ref", "this_grid", "grid_group"),
}
"""Whatever may order memory: what it orders is not looked at."""


def lost_fence(original: Mapping[str, bytes], port: Mapping[str, bytes]) -> str:
    """The fence that ``original`` calls, where nothing in ``port`` orders memory; else empty."""
    called = _names(original.values()) & _OF_ORIGINALS
    if not (called and port) or _names(port.values()) & _OF_PORTS:
        return ""
    return min(called)


def _names(contents: Iterable[bytes]) -> frozenset[str]:
    return frozenset().union(*map(_named, contents))


@functools.lru_cache(maxsize=64)
def _named(content: bytes) -> frozenset[str]:
    if not any(name.encode() in content for name in _OF_PORTS):
        return frozenset()
    text = content.decode("utf-8", "replace")
    return frozenset(token.text for token in significant_tokens(text)) & _OF_PORTS
