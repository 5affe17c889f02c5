"""The data-set card (``README.md`` beside the Parquet files), in the hub's format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.printable import printable

COLUMNS = {
    "id": "SHA-256 of the normalized CUDA source and its include closure",
    "cuda_source": "CUDA source",
    "cuda_host": "x86-64 assembly of the CUDA host part",
    "cuda_device": "SASS of the first architecture of `cuda_arch`, normalized",
    "cuda_device_by_arch": "SASS of every architecture",
    "hip_source": "HIP source",
    "hip_host": "x86-64 assembly of the HIP host part, device binary not embedded",
    "hip_device": "assembly for the first AMD architecture (`hip_arch`), as the compiler wrote it",
    "kernels": "kernels found on both sides",
    "verified": "`compiled`: both compile, kernels match; `executed`: both ran and agree",
    "evidence": "what stands behind `executed`",
    "lifted": "RDNA3 assembly lifted from the SASS of each architecture, where asked for",
    "devices": "assembly for further AMD architectures, each with its evidence, where asked for",
    "level": "`source`, or `assembly` where only machine code is on both sides",
    "lifted_side": "why there is no HIP source, where `hip_device` is lifted from the SASS",
    "portable": "whether wavefronts of 32 and of 64 lanes both agree, where both were executed",
}
"""What the columns hold that people ask about."""

SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
)
"""Below so many rows: the hub's name for it."""


@dataclass(frozen=True)
class CardFacts:
    """What the card says about one data set; whoever built the set knows it."""

    sources: Sequence[str]
    nvidia_architectures: Sequence[str]
    amd_architectures: Sequence[str]
    optimization: str
    translator: str
    rows: int
    """Programs read; the sum of pairs, duplicates and rejects."""
    pairs: int
    kernels: int
    duplicates: int
    rejects: Mapping[tuple[str, str], int]
    """(stage, reason) -> rows."""
    lifted: int = 0
    """The number of pairs without a HIP source."""


def size_category(rows: int) -> str:
    """The hub's name for a number of rows."""
    return next((name for limit, name in SIZES if rows < limit), "1M<n<10M")


def _code(words: str) -> str:
    """A span of code on one line, whatever ``words`` are."""
    shown = printable(words).replace("`", "'")
    return f"`{shown}`"


def card(facts: CardFacts) -> str:
    """The card as Markdown with YAML front matter."""
    columns = "\n".join(
        f"| `{name}` | {COLUMNS[name]} |" for name in PAIR_SCHEMA.names if name in COLUMNS
    )
    rejects = "\n".join(
        f"| {stage} | {reason} | {count} |"
        for (stage, reason), count in sorted(facts.rejects.items())
    )
    architectures = ", ".join(facts.nvidia_architectures)
    lifted = (
        f"\n{facts.lifted} of the pairs have no HIP source: their AMD device code is lifted from "
        "the SASS\n(`level` is `assembly`, `lifted_side` says why).\n"
        if facts.lifted
        else ""
    )
    return f"""---
configs:
- config_name: pairs
  data_files: pairs/*.parquet
  default: true
- config_name: rejects
  data_files: rejects/*.parquet
tags: [cuda, hip, sass, rdna3, code-translation]
size_categories: [{size_category(facts.pairs)}]
---
# Aligned CUDA / HIP programs

{facts.pairs} pairs with {facts.kernels} kernels, from {facts.rows} programs read
({", ".join(map(_code, facts.sources))}). Nvidia side: {architectures}; AMD side:
{", ".join(facts.amd_architectures)}; optimization `{facts.optimization}`; translated by
{_code(facts.translator)}.
{lifted}
| column | holds |
|---|---|
{columns}

Other columns: origin, repository, revision, path and license of the source, toolchains with version
and flags, token counts of the device assembly.

## What was left out

{facts.duplicates} duplicates and {sum(facts.rejects.values())} rejects; `rejects/` holds each
with its stage, reason and the tool's message.

| stage | reason | rows |
|---|---|---|
{rejects}

Each row keeps the license of its repository in `license` (empty: unknown).
"""
