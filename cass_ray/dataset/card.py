"""The data-set card (``README.md`` beside the Parquet files), in the hub's format."""

from __future__ import annotations

from pathlib import Path

from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.pipeline.report import Tally
from cass_ray.pipeline.settings import BuildSettings

_COLUMNS = {
    "id": "SHA-256 of the normalised CUDA source and its include closure",
    "cuda_source": "CUDA source",
    "cuda_host": "x86-64 assembly of the CUDA host part",
    "cuda_device": "SASS of the first architecture of `cuda_arch`, normalised",
    "cuda_device_by_arch": "SASS of every architecture",
    "hip_source": "HIP source",
    "hip_host": "x86-64 assembly of the HIP host part, device binary not embedded",
    "hip_device": "RDNA3 assembly as the compiler wrote it",
    "kernels": "kernels found on both sides",
    "verified": "`compiled`: both compile, kernels match; `executed`: both ran and agree",
    "evidence": "what stands behind `executed`",
    "lifted": "RDNA3 assembly lifted from the SASS of each architecture, where asked for",
}

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))


def _size_category(rows: int) -> str:
    return next((name for limit, name in _SIZES if rows < limit), "100K<n<1M")


def card(settings: BuildSettings, tally: Tally) -> str:
    """The card as Markdown with YAML front matter."""
    columns = "\n".join(
        f"| `{name}` | {_COLUMNS[name]} |" for name in PAIR_SCHEMA.names if name in _COLUMNS
    )
    rejects = "\n".join(
        f"| {stage} | {reason} | {count} |"
        for (stage, reason), count in sorted(tally.rejects.items())
    )
    architectures = ", ".join(settings.nvidia_architectures)
    return f"""---
configs:
- config_name: pairs
  data_files: pairs/*.parquet
  default: true
- config_name: rejects
  data_files: rejects/*.parquet
tags: [cuda, hip, sass, rdna3, code-translation]
size_categories: [{_size_category(tally.pairs)}]
---
# Aligned CUDA / HIP programs

{tally.pairs} pairs with {tally.kernels} kernels, from {tally.rows} programs read
({", ".join(f"`{source}`" for source in settings.sources)}). Nvidia side: {architectures}; AMD side:
{settings.amd_architecture}; optimisation `{settings.optimisation}`; translated by
`{settings.translator}`.

| column | holds |
|---|---|
{columns}

Other columns: origin, repository, revision, path and license of the source, toolchains with version
and flags, token counts of the device assembly.

## What was left out

{tally.duplicates.total()} duplicates and {tally.rejects.total()} rejects; `rejects/` holds each
with its stage, reason and the tool's message.

| stage | reason | rows |
|---|---|---|
{rejects}

Each row keeps the license of its repository in `license` (empty: unknown).
"""


def write_card(out: Path, settings: BuildSettings, tally: Tally) -> None:
    """Write the card to ``out/README.md``."""
    (out / "README.md").write_text(card(settings, tally))
