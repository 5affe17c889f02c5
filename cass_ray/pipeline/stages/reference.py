"""The reference of a row: what its CUDA side prints, for the execute stage to compare with.

Measured where there is an Nvidia GPU, and else by the machine code of the CUDA side, lifted, where
AMD code runs. Both fill in the column ``reference``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from cass_ray.corpus.reading.source_files import gather
from cass_ray.dataset.row import Stage
from cass_ray.execute.backends.base import Backend, BuiltProgram, Inputs, RunMode
from cass_ray.execute.drivers.driver import driver_inputs
from cass_ray.execute.inputs import accepted_lists
from cass_ray.execute.originals import with_changes
from cass_ray.execute.programs import has_main
from cass_ray.execute.references import ReferenceRuns, measure, stored_references
from cass_ray.execute.references_json import from_json, to_json
from cass_ray.pipeline.row_units import unit_of
from cass_ray.pipeline.stages.base import Row, guarded
from cass_ray.pipeline.stages.driven_rows import cuda_program, kernels_to_drive
from cass_ray.pipeline.stages.lifted_side import is_set_aside
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.sandbox.executable import Bounds
from cass_ray.toolchain.unit import CompileFailure

REFERENCE_COLUMN = "reference"
"""Working column: what the CUDA side did, as text; empty where it did not run."""


def reference_of(row: Row) -> ReferenceRuns | None:
    """Measured by :class:`ReferenceStage`, else stored for this very program, else none."""
    if text := row.get(REFERENCE_COLUMN):
        return from_json(text)
    return stored_references().get(row["id"])


@dataclass
class ReferenceStage:
    """Runs the CUDA side of rows on ``backend``, which builds CUDA.

    With ``stand_in`` it takes the place of an Nvidia GPU for rows that have no reference yet, and
    adds runs under changes to those of a GPU; a row that it cannot run is left alone, for it may be
    right all the same.
    """

    backend: Backend
    workspace: Workspace
    bounds: Bounds = field(default_factory=Bounds)
    secret: str = ""
    stand_in: bool = False

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with :data:`REFERENCE_COLUMN` filled in, of kernels without ``main`` by a driver.

        What cannot be driven is left alone.
        """
        return [guarded(Stage.EXECUTE, row, self._one) for row in rows]

    def _one(self, row: Row) -> Row:
        if not self.stand_in:
            return self._measured(row)
        if self._problem or is_set_aside(row):
            return row  # what is lifted is no reference for what is lifted
        reference = reference_of(row)
        try:
            if reference is None:
                return self._measured(row)
            return row if reference.has_changes else self._with_changes(row, reference)
        except CompileFailure:
            return row

    def _with_changes(self, row: Row, reference: ReferenceRuns) -> Row:
        """A GPU has no runs under changes: they are those of the lifted machine code."""
        if not has_main([row["cuda_source"]]):
            return row
        built = self.backend.build(gather(unit_of(row, self.workspace, None)))
        inputs = [run.inputs for run in reference.runs if not run.problem]
        result = measure(self.backend, built, inputs, RunMode(bounds=self.bounds))
        return {**row, REFERENCE_COLUMN: to_json(with_changes(reference, result))}

    @cached_property
    def _problem(self) -> str:
        return self.backend.problem()

    def _measured(self, row: Row) -> Row:
        if not has_main([row["cuda_source"]]):
            return self._driven(row)
        built = self.backend.build(gather(unit_of(row, self.workspace, None)))
        mode = RunMode(bounds=self.bounds)
        inputs = [Inputs()]
        reference = measure(self.backend, built, inputs, mode)
        if not reference.runs[0].problem:
            inputs += self._argument_lists(row, built, reference.runs[0].outputs[0])
            more = measure(self.backend, built, inputs[1:], mode)
            reference = replace(reference, runs=reference.runs + more.runs)
        return {**row, REFERENCE_COLUMN: to_json(reference)}

    def _driven(self, row: Row) -> Row:
        kernels = kernels_to_drive(row)
        if not kernels:
            return row
        try:
            built = self.backend.build(cuda_program(row, kernels, self.workspace))
        except CompileFailure:
            return row
        mode = RunMode(bounds=self.bounds)
        return {
            **row,
            REFERENCE_COLUMN: to_json(measure(self.backend, built, driver_inputs(), mode)),
        }

    def _argument_lists(self, row: Row, built: BuiltProgram, default: bytes) -> list[Inputs]:
        def attempt(inputs: Inputs) -> bytes | None:
            done = self.backend.run(built, inputs, RunMode(bounds=self.bounds))
            return done.ended.stdout if done.ended.ok and not done.not_provided else None

        return accepted_lists(row["cuda_source"], default, attempt, self.secret)
