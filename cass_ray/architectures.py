"""The targets that cass-ray knows, once: names, wavefronts, what each needs, what runs it here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cass_ray.csv_tables import read_mapping
from cass_ray.nearest import nearest


@dataclass(frozen=True)
class NvidiaTarget:
    """An Nvidia processor as ``nvcc -arch`` names it."""

    name: str
    family: str

    @property
    def number(self) -> int:
        """80 for sm_80: compute capability 8.0."""
        return int(self.name.removeprefix("sm_"))


NVIDIA_TARGETS: tuple[NvidiaTarget, ...] = (
    NvidiaTarget("sm_75", "Turing"),
    NvidiaTarget("sm_80", "Ampere"),
    NvidiaTarget("sm_86", "Ampere"),
    NvidiaTarget("sm_87", "Ampere"),
    NvidiaTarget("sm_88", "Ampere"),
    NvidiaTarget("sm_89", "Ada Lovelace"),
    NvidiaTarget("sm_90", "Hopper"),
    NvidiaTarget("sm_100", "Blackwell"),
    NvidiaTarget("sm_103", "Blackwell"),
    NvidiaTarget("sm_110", "Blackwell"),
    NvidiaTarget("sm_120", "Blackwell"),
    NvidiaTarget("sm_121", "Blackwell"),
)
"""Machine code (SASS) of these is aligned and lifted. Which of them it is made for is a matter of
the nvcc that a machine has (``NvidiaToolchain.targets``)."""

NVIDIA_ARCHITECTURES = tuple(target.name for target in NVIDIA_TARGETS)

DEFAULT_NVIDIA_ARCHITECTURE = "sm_80"

_RDNA = (32, 64)
_CDNA = (64,)

OWN_DEVICE_LIBRARIES = "clang for AMDGPU and the HIP headers"
NEWER_CLANG = "clang 20 or newer for AMDGPU and the HIP headers"
ROCM_DEVICE_LIBRARIES = "ROCm's device libraries"


@dataclass(frozen=True)
class AmdTarget:
    """An AMD processor as ``--offload-arch`` names it."""

    name: str
    family: str
    wave_widths: tuple[int, ...]
    """Lanes of a wavefront; the first is what HIP compiles for."""
    needs: str = OWN_DEVICE_LIBRARIES
    """What a machine must have to compile for it."""
    oldest_clang: int = 18
    """The first major version of clang that knows it."""
    emulated: bool = False
    """Whether the CPU backend executes its code objects."""
    offered: bool = False
    """Whether the HTTP API lists it."""
    read_as: str = ""
    """An older target as which a clang that does not know it reads sources, for another LLVM to
    make the code (:mod:`cass_ray.toolchain.amd.second_llvm`): what headers say of both is the
    same."""
    tested_as: str = ""
    """The nearest target that the CPU backend executes; empty where it executes this one."""

    @property
    def code_object(self) -> str:
        """The target identifier in its code objects (``.amdgcn_target``)."""
        return f"amdgcn-amd-amdhsa--{self.name}"


AMD_TARGETS: tuple[AmdTarget, ...] = (
    AmdTarget("gfx1100", "RDNA 3", _RDNA, emulated=True, offered=True),
    AmdTarget("gfx1101", "RDNA 3", _RDNA, offered=True, tested_as="gfx1100"),
    AmdTarget("gfx1102", "RDNA 3", _RDNA, offered=True, tested_as="gfx1100"),
    AmdTarget("gfx1103", "RDNA 3", _RDNA, tested_as="gfx1100"),
    AmdTarget("gfx1150", "RDNA 3.5", _RDNA, tested_as="gfx1100"),
    AmdTarget("gfx1151", "RDNA 3.5", _RDNA, tested_as="gfx1100"),
    AmdTarget("gfx1030", "RDNA 2", _RDNA, ROCM_DEVICE_LIBRARIES, offered=True, tested_as="gfx1100"),
    AmdTarget("gfx906", "GCN 5", _CDNA, ROCM_DEVICE_LIBRARIES, tested_as="gfx90a"),
    AmdTarget("gfx908", "CDNA 1", _CDNA, ROCM_DEVICE_LIBRARIES, tested_as="gfx90a"),
    AmdTarget("gfx90a", "CDNA 2", _CDNA, emulated=True, offered=True),
    AmdTarget("gfx942", "CDNA 3", _CDNA, emulated=True, offered=True),
    AmdTarget(
        "gfx950",
        "CDNA 4",
        _CDNA,
        NEWER_CLANG,
        oldest_clang=20,
        emulated=True,
        read_as="gfx942",
    ),
    AmdTarget("gfx1200", "RDNA 4", _RDNA, emulated=True),
    AmdTarget("gfx1201", "RDNA 4", _RDNA, emulated=True, offered=True),
)
"""In the order in which they are shown."""

AMD_ARCHITECTURES = tuple(target.name for target in AMD_TARGETS)

DEFAULT_AMD_ARCHITECTURE = AMD_ARCHITECTURES[0]


def emulated_architectures() -> tuple[str, ...]:
    """Those whose code the CPU backend executes, the default first."""
    return tuple(target.name for target in AMD_TARGETS if target.emulated)


def amd_target(name: str) -> AmdTarget:
    """The target called ``name``. Raises ``ValueError`` that names the nearest one."""
    known_architecture(name, AMD_ARCHITECTURES)
    return next(target for target in AMD_TARGETS if target.name == name)


def wavefronts_of(architectures: Iterable[str]) -> tuple[int, ...]:
    """The widths that HIP compiles for on these targets, the narrowest first.

    Raises ``ValueError`` for an unknown one.
    """
    return tuple(sorted({amd_target(name).wave_widths[0] for name in architectures}))


def known_architecture(name: str, known: Iterable[str]) -> str:
    """``name`` where ``known`` has it.

    Raises ``ValueError`` that says what works for a target that is known elsewhere, and names the
    nearest one for others.
    """
    names = list(known)
    if name not in names:
        raise ValueError(
            _of_another_maker(name, names)
            or _not_run(name, names)
            or f"unknown architecture {name}: {known_instead(name, names)}"
        )
    return name


def _of_another_maker(name: str, names: Sequence[str]) -> str:
    """The message for an Nvidia processor where AMD's are wanted, or the other way round."""
    for maker, own, other, others in (
        ("Nvidia", NVIDIA_ARCHITECTURES, "AMD", AMD_ARCHITECTURES),
        ("AMD", AMD_ARCHITECTURES, "Nvidia", NVIDIA_ARCHITECTURES),
    ):
        if name in own and set(names) <= set(others):
            examples = ", ".join(shown_with_cards(each, most=1) for each in names)
            shown = shown_with_cards(name)
            return f"{shown} is made by {maker}; give a card or processor of {other}'s: {examples}"
    return ""


def _not_run(name: str, names: Sequence[str]) -> str:
    """The message for a target that is compiled for, where only those that are run are wanted."""
    target = next((each for each in AMD_TARGETS if each.name == name), None)
    if target is None or target.tested_as not in names:
        return ""
    return (
        f"{shown_with_cards(name)} is compiled for, not run: test as "
        f"{shown_with_cards(target.tested_as, most=1)}, the nearest that is run; "
        f"`cass compile FILE.hip --arch {name}` needs {target.needs}"
    )


def shown_with_cards(architecture: str, most: int = 4) -> str:
    """The name, and up to ``most`` cards that have it in brackets."""
    cards = cards_of(architecture)[:most]
    return f"{architecture} ({', '.join(cards)})" if cards else architecture


_SM = re.compile(r"sm_?(\d+)")


def known_instead(name: str, known: Iterable[str]) -> str:
    """A phrase for an error message: the nearest of ``known`` to ``name``, and all of them.

    Nvidia's are near by their numbers, the older of two that are as near; others by their letters.
    """
    names = list(known)
    given = _SM.match(name)
    numbered = {each: int(found[1]) for each in names if (found := _SM.match(each))}
    match = nearest(name, names)
    if given is not None and numbered:
        number = int(given[1])
        match = min(numbered, key=lambda each: (abs(numbered[each] - number), numbered[each]))
    hint = f"did you mean `{match}`? " if match else ""
    return f"{hint}known: {', '.join(names)}"


CARDS: dict[str, str] = {
    card: architecture
    for architecture, names in read_mapping(Path(__file__).with_name("cards.csv")).items()
    for card in names.split()
}
"""Card -> its processor, that of older ones too, which no target is. Sources: AMD's "GPU hardware
specifications" of ROCm, Nvidia's "CUDA GPU Compute Capability"."""

_ARCHITECTURE = re.compile(r"(gfx|sm|compute|native)")
_MAKERS = re.compile(r"^(amd|nvidia|radeon|instinct|geforce|tesla|pro|ai)+(?=[a-z]*\d)")


def architectures_and_cards() -> tuple[str, ...]:
    """Names that ``--arch`` takes: each target, and each card whose processor is a target."""
    targets = (*AMD_ARCHITECTURES, *NVIDIA_ARCHITECTURES)
    return (*targets, *(card for card, has in CARDS.items() if has in targets))


def architecture_named(name: str) -> str:
    """The processor of a card (``mi300x``, ``RTX 4090``); what is named like one as it is.

    Raises ``ValueError`` that names the nearest card or processor. Whether the processor is one
    that cass-ray knows is not asked here.
    """
    plain = re.sub(r"[\s_-]", "", name.lower())
    if _ARCHITECTURE.match(name):
        return name
    processor = CARDS.get(plain) or CARDS.get(_MAKERS.sub("", plain))
    if processor is None:
        match = nearest(plain, [*CARDS, *AMD_ARCHITECTURES, *NVIDIA_ARCHITECTURES])
        hint = (
            f"did you mean `{match}`?" if match else "known: names as mi300x, h100, gfx942, sm_90"
        )
        raise ValueError(f"unknown card or architecture {name}: {hint}")
    if processor not in AMD_ARCHITECTURES and processor not in NVIDIA_ARCHITECTURES:
        raise ValueError(
            f"{name} has {processor}, an architecture older than cass-ray knows; the oldest is "
            f"{NVIDIA_ARCHITECTURES[0]}"
        )
    return processor


def cards_of(architecture: str) -> tuple[str, ...]:
    """Cards with this processor, by the names that :func:`architecture_named` takes."""
    return tuple(card for card, processor in CARDS.items() if processor == architecture)
