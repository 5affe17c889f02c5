"""How far the CPU backend agrees with the stored references of a real Nvidia GPU.

``python -m benchmarks.execute.agreement`` translates every shipped program, runs it on every
argument list and compares. Programs that have changed since the references were made count as
missing.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.execute.prepare_references import shipped_sources
from cass_ray.architectures import amd_target
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.backends.base import Backend
from cass_ray.execute.backends.rdna3 import HipBackend
from cass_ray.execute.backends.registry import make_backend
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.references import ReferenceRuns, stored_references
from cass_ray.execute.verification import PortVerification
from cass_ray.execute.verify import Policy, verify
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated


@dataclass
class AgreementTally:
    """Runs by outcome."""

    runs: int = 0
    exact: int = 0
    numeric: int = 0
    missing: int = 0
    findings: int = 0


def check(
    path: str, sources: Sources, reference: ReferenceRuns, backend: Backend
) -> PortVerification:
    texts = [content.decode("utf-8", "replace") for content in sources.files.values()]
    wavefronts: tuple[int, ...] = (32,)
    if isinstance(backend, HipBackend):
        wavefronts = amd_target(backend.architecture).wave_widths[:1]
    built = backend.build(translated(sources, make_translator(), wavefronts))
    counters = not backend.real_gpu
    policy = Policy(tolerance=tolerance_for(texts), counters=counters)
    return verify(reference, built, backend, policy)


def report(path: str, result: PortVerification, tally: AgreementTally) -> None:
    for run in result.runs:
        tally.runs += 1
        tally.exact += run.exact
        tally.numeric += run.numeric
        if not run.exact:
            what = "numerically equal" if run.numeric else "DIFFERS"
            print(f"  {path} {run.arguments}: {what}, max error {run.max_error:.2g}"
                  f" {run.difference}")  # fmt: skip
    for finding in result.findings:
        tally.findings += 1
        print(f"  {path}: {finding.exploit}: {finding.message}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--backend", default="rdna3")
    parser.add_argument(
        "--arch", default=None, help="processor of AMD code: gfx1100, gfx942, gfx90a"
    )
    parser.add_argument("--only", default="", help="programs whose path contains this")
    given = parser.parse_args()
    backend = make_backend(given.backend, given.arch)
    references = stored_references()
    tally, started = AgreementTally(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cass-agreement-") as name:
        programs = shipped_sources(Path(name))
    for path, (identity, sources) in programs.items():
        if given.only not in path or path.startswith("repositories/rejects"):
            continue
        reference = references.get(identity)
        if reference is None:
            tally.missing += 1
            print(f"  {path}: no reference")
            continue
        try:
            report(path, check(path, sources, reference, backend), tally)
        except CompileFailure as failure:
            print(f"  {path}: {failure}")
    seconds = time.monotonic() - started
    print(f"{tally.runs} runs: {tally.exact} exact, {tally.numeric} numeric;"
          f" {tally.missing} programs without a reference, {tally.findings} findings;"
          f" {seconds:.0f} s")  # fmt: skip


if __name__ == "__main__":
    main()
