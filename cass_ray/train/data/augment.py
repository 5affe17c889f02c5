# ruff: noqa: SIM905
"""One pair seen in other ways: invented names, a part of the file, other names of the API.

Each function takes both sides as lines and gives both sides as lines, so that what they do can be
combined; all chance comes from the generator that is handed in.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cass_ray.corpus.generate.invented import invented_name
from cass_ray.llm.line_edits import Region

Sides = tuple[list[str], list[str]]

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
_FOREIGN = (
    "größe", "résultat", "наибольшее", "数据", "カーネル", "vérifié", "año", "średnia", "→",
    "≤ 1e-6", "µs", "…", "✓", "“ok”", "θ", "λ = 0.5", "50 °C", "中文注释", "é", "ß", "—",
)  # fmt: skip


def own_names(cuda: Sequence[str], hip: Sequence[str]) -> list[str]:
    """Names that the program declares itself and both sides use equally often."""
    left, right = (Counter(_WORD.findall("\n".join(side))) for side in (cuda, hip))
    return [
        name
        for name in dict.fromkeys(_DECLARED.findall("\n".join(cuda)))
        if name not in _KEPT
        and not name.startswith(("__", "cuda", "hip", "CUDA", "HIP"))
        and left[name] == right[name] > 0
    ]


_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_VENDOR = re.compile(r"CUDA|Cuda|cuda|(?<![A-Za-z])CU(?=_)")
_OTHER_VENDOR = {"CUDA": "HIP", "Cuda": "Hip", "cuda": "hip", "CU": "HIP"}


def as_written_for_hip(cuda: Sequence[str], hip: Sequence[str]) -> Sides:
    """Names of the program's own that name CUDA name HIP, on both sides: ``CUDA_CHECK``,
    ``HIP_CHECK``.

    HIP programs that the rules made never have such names; those that people wrote do, and a model
    that saw none takes them for names of the API and translates some of their uses.
    """
    text = "\n".join(cuda)
    left, right = (Counter(_WORD.findall("\n".join(side))) for side in (cuda, hip))
    names = dict[str, str]()
    for name in dict.fromkeys([*_DEFINED.findall(text), *_DECLARED.findall(text)]):
        other = _VENDOR.sub(lambda match: _OTHER_VENDOR[match[0]], name)
        in_use = left[other] or right[other] or other in names.values()
        if other != name and not in_use and left[name] == right[name] > 0:
            names[name] = other
    return renamed(cuda, names), renamed(hip, names)


def respell(cuda: Sequence[str], hip: Sequence[str], chance: random.Random) -> Sides:
    """Invented names in place of a share of :func:`own_names`.

    A model that learned from one set of names has no reason to copy: it knows the names. Invented
    ones teach that what stands in the question is written down again, letter by letter.
    """
    names = invented_names(cuda, hip, chance)
    return renamed(cuda, names), renamed(hip, names)


def invented_names(
    cuda: Sequence[str], hip: Sequence[str], chance: random.Random
) -> dict[str, str]:
    """What :func:`respell` writes instead of which names: nothing that either side has already."""
    taken = {word for side in (cuda, hip) for line in side for word in _WORD.findall(line)}
    names = dict[str, str]()
    share = chance.uniform(0.3, 1.0)
    for name in own_names(cuda, hip):
        if chance.random() > share:
            continue
        fresh = invented_name(chance)
        while fresh in taken:
            fresh = f"{fresh}{chance.randrange(10)}"
        taken.add(fresh)
        names[name] = fresh
    return names


def renamed(lines: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """``lines`` with other names; those behind a dot, a backslash or a percent sign stay."""
    if not names:
        return list(lines)
    return [_WORD.sub(lambda match: names.get(match[0], match[0]), line) for line in lines]


@dataclass(frozen=True)
class ApiNames:
    """Names of the mapping tables that differ in nothing but their spelling, by kind."""

    kinds: Mapping[str, str]
    hip: Mapping[str, str]
    others: Mapping[str, Sequence[str]]
    """Kind -> its CUDA names."""

    @classmethod
    def of(cls, rows: Sequence[tuple[str, str, str]], excluded: frozenset[str]) -> ApiNames:
        """The names of rows ``(cuda, hip, kind)``, without ``excluded`` CUDA names."""
        kept = [row for row in rows if row[0] not in excluded]
        others: dict[str, list[str]] = {}
        for cuda, _, kind in kept:
            others.setdefault(kind, []).append(cuda)
        return cls({c: k for c, _, k in kept}, {c: h for c, h, _ in kept}, others)

    def exchanged(
        self, cuda: Sequence[str], hip: Sequence[str], chance: random.Random, share: float
    ) -> Sides:
        """``share`` of the API's names in place of others of their kind, on both sides alike."""
        left, right = (Counter(_WORD.findall("\n".join(side))) for side in (cuda, hip))
        old: dict[str, str] = {}
        new: dict[str, str] = {}
        for name in left:
            kind = self.kinds.get(name)
            if kind is None or left[name] != right[self.hip[name]] or chance.random() > share:
                continue
            other = chance.choice(self.others[kind])
            if left[other] or right[self.hip[other]]:
                continue
            old[name], new[self.hip[name]] = other, self.hip[other]
        return renamed(cuda, old), renamed(hip, new)


def with_foreign_text(cuda: Sequence[str], hip: Sequence[str], chance: random.Random) -> Sides:
    """Text outside ASCII in some comments and strings that both sides have."""
    both = set(hip)
    texts: dict[str, str] = {}
    for line in dict.fromkeys(cuda):
        if line not in both or chance.random() > 0.3:
            continue
        added = " ".join(chance.choice(_FOREIGN) for _ in range(chance.choice((1, 1, 2))))
        if "//" in line:
            texts[line] = f"{line} {added}"
        elif line.count('"') == 2 and "printf" in line:
            place = line.index('"') + 1
            texts[line] = f"{line[:place]}{added} {line[place:]}"
    return [texts.get(line, line) for line in cuda], [texts.get(line, line) for line in hip]


def part(
    cuda: Sequence[str],
    hip: Sequence[str],
    regions: Sequence[Region],
    chance: random.Random,
    characters: int,
) -> Sides | None:
    """A run of lines of at most ``characters``, cut where both sides agree; None without one."""
    cuts, i, j = [(0, 0)], 0, 0
    for a, b, c, d in [*regions, (len(cuda), len(cuda), len(hip), len(hip))]:
        cuts += [
            (i + k, j + k) for k in range(1, a - i) if cuda[i + k - 1].strip() in ("", "}", "};")
        ]
        i, j = b, d
        del c
    cuts.append((len(cuda), len(hip)))
    sizes = [0]
    for line in cuda:
        sizes.append(sizes[-1] + len(line) + 1)
    for _ in range(8):
        first = chance.randrange(len(cuts) - 1) if chance.random() < 0.6 else 0
        start = cuts[first]
        ends = [cut for cut in cuts[first + 1 :] if sizes[cut[0]] - sizes[start[0]] <= characters]
        if not ends:
            continue
        end = chance.choice(ends[len(ends) // 2 :])
        if end[0] - start[0] >= 8:
            return list(cuda[start[0] : end[0]]), list(hip[start[1] : end[1]])
    return None
