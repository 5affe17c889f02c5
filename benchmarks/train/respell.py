# ruff: noqa: SIM905
"""Programs with other names: more pairs of the kind that people write, from the few there are.

A model that learned from one set of names has no reason to copy: it knows the names. Pairs whose
variables, functions and kernels bear invented names teach that what stands in the question is to
be written down again, letter by letter. Both sides of a pair are respelled alike.
"""

from __future__ import annotations

import random
import re
from collections import Counter

_WORD = re.compile(r"(?<![\w.\\%])[A-Za-z_]\w*")

_DECLARED = re.compile(
    r"\b(?:void|bool|char|short|int|long|unsigned|float|double|half|__half|auto|size_t|dim3|"
    r"u?int(?:8|16|32|64)_t|float[234]|double2|u?int[234]|struct|class|typename|T)"
    r"[\s*&]+(?:const\s+|__restrict__\s+)*([A-Za-z_]\w*)"
)
"""A type, and the name that it gives a meaning."""

_KEPT = frozenset(
    "main int long short char unsigned signed float double half void bool auto const constexpr "
    "static inline extern volatile struct class typename template operator return if else for "
    "while do switch case default break continue sizeof new delete using namespace std T".split()
)

_STARTS = (
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k kl l m n p pl pr r s sc sh sk sl sn sp st t tr "
    "v w z"
).split()
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "oo")
_ENDS = ("", "", "", "n", "r", "s", "t", "l", "m", "nd", "rk", "st", "x")


def own_names(cuda: str, hip: str) -> list[str]:
    """Names that the program itself declares and both sides use equally often."""
    left, right = (Counter(_WORD.findall(text)) for text in (cuda, hip))
    found = dict.fromkeys(_DECLARED.findall(cuda))
    return [
        name
        for name in found
        if name not in _KEPT
        and not name.startswith(("__", "cuda", "hip", "CUDA", "HIP"))
        and left[name] == right[name] > 0
    ]


def invented_name(chance: random.Random) -> str:
    """A word of no meaning, spelled in one of the usual styles."""
    parts = [
        chance.choice(_STARTS) + chance.choice(_VOWELS) + chance.choice(_ENDS)
        for _ in range(chance.choice((1, 1, 2, 2, 3)))
    ]
    style = chance.randrange(5)
    if style == 0:
        return "_".join(parts)
    if style == 1:
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    if style == 2:
        return "".join(part.capitalize() for part in parts)
    if style == 3:
        return f"{parts[0]}{chance.randrange(100)}"
    return "".join(parts)


def respell(cuda: str, hip: str, chance: random.Random) -> tuple[str, str]:
    """Both sides of a pair with invented names in place of half or more of the program's own."""
    taken = set(_WORD.findall(cuda)) | set(_WORD.findall(hip))
    names: dict[str, str] = {}
    share = chance.uniform(0.5, 1.0)
    for name in own_names(cuda, hip):
        if chance.random() > share:
            continue
        fresh = invented_name(chance)
        while fresh in taken:
            fresh = invented_name(chance)
        taken.add(fresh)
        names[name] = fresh

    def spell(match: re.Match[str]) -> str:
        return names.get(match.group(), match.group())

    return _WORD.sub(spell, cuda), _WORD.sub(spell, hip)
