"""From a folder of ours to a folder that can be uploaded."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from cass_ray.bench.reporting.publish import HTML_FILE, MARKDOWN_FILE, SCORES_FILE
from cass_ray.bench.results import SAMPLES_FILE
from cass_ray.overwriting import WouldOverwriteError
from cass_ray.publish.cards import bench_card, dataset_card
from cass_ray.publish.checksums import unchanged_files, write_sums
from cass_ray.publish.croissant import croissant
from cass_ray.publish.dataset import build_report, write_rows
from cass_ray.publish.settings import PublishSettings

REPORT_FILE = "publication.json"
CARD_FILE = "README.md"
_CROISSANT_FILE = "croissant.json"
_MODEL_FILES = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja", CARD_FILE, "LICENSE")
"""What plain transformers loads; nothing that needs unpickling."""


class Kind(StrEnum):
    """What a folder holds."""

    DATASET = "data set"
    MODEL = "model"
    BENCH = "benchmark results"

    @property
    def hub_type(self) -> str:
        """The hub's kind of repository."""
        return "model" if self is Kind.MODEL else "dataset"


class NothingToPublishError(ValueError):
    """A folder that holds none of them, or nothing that may leave."""


@dataclass(frozen=True)
class Prepared:
    """What is ready for upload."""

    kind: Kind
    folder: Path
    files: dict[str, str]
    """Path -> SHA-256."""
    facts: dict[str, Any]

    @property
    def bytes(self) -> int:
        return sum((self.folder / name).stat().st_size for name in self.files)


def kind_of(folder: Path) -> Kind:
    """Raises :class:`NothingToPublishError`."""
    if (folder / "pairs").is_dir():
        return Kind.DATASET
    if (folder / SCORES_FILE).exists():
        return Kind.BENCH
    if (folder / "config.json").exists() and any(folder.glob("*.safetensors")):
        return Kind.MODEL
    raise NothingToPublishError(
        f"{folder}: no data set (pairs/), model (config.json, *.safetensors) or benchmark results "
        f"({SCORES_FILE}) here"
    )


def prepare(settings: PublishSettings) -> Prepared:
    """Write the folder ``settings.out`` anew.

    Raises:
        NothingToPublishError: ``settings.source`` holds nothing that can be published.
        WouldOverwriteError: ``settings.out`` holds something that no run of this wrote.
    """
    kind = kind_of(settings.source)
    _check_replaceable(settings.out)
    part = settings.out.with_name(f".{settings.out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    makers = {Kind.DATASET: _dataset, Kind.MODEL: _model, Kind.BENCH: _bench}
    try:
        facts = {"kind": kind.value, "name": settings.name, **makers[kind](settings, part)}
        (part / REPORT_FILE).write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
        files = write_sums(part)
    except BaseException:  # also where a person interrupts it
        shutil.rmtree(part, ignore_errors=True)
        raise
    shutil.rmtree(settings.out, ignore_errors=True)
    part.rename(settings.out)
    return Prepared(kind, settings.out, files, facts)


def _check_replaceable(folder: Path) -> None:
    """Raise :class:`WouldOverwriteError` unless ``folder`` holds what was published, unchanged."""
    present = {path for path in folder.rglob("*") if not path.is_dir()}
    if foreign := sorted(present - unchanged_files(folder)):
        raise WouldOverwriteError(
            f"{folder} holds {foreign[0].relative_to(folder)}, which no publication wrote: "
            "give another --out, or remove the folder"
        )


def _dataset(settings: PublishSettings, folder: Path) -> dict[str, Any]:
    result = write_rows(settings, folder)
    if not result.rows and not result.withheld:
        raise NothingToPublishError(
            f"{settings.source}: it has no pairs; cass inspect {settings.source} --rejects says why"
        )
    if not result.rows:
        reasons = "; ".join(f"{count}: {why}" for why, count in result.withheld.most_common())
        raise NothingToPublishError(
            f"{settings.source}: every row is withheld ({reasons}): see `licenses` in the settings;"
            " --set licenses.unknown=true lets rows without a license leave"
        )
    card = dataset_card(settings, result, build_report(settings.source))
    (folder / CARD_FILE).write_text(card, "utf-8")
    described = f"{result.rows} aligned CUDA and HIP programs with host and device assembly."
    name = settings.repository or settings.name
    url = f"{settings.endpoint or 'https://huggingface.co'}/datasets/{name}"
    (folder / _CROISSANT_FILE).write_text(croissant(settings.name, described, url, result), "utf-8")
    return {
        "rows": result.rows,
        "splits": dict(result.splits),
        "withheld": dict(result.withheld),
        "verified": dict(result.levels),
        "origins": dict(result.origins),
    }


def _model(settings: PublishSettings, folder: Path) -> dict[str, Any]:
    copied = sorted({path for each in _MODEL_FILES for path in settings.source.glob(each)})
    for path in copied:
        shutil.copyfile(path, folder / path.name)
    if not (folder / CARD_FILE).exists():
        raise NothingToPublishError(
            f"{settings.source}: a model without {CARD_FILE}; `cass train` exports one with it"
        )
    weights = sum(path.stat().st_size for path in copied if path.suffix == ".safetensors")
    return {"weights_bytes": weights}


def _bench(settings: PublishSettings, folder: Path) -> dict[str, Any]:
    for name in (SCORES_FILE, SAMPLES_FILE, HTML_FILE, MARKDOWN_FILE):
        if (settings.source / name).exists():
            shutil.copyfile(settings.source / name, folder / name)
    scores = json.loads((settings.source / SCORES_FILE).read_text("utf-8"))
    systems = sorted({str(each["system"]) for each in scores})
    (folder / CARD_FILE).write_text(bench_card(settings, systems), "utf-8")
    return {"systems": systems}
