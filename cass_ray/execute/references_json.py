"""References as text, on their way from the node that measured them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cass_ray.config import StrictModel
from cass_ray.emulator.launches import Launch
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.limits import Needed
from cass_ray.execute.references import ReferenceRun, ReferenceRuns
from cass_ray.execute.stored_changes import StoredChanges, changes_from_json, changes_to_json


class _Measured(StrictModel):
    """Outputs are Latin-1 text."""

    backend: str
    identity: str
    stored: bool
    kind: str
    passed_over: list[str]
    runs: list[dict[str, Any]]


def to_json(reference: ReferenceRuns) -> str:
    """``reference`` as text, exact to the byte."""
    runs = [
        {
            "arguments": list(run.inputs.arguments),
            "outputs": [output.decode("latin-1") for output in run.outputs],
            "status": run.status,
            "launches": None if run.launches is None else list(map(asdict, run.launches)),
            "problem": run.problem,
            "seconds": run.seconds,
            "varied": run.varied,
            "same_draws": run.same_draws,
            "undisturbed": [output.decode("latin-1") for output in run.undisturbed],
            "needed": asdict(run.needed),
            "in_another_order": [output.decode("latin-1") for output in run.in_another_order],
            "made_up": run.made_up,
            "with_files": run.with_files,
            **changes_to_json(StoredChanges(run.perturbed, run.transcripts)),
        }
        for run in reference.runs
    ]
    values = {
        "backend": reference.backend,
        "identity": reference.identity,
        "stored": reference.stored,
        "kind": reference.kind,
        "passed_over": list(reference.passed_over),
    }
    return json.dumps({**values, "runs": runs})


def from_json(text: str) -> ReferenceRuns:
    """What :func:`to_json` wrote. Raises ``pydantic.ValidationError``."""
    made = _Measured.model_validate_json(text)
    return ReferenceRuns(
        backend=made.backend,
        identity=made.identity,
        stored=made.stored,
        kind=made.kind,
        passed_over=tuple(made.passed_over),
        runs=tuple(
            ReferenceRun(
                inputs=Inputs(tuple(run["arguments"])),
                outputs=_outputs(run, "outputs"),
                status=run["status"],
                launches=None
                if run["launches"] is None
                else tuple(_launch(launch) for launch in run["launches"]),
                problem=run["problem"],
                seconds=run["seconds"],
                varied=run["varied"],
                same_draws=run.get("same_draws", 0),
                with_files=run.get("with_files", False),
                undisturbed=_outputs(run, "undisturbed"),
                needed=Needed(**run.get("needed", {})),
                in_another_order=_outputs(run, "in_another_order"),
                made_up=run.get("made_up", False),
                **vars(changes_from_json(run)),
            )
            for run in made.runs
        ),
    )


def _outputs(run: Mapping[str, Any], name: str) -> tuple[bytes, ...]:
    return tuple(text.encode("latin-1") for text in run.get(name, ()))


def _launch(values: dict[str, Any]) -> Launch:
    sizes = {name: tuple(values[name]) for name in ("grid", "block")}
    return Launch(**{**values, **sizes})
