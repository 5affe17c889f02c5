"""CUDA to HIP at source level, by any engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cass_ray.corpus.dialect import OPENCL, dialect_of
from cass_ray.dataset.row import (
    Reason,
    Stage,
    Verified,
    is_rejected,
    rejected,
)
from cass_ray.pipeline.stages.base import Row, guarded
from cass_ray.pipeline.stages.lifted_side import set_aside
from cass_ray.pipeline.workspace import Workspace
from cass_ray.task import Level
from cass_ray.translate.project.refusals import left_to_the_compiler
from cass_ray.translate.protocol import Translator, TranslatorError


@dataclass
class TranslateStage:
    """Fills ``hip_source``. A construct with no translation rejects the row with every finding.

    OpenCL compiles for both sides as it is and passes through. With ``lifted_rows`` what has no
    translation is set aside for the lifter instead.
    """

    translator: Translator
    workspace: Workspace
    lifted_rows: bool = False

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with ``hip_source``, or rejected."""
        return [guarded(Stage.TRANSLATE, row, self._one) for row in rows]

    def _one(self, row: Row) -> Row:
        if dialect_of(row) is OPENCL:
            return {**row, "hip_source": "", "level": Level.ASSEMBLY.value}
        try:
            translation = self.translator.translate(
                row["cuda_source"], filename=row["path"], context=self.workspace.context(row)
            )
        except TranslatorError as error:
            return rejected(row, Stage.TRANSLATE, Reason.TRANSLATOR_FAILED, str(error))
        errors = list(translation.errors)
        if row.get("configured"):
            source = row["cuda_source"]
            errors = [each for each in errors if not left_to_the_compiler(each, source)]
        if errors:
            listing = "\n".join(finding.format(row["path"]) for finding in errors)
            leave = set_aside if self.lifted_rows else rejected
            return leave(row, Stage.TRANSLATE, Reason.UNTRANSLATABLE, listing)
        return {**row, "hip_source": translation.source, "level": Level.SOURCE.value}


class SourcePairStage:
    """Ends the way of a row that nothing is compiled of: a pair of sources, not verified."""

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """Translated rows as pairs without kernels."""
        facts = {"verified": Verified.NONE.value, "kernels": []}
        return [row if is_rejected(row) else {**row, **facts} for row in rows]
