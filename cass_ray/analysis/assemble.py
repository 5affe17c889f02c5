"""From a data set's folder to its report: which parts to read, and the sections in order."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cass_ray.analysis.collected import Collected, collect, read_rejects
from cass_ray.analysis.document import Document, Section
from cass_ray.analysis.parts import FileFigures, PartTask
from cass_ray.analysis.sampling import rate
from cass_ray.analysis.sections.alike import alike
from cass_ray.analysis.sections.composition import composition
from cass_ray.analysis.sections.duplicates import duplicates
from cass_ray.analysis.sections.embeddings import embeddings
from cass_ray.analysis.sections.execution import execution
from cass_ray.analysis.sections.instructions import instructions
from cass_ray.analysis.sections.lengths import lengths
from cass_ray.analysis.sections.outliers import outliers
from cass_ray.analysis.sections.provenance import provenance
from cass_ray.analysis.sections.published import published
from cass_ray.analysis.sections.subjects import subjects
from cass_ray.analysis.sections.yields import yields
from cass_ray.analysis.settings import AnalysisSettings, NoDataSetError
from cass_ray.dataset.parquet import parquet_dataset, parquet_files
from cass_ray.version import __version__


def tasks(settings: AnalysisSettings) -> list[PartTask]:
    """One for each file of pairs. Raises :class:`NoDataSetError`."""
    files = parquet_files(settings.dataset)
    if not files:
        raise NoDataSetError(
            f"{settings.dataset}: no pairs/*.parquet here (cass build-dataset makes them)"
        )
    total = parquet_dataset(files).count_rows()
    return [
        PartTask(
            path=path,
            similarity_rate=rate(settings.similarity_rows, max(1, total)),
            similarity_characters=settings.similarity_characters,
            embedding_rate=rate(settings.embedding_rows, max(1, total)),
        )
        for path in files
    ]


def assemble(settings: AnalysisSettings, parts: Iterable[FileFigures]) -> Document:
    """The report of analysed ``parts``, in the order of :func:`tasks`."""
    data = collect(parts, read_rejects(settings.dataset))
    return Document(
        title=_title(settings.dataset),
        subtitle=f"{data.pairs:,} pairs, {len(data.rejects):,} rows left out",
        made_by=f"cass analyze, cass-ray {__version__}",
        sections=_sections(data, settings),
    )


def _title(dataset: Path | str) -> str:
    return f"Data set {Path(dataset).absolute().name}"


def _sections(data: Collected, settings: AnalysisSettings) -> list[Section]:
    return [
        composition(data),
        yields(data),
        execution(data),
        lengths(data),
        instructions(data),
        alike(data, settings.similarity_characters),
        embeddings(data, settings),
        subjects(data),
        provenance(data),
        duplicates(data),
        outliers(data),
        published(data),
    ]
