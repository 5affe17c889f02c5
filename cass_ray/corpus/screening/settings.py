"""Everything that rows are screened by, as settings."""

from __future__ import annotations

from pydantic import Field

from cass_ray.config import StrictModel
from cass_ray.corpus.screening.decontaminate import DecontaminationSettings
from cass_ray.corpus.screening.filters import FilterSettings
from cass_ray.corpus.screening.licenses import LicenseSettings
from cass_ray.corpus.screening.scrub import ScrubSettings
from cass_ray.dataset.row import Origin


class NearDuplicateSettings(StrictModel):
    """MinHash LSH over source tokens; a row as similar as ``threshold`` to an earlier one goes."""

    enabled: bool = True
    threshold: float = Field(default=0.8, gt=0.0, le=1.0)


class StructuralDuplicateSettings(StrictModel):
    """Programs that differ in names and constants alone, or compile to the same instructions.

    Only rows of ``origins`` are looked at: people write the same shape for different ends, a
    template does not. ``null`` turns a level off.
    """

    origins: list[Origin] = [Origin.SYNTHETIC]
    shape: float | None = Field(default=0.95, gt=0.0, le=1.0)
    """Similarity of runs of syntax-tree nodes."""
    opcodes: float | None = Field(default=0.95, gt=0.0, le=1.0)
    """Similarity of runs of SASS mnemonics; code below 64 instructions is not looked at."""


class ScreeningSettings(StrictModel):
    """Everything a row is screened by. Each part is a setting of the build."""

    filters: FilterSettings = FilterSettings()
    licenses: LicenseSettings = LicenseSettings()
    scrub: ScrubSettings = ScrubSettings()
    near_duplicates: NearDuplicateSettings = Field(default_factory=NearDuplicateSettings)
    structural_duplicates: StructuralDuplicateSettings = Field(
        default_factory=StructuralDuplicateSettings
    )
    decontamination: DecontaminationSettings = Field(default_factory=DecontaminationSettings)
