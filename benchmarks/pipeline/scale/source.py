"""A source of any number of small programs, a hundred to a split, as repositories have them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cass_ray.corpus.parsing.normalize import program_id, source_digest
from cass_ray.corpus.program import Program, Provenance, ReadReject
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.trees import TreeStore
from cass_ray.corpus.sources import registry
from cass_ray.dataset.row import Origin
from cass_ray.pipeline.settings import BuildSettings

ROWS_OF_A_SPLIT = 100
_LINES = 40
_TEMPLATE = """\
#include <cstdio>

__global__ void kernel_{number}(float *values, int count) {{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    float value = index < count ? values[index] : 0.0f;
{body}
    if (index < count) values[index] = value;
}}

int main() {{
    float *values = nullptr;
    cudaMalloc(&values, {count} * sizeof(float));
    kernel_{number}<<<({count} + 127) / 128, 128>>>(values, {count});
    std::printf("%d\\n", static_cast<int>(cudaDeviceSynchronize()));
    cudaFree(values);
    return 0;
}}
"""
_STATEMENTS = (
    "    value = value * {a}.{b}f + {c}.0f;",
    "    value += __shfl_xor_sync(0xffffffffu, value, {d});",
    "    if (value > {c}.5f) value -= {a}.{b}f * index;",
    "    value = fminf(value, {c}.{a}f) + __expf(value * 0.{b}f);",
    "    for (int step = 0; step < {d}; ++step) value = value * 0.{b}f + step;",
)
_PROVENANCE = Provenance(Origin.REPOSITORY, "benchmarks/scale", "MIT")


@dataclass(frozen=True)
class PlainSplit:
    """The programs ``first`` to ``first + rows``."""

    first: int
    rows: int

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """Each is unlike the others."""
        for number in range(self.first, self.first + self.rows):
            source = _source(number)
            yield Program(
                id=program_id(source_digest(source), []),
                provenance=_PROVENANCE,
                path=f"{number}.cu",
                source=source,
                license="MIT",
            )


@dataclass(frozen=True)
class PlainSource:
    """``plain:ROWS``."""

    argument: str
    limits: ReadLimits

    def splits(self, workdir: Path) -> Iterator[PlainSplit]:
        """A hundred programs each."""
        rows = int(self.argument)
        for first in range(0, rows, ROWS_OF_A_SPLIT):
            yield PlainSplit(first, min(ROWS_OF_A_SPLIT, rows - first))

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """All of them."""
        for split in self.splits(workdir):
            yield from split.iterate(workdir, trees)


# Also in every process that gets a split: it reads the settings again, and they name the source.
registry._KINDS["plain"] = (PlainSource, "plain:ROWS", True)


def settings_of(rows: int, out: str, **further: object) -> BuildSettings:
    """A build of so many programs."""
    given = {"sources": [f"plain:{rows}"], "out": out, "cache": False, **further}
    return BuildSettings.model_validate(given)


def _source(number: int) -> str:
    chance = random.Random(number)
    body = [
        chance.choice(_STATEMENTS).format(
            a=chance.randrange(1, 50),
            b=chance.randrange(1, 1000),
            c=chance.randrange(1, 5000),
            d=2 ** chance.randrange(5),
        )
        for _ in range(_LINES)
    ]
    return _TEMPLATE.format(number=number, count=256 + number, body="\n".join(body))
