"""Which kernels both sides have: SASS and RDNA3 of one program, matched by name.

Equal mangled names match, as do those of which one says ``static``. Else names are compared
demangled, after vendor spellings of the same type have become one (``HIP_vector_type<float, 4u>``
is ``float4``, a texture object is an integer on one side and a pointer on the other), then without
the parameters of functions among template arguments. What is left matches by name and template
arguments, then by name alone, but only where a spelling that belongs to one vendor explains the
difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from cass_ray.assembly import rdna3, sass
from cass_ray.assembly.demangle import demangle_all
from cass_ray.assembly.signatures import Signature


class KernelPair(NamedTuple):
    """One kernel on both sides: readable name, and the mangled name of each side."""

    name: str
    nvidia: str
    amd: str


@dataclass(frozen=True)
class Alignment:
    """Kernels on both sides and on one; ``only_…`` and ``library_…`` hold mangled names."""

    pairs: list[KernelPair]
    only_nvidia: list[str] = field(default_factory=list)
    only_amd: list[str] = field(default_factory=list)
    library_nvidia: list[str] = field(default_factory=list)
    """Unmatched kernels that a vendor's library brought in (CUB, Thrust, …): no difference."""
    library_amd: list[str] = field(default_factory=list)

    @property
    def common(self) -> list[str]:
        """Readable names of the kernels on both sides, in the order of the RDNA3 text."""
        return [pair.name for pair in self.pairs]

    @property
    def only_libraries(self) -> bool:
        """Whether both sides have kernels, all of them libraries' and none the other's."""
        own = self.pairs or self.only_nvidia or self.only_amd
        return bool(not own and self.library_nvidia and self.library_amd)

    @property
    def kernels_differ(self) -> bool:
        """Whether a kernel of the program is on one side only."""
        return bool(self.only_nvidia or self.only_amd)


def align_kernels(sass_text: str, rdna3_text: str) -> Alignment:
    """Match the kernels of a SASS listing (any form) with those of an RDNA3 assembly file."""
    return align_names(sass.kernel_names(sass_text), rdna3.kernel_names(rdna3_text))


def align_names(nvidia: Iterable[str], amd: Iterable[str]) -> Alignment:
    """Match mangled kernel names; the order of ``amd`` is the order of the pairs."""
    nvidia_left = {name: Signature(name) for name in nvidia}
    amd_left = {name: Signature(name) for name in amd}
    # Those that need a process of their own get one together.
    demangle_all(signature.plain for signature in (*nvidia_left.values(), *amd_left.values()))
    order = {name: position for position, name in enumerate(amd_left)}
    matched: list[tuple[Signature, Signature]] = []
    for reading in _READINGS:
        for pair in _match(nvidia_left.values(), amd_left.values(), reading):
            matched.append(pair)
            del nvidia_left[pair[0].mangled]
            del amd_left[pair[1].mangled]
    matched.sort(key=lambda pair: order[pair[1].mangled])
    return Alignment(
        pairs=_named(matched),
        only_nvidia=[s.mangled for s in nvidia_left.values() if not s.is_library],
        only_amd=[s.mangled for s in amd_left.values() if not s.is_library],
        library_nvidia=[s.mangled for s in nvidia_left.values() if s.is_library],
        library_amd=[s.mangled for s in amd_left.values() if s.is_library],
    )


class _Reading(NamedTuple):
    """What two names are compared by."""

    key: Callable[[Signature], str]
    needs_vendor_spelling: bool
    """Match only where a vendor's own spelling accounts for what the key leaves out."""
    single: bool = False
    """Match only where one kernel of each side has the key."""


_READINGS = (
    _Reading(lambda signature: signature.mangled, False),
    _Reading(lambda signature: signature.plain, False),
    _Reading(lambda signature: signature.canonical, False),
    _Reading(lambda signature: signature.with_bare_functions, False, single=True),
    _Reading(lambda signature: signature.template, True),
    _Reading(lambda signature: signature.base, True),
)


def _match(
    nvidia: Iterable[Signature], amd: Iterable[Signature], reading: _Reading
) -> list[tuple[Signature, Signature]]:
    """Pairs with equal keys; as many on each side of one key pair up in sorted order."""
    groups: dict[str, tuple[list[Signature], list[Signature]]] = defaultdict(lambda: ([], []))
    for side, signatures in enumerate((nvidia, amd)):
        for signature in signatures:
            groups[reading.key(signature)][side].append(signature)
    matched: list[tuple[Signature, Signature]] = []
    for ours, theirs in groups.values():
        if len(ours) != len(theirs) or (reading.single and len(ours) > 1):
            continue
        ours.sort(key=lambda signature: signature.canonical)
        theirs.sort(key=lambda signature: signature.canonical)
        matched += [
            pair
            for pair in zip(ours, theirs, strict=True)
            if not reading.needs_vendor_spelling or any(s.has_vendor_spelling for s in pair)
        ]
    return matched


def _named(matched: list[tuple[Signature, Signature]]) -> list[KernelPair]:
    """Pairs under the shortest readable name that tells them apart."""
    templates = Counter(amd.template for _, amd in matched)
    return [
        KernelPair(
            amd.template if templates[amd.template] == 1 else amd.canonical,
            nvidia.mangled,
            amd.mangled,
        )
        for nvidia, amd in matched
    ]
