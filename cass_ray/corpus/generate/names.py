# ruff: noqa: SIM905
"""Names of generated programs: words, and never one twice."""

from __future__ import annotations

import random

KERNEL_VERBS = (
    "advance blend combine compress derive diffuse encode evaluate expand filter fold gather mix "
    "normalize permute project propagate reduce refine resample rotate scale scatter score shift "
    "smooth solve sweep transform update weigh"
).split()
KERNEL_NOUNS = (
    "blocks cells codes columns curves digits edges fields flows frames grains grid halos keys "
    "layers lines links marks nodes pairs paths phases pixels points rates records rows samples "
    "series signals slots sums tiles tokens tracks values waves weights"
).split()
ARRAYS = (
    "amounts base buffer coeffs counts data deltas density energy factors flags forces gains "
    "heights ids image index input items keys labels levels mass measures noise offsets ranks "
    "rates readings samples scores seeds signal sizes source speeds states steps table terms "
    "times values votes weights"
).split()
OUTPUTS = "dest next out output packed partial response result scaled target trace".split()
VARIABLES = (
    "a acc alpha b base beta bias bits c carry code cost count d delta diff drift e energy error "
    "f factor flow g gain gap h hash head key left level limit low m mass mid mix n0 offset p part "
    "phase pick power prev q r range rank rate ratio rest right s scale score seed sign size slope "
    "span speed state step sum t tail temp term top total trace u v value w weight width x y z"
).split()
FUNCTIONS = (
    "adjust bend blend bound combine decay fold hash_step interpolate kick limit measure merge mix "
    "nudge pack poly rate ramp score shape smooth spread tilt twist warp_value weigh"
).split()
STRUCTS = "Cell Edge Entry Item Node Pair Particle Record Sample State Vertex Window".split()
FIELDS = "a b count first hits key level low mass rank score second tag weight x y".split()

_TAKEN = frozenset(
    "n i x y width height T if do for int double float half long short char unsigned signed bool "
    "const switch case "
    "default return break continue while else struct template typename static extern void volatile "
    "min max abs rint exp log sin cos floor ceil main index warpSize y0 y1 j0 j1 time hash".split()
)


class Namer:
    """Gives names out; each only once, over functions and scopes alike."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._given: set[str] = set()

    def fork(self) -> Namer:
        """One that has given the same names out, and goes on by itself."""
        made = Namer(self._rng)
        made._given = set(self._given)
        return made

    def take(self, words: list[str]) -> str:
        """A word, with a number where it has been given before."""
        word = self._rng.choice(words)
        name, number = word, 1
        while name in self._given or name in _TAKEN:
            number += 1
            name = f"{word}{number}"
        self._given.add(name)
        return name

    def kernel(self) -> str:
        made = f"{self._rng.choice(KERNEL_VERBS)}_{self._rng.choice(KERNEL_NOUNS)}"
        return self.take([made])

    def variable(self) -> str:
        return self.take(VARIABLES)
