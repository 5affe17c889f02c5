"""The cards of what is published: provenance, licences, evidence, limits, how to load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from cass_ray.dataset.card import COLUMNS, size_category
from cass_ray.dataset.schema import PAIR_SCHEMA
from cass_ray.printable import printable
from cass_ray.publish.dataset import SPLITS, PublishedRows
from cass_ray.publish.settings import PublishSettings

_HUB_LICENSES = {"Apache-2.0": "apache-2.0", "MIT": "mit", "BSD-3-Clause": "bsd-3-clause"}
_MOST_REPOSITORIES = 200


def dataset_card(settings: PublishSettings, data: PublishedRows, build: Mapping[str, Any]) -> str:
    """``README.md`` of a data set."""
    head = {
        "license": _license(data),
        "pretty_name": settings.name,
        "size_categories": [size_category(data.rows)],
        "task_categories": ["translation"],
        "tags": ["cuda", "hip", "sass", "rdna3", "code-translation", "croissant"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [
                    {"split": split, "path": f"data/{split}-*.parquet"}
                    for split in SPLITS
                    if data.splits[split]
                ],
            }
        ],
    }
    columns = "\n".join(
        f"| `{name}` | {COLUMNS[name]} |" for name in PAIR_SCHEMA.names if name in COLUMNS
    )
    levels = ", ".join(f"{count:,} {level}" for level, count in sorted(data.levels.items()))
    origins = ", ".join(f"{count:,} {origin}" for origin, count in sorted(data.origins.items()))
    splits = ", ".join(f"{data.splits[split]:,} {split}" for split in SPLITS if data.splits[split])
    loaded = settings.repository or "OWNER/NAME"
    return f"""---
{yaml.safe_dump(head, sort_keys=False, allow_unicode=True).strip()}
---
# {settings.name}: aligned CUDA and HIP programs

{data.rows:,} programs ({splits}), each as CUDA and HIP source, x86-64 host assembly and device
assembly of {_targets(data.nvidia)} (SASS) and {_targets(data.amd)}. By origin: {origins}.

```python
from datasets import load_dataset
pairs = load_dataset("{loaded}")
print(pairs["train"][0]["cuda_source"])
```

## Columns

| column | holds |
|---|---|
{columns}

## Evidence

{levels}. `compiled`: both sides compile and define the same kernels. `executed`: both ran on the
same inputs and printed the same within the tolerance that `evidence` names, together with who ran
them, the kernels' launches and how much of their code was reached.

## Provenance and licences

Each row keeps repository, revision, path and licence of its source. {_withheld(data)}

{_repositories(data)}

## Limits

- Translated by {_translator(build)}: what it does not translate is not in the set.
- Token and instruction counts depend on the compilers that each row names in its toolchain columns.
- Near duplicates were left out by a threshold; structural likeness remains.
- `executed` is a statement about the inputs that were run, not a proof.

`SHA256SUMS` lists every file; `croissant.json` describes them for tools.
"""


def bench_card(settings: PublishSettings, systems: list[str]) -> str:
    """``README.md`` of benchmark results."""
    head = {"tags": ["cuda", "hip", "code-translation", "benchmark"], "pretty_name": settings.name}
    listed = "\n".join(f"- {_code(each)}" for each in systems)
    return f"""---
{yaml.safe_dump(head, sort_keys=False).strip()}
---
# {settings.name}: results of CASS-Bench

{listed}

`report.html` shows the scores, `scores.json` holds them, `samples.jsonl` every answer with its
verdict on visible and hidden inputs.
"""


def _license(data: PublishedRows) -> str | list[str]:
    names = {licence for _, _, licence in data.provenance if licence}
    licenses = sorted({_HUB_LICENSES.get(name, "other") for name in names})
    return licenses[0] if len(licenses) == 1 else licenses or "other"


def _targets(names: set[str]) -> str:
    return ", ".join(_code(name) for name in sorted(names)) or "no target"


def _withheld(data: PublishedRows) -> str:
    if not data.withheld:
        return "No row was withheld."
    reasons = "; ".join(f"{count:,}: {_code(why)}" for why, count in sorted(data.withheld.items()))
    return f"Withheld {data.withheld.total():,} rows of the build: {reasons}."


def _repositories(data: PublishedRows) -> str:
    rows = sorted(data.provenance.items(), key=lambda item: (-item[1], item[0]))
    shown = "\n".join(
        f"| {_code(repository) if repository else 'generated'} | {_code(revision[:12])} "
        f"| {_code(licence)} | {count:,} |"
        for (repository, revision, licence), count in rows[:_MOST_REPOSITORIES]
    )
    more = len(rows) - _MOST_REPOSITORIES
    rest = f"\n\nAnd {more:,} more; the columns hold all." if more > 0 else ""
    return f"| repository | revision | licence | rows |\n|---|---|---|---|\n{shown}{rest}"


def _translator(build: Mapping[str, Any]) -> str:
    return _code(str(build.get("settings", {}).get("translator") or "unknown"))


def _code(words: str) -> str:
    """A span of code on one line, whatever ``words`` are."""
    shown = printable(words).replace("`", "'").replace("|", "\\|")
    return f"`{shown}`" if shown else ""
