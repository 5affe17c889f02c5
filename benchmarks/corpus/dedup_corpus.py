"""CUDA-like files made on the fly, some of them changed copies of earlier ones.

File ``n`` depends on ``n`` and the seed alone, so that any process can make any part and the truth
about a planted pair (its Jaccard similarity over runs of five tokens) can be computed afterwards.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

_TYPES = ("float", "double", "int", "unsigned", "long long", "short", "char", "size_t")
_SHAPES = (
    "  {t} {a} = {b}[{c} * blockDim.x + threadIdx.x] {o} {n};\n",
    "  if ({a} < {b} {o} {n}) {{\n    {c}[{a}] = {d} {o} {b};\n  }}\n",
    "  for ({t} {a} = {n}; {a} < {b}; {a} += {c}) {{ {d} += {b}[{a}]; }}\n",
    "  {a} = fmaf({b}, {c}, {d});\n",
    "  atomicAdd(&{a}[{b} % {n}], {c} {o} {d});\n",
    "  __shared__ {t} {a}[{n}];\n  {a}[threadIdx.x] = {b}[{c}];\n  __syncthreads();\n",
    "  {t} {a} = __shfl_down_sync(0xffffffff, {b}, {n}) {o} {c};\n",
    "  cudaMemcpy({a}, {b}, {n} * sizeof({t}), cudaMemcpyHostToDevice); // {c}\n",
)
_OPERATORS = "+-*/&|^%"


@dataclass(frozen=True)
class Planted:
    """A copy, the file it is a copy of, and how much of it was changed (share of the lines)."""

    original: int
    changed: float


@dataclass(frozen=True)
class Corpus:
    """``files`` files of about ``characters`` characters; every ``copy_every``-th is a copy."""

    files: int
    seed: int = 1
    characters: int = 3000
    copy_every: int = 10

    def planted(self, number: int) -> Planted | None:
        """What file ``number`` is a copy of; a file is copied at most once."""
        if number % self.copy_every != self.copy_every - 1:
            return None
        generator = random.Random(f"{self.seed} planted {number}")
        back = generator.randrange(min(number // self.copy_every + 1, 20_000))
        original = (number // self.copy_every - back) * self.copy_every
        return Planted(original, generator.uniform(0.0, 0.16))

    def source(self, number: int) -> str:
        planted = self.planted(number)
        if planted is None:
            return "".join(self._lines(number))
        generator = random.Random(f"{self.seed} change {number}")
        lines = list(self._lines(planted.original))
        for position in range(len(lines)):
            if generator.random() < planted.changed:
                lines[position] = _line(generator, _names(generator))
        return "".join(lines)

    def _lines(self, number: int) -> list[str]:
        generator = random.Random(f"{self.seed} file {number}")
        names = _names(generator)
        lines = [f"__global__ void {names[0]}({names[1]} *{names[2]}, int {names[3]}) {{\n"]
        total = 0
        while total < self.characters:
            lines.append(_line(generator, names))
            total += len(lines[-1])
        return [*lines, "}\n"]


def _names(generator: random.Random) -> list[str]:
    return [f"v{generator.getrandbits(20):x}" for _ in range(24)]


def _line(generator: random.Random, names: list[str]) -> str:
    choose = generator.choice
    return choose(_SHAPES).format(
        t=choose(_TYPES),
        a=choose(names),
        b=choose(names),
        c=choose(names),
        d=choose(names),
        o=choose(_OPERATORS),
        n=generator.getrandbits(10),
    )
