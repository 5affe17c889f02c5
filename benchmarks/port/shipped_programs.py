"""Port the shipped corpus as executables and compare with what an Nvidia GPU printed.

``python -m benchmarks.port.shipped_programs [--architecture sm_90] [--json FILE] [--markdown FILE]
[NAME ...]``: every program is built with nvcc (``-cudart shared``), its executable ported with
``cass run-binary``'s code, run on each stored argument list and compared with the stored outputs.
No source of a program is used after nvcc.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from cass_ray.corpus.reading.source_files import gather
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT, load_manifest
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions
from cass_ray.execute.backends.nvidia import NvidiaBackend
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.references import STORED_FOLDER, ReferenceRun, StoredReferences
from cass_ray.port.errors import PortError
from cass_ray.port.executable import read_executable
from cass_ray.port.lifting import ContainerLifter
from cass_ray.port.running import PortedExecutable, execute, port
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox.process import Completed, ProcessOutcome
from cass_ray.toolchain.unit import CompileFailure, Unit

_ROOT_PARTS = 2  # programs/DOMAIN, repositories/NAME


class PortingState(StrEnum):
    """How one program fared on all its argument lists; the worst one counts."""

    EXACT = "exact"
    NUMERIC = "within tolerance"
    DIFFERENT = "different"
    TIME_LIMIT = "time limit"
    UNSUPPORTED = "runtime call missing"
    NOT_LIFTED = "not lifted"
    FAILED = "failed"
    NOT_BUILT = "not built"


@dataclass(frozen=True)
class PortingRow:
    """One program; ``runs`` is how many argument lists were compared, ``seconds`` their time."""

    program: str
    state: PortingState
    kernels: int = 0
    runs: int = 0
    seconds: float = 0.0
    detail: str = ""


class PortingRun:
    """Everything that all programs share."""

    def __init__(self, architecture: str, seconds: float) -> None:
        self.backend = NvidiaBackend(given_architecture=architecture)
        self.lifter = ContainerLifter(find_nvidia(), find_amd())
        self.library = runtime_library()
        self.options = RunOptions(seconds=seconds)
        self.references = stored_runs()

    def row(self, path: str) -> PortingRow:
        """Build, port, run and compare one program."""
        parts = path.split("/")
        root = SHIPPED_ROOT.joinpath(*parts[:_ROOT_PARTS])
        sources = gather(Unit(root, PurePosixPath(*parts[_ROOT_PARTS:])))
        try:
            built = self.backend.build(sources)
        except CompileFailure as failure:
            return PortingRow(
                path, PortingState.NOT_BUILT, detail=failure.diagnostic.splitlines()[0]
            )
        try:
            ported = port(read_executable(built.executable), self.lifter)
        except PortError as error:
            return PortingRow(path, PortingState.NOT_LIFTED, detail=str(error))
        if not ported.kernels:
            return PortingRow(path, PortingState.NOT_LIFTED, detail=_first(ported))
        tolerance = tolerance_for(
            text.decode("utf-8", "replace") for text in sources.files.values()
        )
        state, seconds, detail = PortingState.EXACT, 0.0, ""
        wanted = self.references[path]
        order = list(PortingState)
        for reference in wanted:
            done = execute(ported, reference.inputs.arguments, self.library, self.options)
            seconds += done.wall_seconds
            found, why = judge(reference, done, tolerance)
            if order.index(found) > order.index(state):
                state, detail = found, why
        if state not in (PortingState.EXACT, PortingState.NUMERIC) and ported.failures:
            state, detail = PortingState.NOT_LIFTED, _first(ported)
        return PortingRow(path, state, ported.kernels, len(wanted), round(seconds, 2), detail)


def _first(ported: PortedExecutable) -> str:
    return next((f"{name}: {text}" for name, text in ported.failures.items()), "no kernel")


def judge(reference: ReferenceRun, done: Completed, tolerance: object) -> tuple[PortingState, str]:
    """The state of one run, and why it is not exact."""
    errors = done.stderr_text.strip()
    last = errors.splitlines()[-1:] or [done.outcome.value]
    if done.outcome is ProcessOutcome.TIME_LIMIT:
        return PortingState.TIME_LIMIT, ""
    compared = compare(reference.outputs, done.stdout, tolerance)  # type: ignore[arg-type]
    if done.returncode == reference.status and compared.exact:
        return PortingState.EXACT, ""
    if done.returncode == reference.status and compared.numeric:
        return PortingState.NUMERIC, f"largest relative error {compared.max_error:.2g}"
    if missing := [line for line in errors.splitlines() if "is not supported" in line]:
        return PortingState.UNSUPPORTED, missing[0]
    if done.outcome is ProcessOutcome.OK:
        return PortingState.DIFFERENT, compared.difference
    return PortingState.FAILED, f"status {done.returncode}: {last[0]}"


def stored_runs() -> dict[str, list[ReferenceRun]]:
    """The Nvidia GPU's runs by path in the corpus."""
    text = (STORED_FOLDER / "references.json").read_text()
    stored = StoredReferences.model_validate_json(text)
    return {item.path: [run.run() for run in item.nvidia.runs] for item in stored.programs}


def rows(bench: PortingRun, names: list[str]) -> Iterator[PortingRow]:
    """One row for each chosen program of the manifest."""
    for entry in load_manifest():
        if not names or any(name in entry.path for name in names):
            row = bench.row(entry.path)
            print(f"{row.state:22} {row.seconds:8.2f} s  {row.program:55} {row.detail[:200]}", flush=True)  # noqa: E501  # fmt: skip
            yield row


def markdown(made: list[PortingRow], command: str, architecture: str) -> str:
    counts = Counter(row.state for row in made)
    summary = ", ".join(f"{counts[state]} {state}" for state in PortingState if counts[state])
    lines = [
        "# Nvidia executables on the RDNA3 backend",
        "",
        f"{len(made)} programs of the shipped corpus, built by nvcc for {architecture} with "
        "`-cudart shared`, then ported without their source. Reference: the output of the same "
        "programs on an NVIDIA H200. A program counts by its worst argument list.",
        "",
        f"    {command}",
        "",
        f"**{summary}**",
        "",
        "| program | result | kernels | runs | seconds | why not exact |",
        "|---|---|---|---|---|---|",
    ]
    for row in made:
        detail = row.detail.replace("|", "\\|").replace("\n", " ")[:160]
        lines.append(
            f"| {row.program} | {row.state} | {row.kernels} | {row.runs} | {row.seconds:.2f} | {detail} |"  # noqa: E501
        )
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Print the rows; 0 when at least one program was exact."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of program paths; all if none")
    parser.add_argument("--architecture", default="sm_90")
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of a run")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args(arguments)
    made = list(rows(PortingRun(given.architecture, given.seconds), given.names))
    command = " ".join(["python -m benchmarks.port.shipped_programs", *arguments])
    counts = Counter(row.state for row in made)
    print(", ".join(f"{counts[state]} {state}" for state in PortingState if counts[state]))
    if given.json:
        text = {"command": command, "rows": [asdict(row) for row in made]}
        given.json.write_text(json.dumps(text, indent=1) + "\n")
    if given.markdown:
        given.markdown.write_text(markdown(made, command, given.architecture))
    return 0 if counts[PortingState.EXACT] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
