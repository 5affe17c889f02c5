"""CUDA to HIP at source level, by any engine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cass_ray.corpus.dialect import OPENCL, dialect_of
from cass_ray.dataset.schema import Reason, Stage, Verified, is_rejected, rejected
from cass_ray.pipeline.stages.base import Row, guarded
from cass_ray.pipeline.workspace import Workspace
from cass_ray.translate.protocol import Context, Finding, Translator, TranslatorError

UNKNOWN_NAME = ("looks like CUDA and is not known", "has no counterpart in HIP")
"""Ends of messages about names that HIP does not declare."""
_CONDITION = re.compile(r"[ \t]*#[ \t]*(?:el)?if")


@dataclass
class TranslateStage:
    """Fills ``hip_source``. A construct with no translation rejects the row with every finding.

    OpenCL compiles for both sides as it is and passes through.
    """

    translator: Translator
    workspace: Workspace

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with ``hip_source``, or rejected."""
        return [guarded(Stage.TRANSLATE, row, self._one) for row in rows]

    def _one(self, row: Row) -> Row:
        if dialect_of(row) is OPENCL:
            return {**row, "hip_source": ""}
        try:
            context = Context(self.workspace.files(row), self.workspace.declared(row))
            translation = self.translator.translate(
                row["cuda_source"], filename=row["path"], context=context
            )
        except TranslatorError as error:
            return rejected(row, Stage.TRANSLATE, Reason.TRANSLATOR_FAILED, str(error))
        errors = list(translation.errors)
        if row.get("configured"):
            errors = [each for each in errors if not _left_to_the_compiler(each, row)]
        if errors:
            listing = "\n".join(finding.format(row["path"]) for finding in errors)
            return rejected(row, Stage.TRANSLATE, Reason.UNTRANSLATABLE, listing)
        return {**row, "hip_source": translation.source}


def _left_to_the_compiler(finding: Finding, row: Row) -> bool:
    """Whether ``finding`` is about a name that HIP does not declare, outside of conditions.

    Where the project's own command leaves that code out, the name does no harm; where it does not,
    the HIP side does not compile. In a condition an unknown name would be false without a word.
    """
    if not finding.message.endswith(UNKNOWN_NAME):
        return False
    line = row["cuda_source"].splitlines()[finding.line - 1 : finding.line]
    return not (line and _CONDITION.match(line[0]))


class SourcePairStage:
    """Ends the way of a row that nothing is compiled of: a pair of sources, not verified."""

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """Translated rows as pairs without kernels."""
        facts = {"verified": Verified.NONE.value, "kernels": []}
        return [row if is_rejected(row) else {**row, **facts} for row in rows]
